package daemon

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// linked reads a crontab, and tells its jobs which others run after them.
func linked(t *testing.T, tab string) job.File {
	t.Helper()
	file := parse(t, tab)
	for _, j := range file.Jobs {
		for _, name := range j.After {
			for i := range file.Jobs {
				if file.Jobs[i].Name == name {
					file.Jobs[i].Next = append(file.Jobs[i].Next, job.Next{Job: j.Name, On: j.AfterOn})
				}
			}
		}
	}
	return file
}

// scripted are commands of the form "CODE DURATION", which note when they begin, by the names of their jobs.
type scripted struct {
	mu    sync.Mutex
	began time.Time
	runs  []string // as "b 1h0m5s after a"
}

func (s *scripted) run(ctx context.Context, c process.Command, o process.Observer) process.Result {
	var code int
	var takes time.Duration
	text, duration, _ := strings.Cut(c.Args[2], " ")
	fmt.Sscan(text, &code)
	takes, err := time.ParseDuration(duration)
	if err != nil {
		panic(err)
	}
	name, _ := process.Variable(c.Env, "EXECUTORD_JOB")
	line := name + " " + time.Since(s.began).Round(time.Second).String()
	if after, ok := process.Variable(c.Env, "EXECUTORD_AFTER"); ok {
		line += " after " + after
	}
	s.mu.Lock()
	s.runs = append(s.runs, line)
	s.mu.Unlock()
	began := time.Now()
	o.Started(1, began)
	timer := time.NewTimer(takes)
	defer timer.Stop()
	select {
	case <-timer.C:
		return process.Result{Began: began, Code: code}
	case <-ctx.Done():
		return process.Result{Began: began, Stopped: true, Cause: context.Cause(ctx), Code: -1, Signal: "SIGTERM"}
	}
}

// A job runs after another, if that has ended as it needs, and at no other time.
func TestAfterRunsByEnd(t *testing.T) {
	for _, test := range []struct {
		on   string
		code int
		runs bool
	}{{"", 0, true}, {"", 1, false}, {"success", 1, false}, {"failure", 1, true}, {"failure", 0, false}, {"either", 0, true}, {"either", 1, true}} {
		for _, store := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				on := ""
				if test.on != "" {
					on = "# after_on: " + test.on + "\n"
				}
				c := Config{File: linked(t, fmt.Sprintf("# name: b\n# after: a\n%s@after 0 1s\n# name: a\n@every 6m %d 10s\n", on, test.code))}
				if store {
					c.Store = shared(t)
				}
				s := &scripted{began: time.Now()}
				h := beginWith(t, c, s.run)
				time.Sleep(12*time.Minute + 30*time.Second)
				sum := h.end()
				want := []string{"a 6m0s", "b 6m10s after a", "a 12m0s", "b 12m10s after a"}
				if !test.runs {
					want = []string{"a 6m0s", "a 12m0s"}
				}
				if !reflect.DeepEqual(s.runs, want) || sum.Runs != len(want) || sum.Missed != 0 {
					t.Errorf("on %q, exit code %d: %q, %+v", test.on, test.code, s.runs, sum)
				}
			})
		}
	}
}

// A job that is after several runs once when all of them have, however often each.
func TestAfterAllOfSeveral(t *testing.T) {
	const tab = "# name: c\n# after: a, b\n@after 0 1s\n# name: a\n@every 6m 0 10s\n# name: b\n@every 15m 0 10s\n"
	want := []string{"a 6m0s", "a 12m0s", "b 15m0s", "c 15m10s after a b", "a 18m0s", "a 24m0s"}
	for daemons := range 3 {
		synctest.Test(t, func(t *testing.T) {
			c := Config{File: linked(t, tab)}
			if daemons > 0 {
				c.Store = shared(t)
			}
			s := &scripted{began: time.Now()}
			var all []*harness
			for range max(daemons, 1) {
				all = append(all, beginWith(t, c, s.run))
			}
			time.Sleep(27 * time.Minute)
			for _, h := range all {
				h.end()
			}
			if !reflect.DeepEqual(s.runs, want) {
				t.Errorf("%d daemons: %q", daemons, s.runs)
			}
		})
	}
}

// What has ended before a daemon did counts for the next one.
func TestAfterHoldsOverRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Config{File: linked(t, "# name: c\n# after: a, b\n@after 0 1s\n# name: a\n@every 1h 0 10s\n# name: b\n@every 90m 0 10s\n"), Store: shared(t)}
		s := &scripted{began: time.Now()}
		h := beginWith(t, c, s.run)
		time.Sleep(time.Hour + 10*time.Minute)
		h.end()
		h = beginWith(t, c, s.run)
		time.Sleep(30 * time.Minute)
		h.end()
		if want := []string{"a 1h0m0s", "b 1h30m0s", "c 1h30m10s after a b"}; !reflect.DeepEqual(s.runs, want) {
			t.Errorf("%q", s.runs)
		}
	})
}

// A job whose predecessor ends during its run runs once more.
func TestAfterDuringRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{began: time.Now()}
		h := beginWith(t, Config{File: linked(t, "# name: b\n# after: a\n@after 0 150m\n# name: a\n@every 1h 0 1m\n")}, s.run)
		time.Sleep(6 * time.Hour)
		h.end()
		want := []string{"a 1h0m0s", "b 1h1m0s after a", "a 2h0m0s", "a 3h0m0s", "b 3h31m0s after a", "a 4h0m0s", "a 5h0m0s"}
		for i, run := range s.runs { // a node may come to what is due at its next poll, a second later
			s.runs[i] = seconds.ReplaceAllString(run, "m0s")
		}
		if !reflect.DeepEqual(s.runs[:len(want)], want) {
			t.Errorf("%q", s.runs)
		}
	})
}

// seconds are those of a time after the start that is just after a full minute, tens those of one ten seconds later.
var seconds, tens = regexp.MustCompile(`m[0-9]s`), regexp.MustCompile(`m1[0-9]s`)

// A job with a schedule of its own, too, whose predecessor ends during its run runs once more. The times of its schedule
// that pass meanwhile are skipped.
func TestAfterDuringRunWithSchedule(t *testing.T) {
	for _, stored := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := Config{File: linked(t, "# name: b\n# after: a\n@every 40m 0 50m\n# name: a\n@every 1h 0 1m\n")}
			if stored {
				c.Store = shared(t)
			}
			s := &scripted{began: time.Now()}
			h := beginWith(t, c, s.run)
			time.Sleep(2*time.Hour + 25*time.Minute)
			sum := h.end()
			want := []string{"b 40m0s", "a 1h0m0s", "b 1h30m0s after a", "a 2h0m0s", "b 2h20m0s after a"}
			for i, run := range s.runs { // a node may come to what is due at its next poll, a second later each time
				s.runs[i] = seconds.ReplaceAllString(run, "m0s")
			}
			if !reflect.DeepEqual(s.runs, want) || sum.Skipped != 2 {
				t.Errorf("%q, %+v\n%s", s.runs, sum, h.log.String())
			}
		})
	}
}

// When a pause ends, by hand or at its time, during which the predecessor has ended, there is one run after that: of a job
// with a schedule, too, whose times have passed meanwhile.
func TestAfterPause(t *testing.T) {
	for schedule, atEnd := range map[string]int{"@every 80m 0 1m": 90, "@after 0 1m": 91} { // the next look comes within a minute
		for _, byHand := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{began: time.Now()}
				h := beginWith(t, Config{File: linked(t, "# name: b\n# after: a\n"+schedule+"\n# name: a\n@every 1h 0 1m\n")}, s.run)
				e, _, err := h.Find(t.Context(), "b")
				if err != nil {
					t.Fatal(err)
				}
				want, until := atEnd, time.Now().Add(90*time.Minute)
				if byHand {
					want, until = 90, time.Time{}
				}
				if _, err := catalog.Pause(t.Context(), h.Durable(), h.Store, e, until); err != nil {
					t.Error(err)
				}
				time.Sleep(90 * time.Minute)
				if byHand {
					if _, err := catalog.Resume(t.Context(), h.Durable(), h.Store, e); err != nil {
						t.Error(err)
					}
				}
				time.Sleep(20 * time.Minute)
				h.end()
				began := regexp.MustCompile(`^b (1h3[01]m)\S* after a$`).FindStringSubmatch(s.runs[len(s.runs)-1])
				if len(s.runs) != 2 || s.runs[0] != "a 1h0m0s" || began == nil || began[1] != fmt.Sprintf("1h%dm", want-60) && began[1] != "1h30m" {
					t.Errorf("%s, by hand %v: %q, want one of b at %d minutes, at the latest", schedule, byHand, s.runs, want)
				}
			})
		}
	}
}

// What somebody asks for is run, whether others have ended or not, and counts for that run alone.
func TestAfterRunNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Config{File: linked(t, "# name: c\n# after: a, b\n@after 0 30m\n# name: a\n@every 1h 0 10s\n# name: b\n@every 10h 0 10s\n"), Store: shared(t)}
		s := &scripted{began: time.Now()}
		h := beginWith(t, c, s.run)
		time.Sleep(10 * time.Minute)
		runNow := func() {
			e, _, err := h.Find(t.Context(), "c")
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := catalog.RunNow(t.Context(), h.Durable(), e, nil); err != nil {
				t.Error(err)
			}
		}
		runNow()
		time.Sleep(time.Minute)
		runNow() // it is running
		time.Sleep(3 * time.Hour)
		e, _, err := h.Find(t.Context(), "c")
		if err != nil || !e.Next(time.Now()).IsZero() {
			t.Errorf("next %v, error %v", e.Next(time.Now()), err)
		}
		sum := h.end()
		if want := []string{"c 10m0s after ", "a 1h0m0s", "a 2h0m0s", "a 3h0m0s"}; !reflect.DeepEqual(s.runs, want) || sum.Runs != len(want) {
			t.Errorf("%q, %+v", s.runs, sum)
		}
	})
}

// A job that is due, since others have ended during its run or somebody has asked for it, runs though its schedule
// changes before that run begins.
func TestAfterOutlastsAnotherSchedule(t *testing.T) {
	const tab = "# name: b\n# after: a\n%s 0 90m\n# name: a\n@every 1h 0 10s\n"
	for _, test := range []struct {
		asked bool
		want  []string
	}{
		{false, []string{"a 1h0m0s", "b 1h0m10s after a", "a 2h0m0s", "b 2h30m10s after a"}},
		{true, []string{"b 40m0s after "}},
	} {
		synctest.Test(t, func(t *testing.T) {
			again := make(chan job.File)
			c := Config{File: linked(t, fmt.Sprintf(tab, "@after")), Store: shared(t), Again: again}
			other := linked(t, fmt.Sprintf(tab, "@every 90h"))
			s := &scripted{began: time.Now()}
			h := beginWith(t, c, s.run)
			if test.asked {
				time.Sleep(30 * time.Minute)
				h.end()
				ask(t, c.Store, "b")
				time.Sleep(10 * time.Minute)
				c.File = other
				h = beginWith(t, c, s.run)
			} else {
				time.Sleep(2*time.Hour + 10*time.Minute)
				again <- other
			}
			if time.Sleep(time.Minute); !test.asked {
				time.Sleep(30 * time.Minute)
			}
			h.end()
			for i, run := range s.runs { // a node may come to what is due at its next poll, a second later each time
				s.runs[i] = tens.ReplaceAllString(run, "m10s")
			}
			if !reflect.DeepEqual(s.runs, test.want) {
				t.Errorf("asked %v: %q, want %q", test.asked, s.runs, test.want)
			}
		})
	}
}
