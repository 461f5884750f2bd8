package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// storeSoakJobs returns a crontab of two hundred jobs with names. Some fail, some take longer than it is to the next
// time, and some change with the version of the file. Each notes its due time in the file $OUT/NAME.
func storeSoakJobs(out string, version int) (tab string, periods map[string]time.Duration) {
	var b strings.Builder
	periods = make(map[string]time.Duration)
	fmt.Fprintf(&b, "OUT=%s\n", out)
	commands := []string{"true", "exit 3", "sleep 3", "echo reason >&2; exit 1", "seq 1 20"}
	for i := range 200 {
		name, period := fmt.Sprintf("job%d", i), []time.Duration{2, 5, 10, 15}[i%4]*time.Second
		command := commands[i%len(commands)]
		if i%7 == 0 {
			command = fmt.Sprintf("echo version %d", version)
		}
		fmt.Fprintf(&b, "# name: %s\n@every %v echo $EXECUTORD_DUE >>$OUT/%s; %s\n", name, period, name, command)
		periods[name] = period
	}
	return b.String(), periods
}

// Of two hundred jobs in a store that two daemons share, each time at which one is due is a run, or skipped or missed,
// and the logs of the daemons have it: though these are killed, stopped for longer than a lease, and made to read their
// file again, and the store is locked and its disk full. What a run has noted is in the log, too.
//
// EXECUTORD_SOAK=30m is how long it takes; without it the test is skipped. The disk is full where the test may mount
// one.
func TestRunSoakWithStore(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("EXECUTORD_SOAK"))
	if err != nil {
		t.Skip("EXECUTORD_SOAK is not set to a duration")
	}
	out, disk := t.TempDir(), t.TempDir()
	fill := func() (free func()) { return func() {} }
	if err := smallDisk(disk); err == nil {
		t.Cleanup(func() { syscall.Unmount(disk, 0) })
		fill = func() (free func()) {
			name := filepath.Join(disk, "full")
			f, err := os.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for block := make([]byte, 1<<20); err == nil; {
				_, err = f.Write(block)
			}
			return func() { os.Remove(name) }
		}
	} else {
		t.Logf("no disk is full: %v", err)
	}
	store := filepath.Join(disk, "jobs.db")
	tab, periods := storeSoakJobs(out, 0)
	file := write(t, "tab", tab)
	var taken sync.WaitGroup
	var mu sync.Mutex
	newest := make(map[string]time.Time) // by job: the latest time of which a run was begun
	daemon := func() *process {
		p := startFile(t, file, "--store", store, "--namespace", "soak")
		p.until("job scheduled", "job", "job199")
		taken.Go(func() { // so that no line waits
			for l := range p.lines {
				p.log = append(p.log, l)
				if name, _ := l["job"].(string); l.is("run started") {
					mu.Lock()
					if due := instant(t, l, "due"); due.After(newest[name]) {
						newest[name] = due
					}
					mu.Unlock()
				}
			}
		})
		return p
	}
	all := []*process{daemon(), daemon()}
	victim, other := all[0], all[1]
	var kills []time.Time
	faults := []struct {
		name string
		do   func(round int)
	}{
		{"kill", func(int) {
			kills = append(kills, time.Now())
			victim.cmd.Process.Kill()
			<-victim.exited
			victim.killLeft()
			victim = daemon()
			all = append(all, victim)
		}},
		{"stop", func(int) {
			other.signal(syscall.SIGSTOP)
			time.Sleep(7 * time.Second)
			other.signal(syscall.SIGCONT)
		}},
		{"reload", func(round int) {
			tab, _ := storeSoakJobs(out, round)
			if err := os.WriteFile(file, []byte(tab), 0o644); err != nil {
				t.Fatal(err)
			}
			victim.signal(syscall.SIGHUP)
			other.signal(syscall.SIGHUP)
		}},
		{"lock", func(int) {
			db, err := sql.Open("sqlite", store)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.ExecContext(t.Context(), "pragma busy_timeout = 60000; begin immediate"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(6 * time.Second)
			if _, err := conn.ExecContext(t.Context(), "rollback"); err != nil {
				t.Fatal(err)
			}
		}},
		{"full", func(int) {
			free := fill()
			time.Sleep(5 * time.Second)
			free()
		}},
	}
	done := make(map[string]int)
	began := time.Now()
	for round := 1; time.Since(began) < length; round++ {
		f := faults[round%len(faults)]
		f.do(round)
		done[f.name]++
		time.Sleep(6 * time.Second)
	}
	// A busy machine may be behind. With the first run of a time after the last fault a job's log has all before it.
	until := time.Now()
	for began := until; ; time.Sleep(time.Second) {
		behind := 0
		mu.Lock()
		for name := range periods {
			if !newest[name].After(until) {
				behind++
			}
		}
		mu.Unlock()
		if behind == 0 {
			break
		}
		if time.Since(began) > 10*time.Minute {
			t.Errorf("%d jobs have not run for ten minutes", behind)
			break
		}
	}
	for _, p := range []*process{victim, other} {
		p.signal(syscall.SIGTERM)
		<-p.exited
		if left := leftMarked(p.marker); len(left) > 0 {
			t.Errorf("processes are left: %q", left)
		}
	}
	taken.Wait()
	a := newStoreAccount(all, kills)
	for name, period := range periods {
		a.check(t, name, period, until, filepath.Join(out, name))
	}
	t.Logf("%v, %d jobs, faults %v: %d times due = %d ran + %d skipped + %d missed, and %d that no log has;"+
		" %d begun again, latest begin %v late; %d may be in lines that a killed daemon had not written",
		time.Since(began).Round(time.Second), len(periods), done, a.due, a.ran, a.skipped, a.missed, a.unlogged,
		a.again, a.late.Round(time.Millisecond), a.unwritten)
}

// smallDisk mounts a disk of some megabytes.
func smallDisk(dir string) error { return syscall.Mount("soak", dir, "tmpfs", 0, "size=256m") }

// storeAccount is what the logs of several daemons say of a store's jobs.
type storeAccount struct {
	lines                                                 map[string][]line
	kills                                                 []time.Time
	due, ran, skipped, missed, unlogged, unwritten, again int
	late                                                  time.Duration
}

func newStoreAccount(daemons []*process, kills []time.Time) *storeAccount {
	a := &storeAccount{lines: make(map[string][]line), kills: kills}
	for _, p := range daemons {
		for _, l := range p.log {
			if name, ok := l["job"].(string); ok && l["stream"] == nil {
				a.lines[name] = append(a.lines[name], l)
			}
		}
	}
	return a
}

// check counts the times of one job up to some moment, each as what the logs say first of these: that it ran, that it
// was skipped, that it was missed.
func (a *storeAccount) check(t *testing.T, name string, period time.Duration, until time.Time, path string) {
	ran, left := make(map[int64]int), make(map[int64]string)
	var first time.Time
	for _, l := range a.lines[name] {
		switch l["msg"] {
		case "job scheduled":
			if at := instant(t, l, "next"); first.IsZero() || at.Before(first) {
				first = at
			}
		case "run started":
			ran[instant(t, l, "due").UnixMilli()]++
			a.late = max(a.late, time.Duration(l["late"].(float64)*float64(time.Second)))
		case "runs skipped", "runs missed":
			at := instant(t, l, "first")
			for range int(l["count"].(float64)) {
				if left[at.UnixMilli()] != "runs skipped" {
					left[at.UnixMilli()] = l["msg"].(string)
				}
				at = at.Add(period)
			}
		}
	}
	for at := first; !at.After(until); at = at.Add(period) {
		a.due++
		switch n, how := ran[at.UnixMilli()], left[at.UnixMilli()]; {
		case n > 0:
			a.ran++
			a.again += n - 1
		case how == "runs skipped":
			a.skipped++
		case how == "runs missed":
			a.missed++
		case a.beforeKill(at):
			a.unwritten++
		default:
			a.unlogged++
			t.Errorf("%s: no log has what became of %v", name, at)
		}
	}
	noted, _ := os.ReadFile(path)
	for text := range strings.Lines(string(noted)) {
		at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(text))
		if err != nil || ran[at.UnixMilli()] == 0 && !a.beforeKill(at) {
			t.Errorf("%s: it has run for %q, and no log has it", name, text)
		}
	}
}

// beforeKill reports whether a daemon was killed soon after a time. No daemon waits for its log, so what was done just
// before may be in none.
func (a *storeAccount) beforeKill(at time.Time) bool {
	return slices.ContainsFunc(a.kills, func(kill time.Time) bool {
		since := kill.Sub(at)
		return 0 <= since && since < 5*time.Second
	})
}
