package daemon

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// told has the subjects of what a command was told. It fails, or waits, as told.
type told struct {
	mu       sync.Mutex
	subjects []string
	inputs   []string
	hang     bool
}

// command is a command of jobs whose script says how it ends, and of channels.
func (n *told) command(ctx context.Context, c process.Command, o process.Observer) process.Result {
	if c.Args[0] != "tell" {
		result := sleep(ctx, process.Command{Args: []string{"", "", strings.TrimSuffix(c.Args[2], " fail")}}, o)
		if strings.HasSuffix(c.Args[2], "fail") && !result.Stopped {
			o.Output(process.Stdout, []byte("disk full"), false)
			result.Code = 1
		}
		return result
	}
	if n.hang {
		<-ctx.Done()
		return process.Result{Stopped: true, Cause: ctx.Err()}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, entry := range c.Env {
		if subject, ok := strings.CutPrefix(entry, "EXECUTORD_SUBJECT="); ok {
			_, subject, _ = strings.Cut(subject, "] ")
			n.subjects = append(n.subjects, subject)
		}
	}
	n.inputs = append(n.inputs, c.Stdin)
	return process.Result{}
}

func (n *told) all() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.subjects, "|")
}

// channel returns the spec of a channel that runs the command.
func channel(name string, more ...string) notify.Spec {
	s := notify.Spec{Name: name, Values: map[string][]string{"command": {"tell"}, "limit": {"0"}}}
	for _, setting := range more {
		key, value, _ := strings.Cut(setting, "=")
		s.Values[key] = append(s.Values[key], value)
	}
	return s
}

// A failure is told once a run, with the end of the output, and so is the first good run after it.
func TestDaemonTellsFailureAndRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(told)
		again := make(chan job.File)
		file := parse(t, "# name: a\n@every 1h sleep 1s fail\n# name: good\n@every 1h sleep 1s\n")
		file.Channels = []notify.Spec{channel("ops")}
		h := beginWith(t, Config{File: file, Again: again}, n.command)
		time.Sleep(2*time.Hour + time.Minute)
		file = parse(t, "# name: a\n@every 1h sleep 1s\n# name: good\n@every 1h sleep 1s\n")
		file.Channels = []notify.Spec{channel("ops")}
		again <- file
		time.Sleep(3 * time.Hour)
		h.end()
		if got, want := n.all(), "a has failed: exit status 1|a has failed: exit status 1|a has recovered"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		if !strings.Contains(n.inputs[0], "disk full") {
			t.Errorf("text %s", n.inputs[0])
		}
	})
}

// Jobs choose their channels, or none.
func TestDaemonTellsChosenChannels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(told)
		file := parse(t, "# name: a\n@every 1h sleep 1s fail\n# name: b\n# notify: own\n@every 1h sleep 2s fail\n# name: c\n# notify: none\n@every 1h sleep 3s fail\n")
		file.Channels = []notify.Spec{channel("own", "all=false"), channel("ops", "on=failed")}
		h := beginWith(t, Config{File: file}, n.command)
		time.Sleep(time.Hour + time.Minute)
		h.end()
		if got, want := n.all(), "a has failed: exit status 1|b has failed: exit status 1"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		channels, sent := h.Notifications()
		if len(sent) != 2 || channels[0].Sent != 1 || channels[1].Sent != 1 {
			t.Errorf("%+v, sent %+v", channels, sent)
		}
	})
}

// Due times that pass during a run are told once a run, when there are so many.
func TestDaemonTellsSkips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(told)
		file := parse(t, "# name: a\n@every 10m sleep 75m\n")
		file.Channels = []notify.Spec{channel("ops", "on=skipped", "skips=3")}
		h := beginWith(t, Config{File: file}, n.command)
		time.Sleep(79 * time.Minute)
		if got, want := n.all(), "a was skipped 3 times: the previous run is still in progress"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		h.end()
	})
}

// Due times without a daemon are told; a run whose jitter goes by is not late.
func TestDaemonTellsLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(told)
		s := Memory()
		file := parse(t, "# name: a\n# jitter: 30m\n0 * * * * sleep 1s\n")
		file.Channels = []notify.Spec{channel("ops", "on=late", "on=missed", "late=5m")}
		h := beginWith(t, Config{File: file, Store: s}, n.command)
		time.Sleep(100 * time.Minute)
		if got := n.all(); got != "" {
			t.Errorf("told %q", got)
		}
		s.Store.(interface{ Shift(time.Duration) }).Shift(10 * time.Hour) // as the clock of a machine that has slept
		time.Sleep(31 * time.Minute)
		if got, want := n.all(), "a has missed 9 due times: "; !strings.HasPrefix(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		h.end()
	})
}

// A channel that hangs delays no run, and the end of the daemon by no more than ten seconds.
func TestDaemonWaitsForNoChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &told{hang: true}
		file := parse(t, "# name: a\n@every 1m sleep 1s fail\n")
		file.Channels = []notify.Spec{channel("ops")}
		h := beginWith(t, Config{File: file}, n.command)
		time.Sleep(time.Hour + 30*time.Second)
		began := time.Now()
		sum := h.end()
		if took := time.Since(began); sum.Runs != 60 || sum.Skipped+sum.Missed != 0 || took != tellPatience {
			t.Errorf("%+v after %v", sum, took)
		}
	})
}

// A store that does not answer is told once, and so is that it does again.
func TestDaemonTellsStoreUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(told)
		file := parse(t, "# name: a\n@every 100h sleep 1s\n")
		file.Channels = []notify.Spec{channel("ops")}
		h := beginWith(t, Config{File: file}, n.command)
		for _, err := range []error{nil, fmt.Errorf("down"), fmt.Errorf("down"), nil, nil} {
			h.tellStore(err)
			synctest.Wait()
		}
		if got, want := n.all(), "the store does not answer: until it answers, no run begins, and runs in progress may be lost|the store answers again"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		h.end()
	})
}
