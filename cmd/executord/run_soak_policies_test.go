//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
)

// ledger is what the jobs themselves, and those who are told of them, have written down, outside of executord: for each
// job its due times and daemons, in the order in which runs began, and the runs of which a channel was told.
type ledger struct {
	mu    sync.Mutex
	begun map[string][]string        // a time, a space, and what ends with # and the number of a daemon
	told  map[string]map[float64]int // by job, the kind before it: of each run how often
}

func newLedger(t *testing.T) (l *ledger, url string) {
	l = &ledger{begun: make(map[string][]string), told: make(map[string]map[float64]int)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/told":
			body, _ := io.ReadAll(r.Body)
			l.note(t, body)
			return
		case "/slow":
			defer func() { // until the client goes away
				io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
			}()
		case "/bad":
			w.WriteHeader(http.StatusInternalServerError)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		name := r.Header.Get("X-Job")
		l.begun[name] = append(l.begun[name], r.Header.Get("X-Due")+" "+r.Header.Get("X-Daemon"))
	}))
	t.Cleanup(s.Close)
	return l, s.URL
}

// note notes a message of a channel: as it was sent, or as it waits in the store.
func (l *ledger) note(t *testing.T, text []byte) {
	type event struct {
		Kind, Job string
		Run       float64
	}
	var m struct{ Events, Message []event }
	if err := json.Unmarshal(text, &m); err != nil {
		t.Errorf("told %s: %v", text, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range slices.Concat(m.Events, m.Message) {
		of := e.Kind + " " + e.Job
		if l.told[of] == nil {
			l.told[of] = make(map[float64]int)
		}
		l.told[of][e.Run]++
	}
}

// policyJob is a job of the soak.
type policyJob struct {
	name   string
	period time.Duration // 0 if it is not due by the clock alone
	keys   string        // in TOML, without its name, its schedule and its command
	run    string        // of the shell; the keys have the request if it is empty
	silent bool          // its runs write down nothing
}

// policyJobs are jobs of each kind, with each policy, and with those together that concern each other.
func policyJobs(url, out string) []policyJob {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	request := func(path string) string {
		return fmt.Sprintf("url = '%s%s'\nheaders = { X-Job = '$EXECUTORD_JOB', X-Due = '$EXECUTORD_DUE', X-Daemon = '$EXECUTORD_TEST_NAME' }\n", url, path)
	}
	jobs := []policyJob{
		{name: "plain", period: ms(250), run: "true"},
		{name: "skip", period: ms(400), run: "sleep 1"},
		{name: "queue", period: ms(500), keys: "overlap = 'queue'\n", run: "sleep 0.7"},
		{name: "queue-all", period: ms(600), keys: "overlap = 'queue'\nmisfire = 'all'\n", run: "sleep 0.2"},
		{name: "queue-skip", period: ms(500), keys: "overlap = 'queue'\nmisfire = 'skip'\n", run: "sleep 0.7"},
		{name: "allow", period: ms(400), keys: "overlap = 'allow 3'\n", run: "sleep 1"},
		{name: "allow-few", period: ms(400), keys: "overlap = 'allow 2'\n", run: "sleep 2"},
		{name: "replace", period: ms(900), keys: "overlap = 'replace'\n", run: "sleep 1.7"},
		{name: "replace-stubborn", period: ms(1000), keys: "overlap = 'replace'\n", run: "trap '' TERM; sleep 1.7"},
		{name: "misfire-skip", period: ms(450), keys: "misfire = 'skip'\n", run: "true"},
		{name: "misfire-within", period: ms(700), keys: "misfire = '1s'\n", run: "true"},
		{name: "misfire-within-long", period: ms(700), keys: "misfire = '2h'\n", run: "true"},
		{name: "retry", period: ms(1500), keys: "retries = 2\nretry_wait = '100ms'\nretry_factor = 1\n", run: "exit 1"},
		{name: "retry-well", period: ms(1200), keys: "retries = 3\nretry_wait = '100ms'\n", run: "test $EXECUTORD_ATTEMPT -ge 2"},
		{name: "retry-long", period: ms(800), keys: "retries = 3\nretry_wait = '1s'\n", run: "exit 4"},
		{name: "retry-queue", period: ms(800), keys: "retries = 1\nretry_wait = '300ms'\noverlap = 'queue'\n", run: "exit 5"},
		{name: "timeout", period: ms(700), keys: "timeout = '300ms'\n", run: "sleep 1000"},
		{name: "timeout-retry", period: ms(1400), keys: "timeout = '200ms'\nretries = 1\nretry_wait = '100ms'\n", run: "sleep 1000"},
		{name: "codes", period: ms(600), keys: "success_codes = [3]\n", run: "exit 3"},
		{name: "group-1", period: ms(600), keys: "group = 'two'\n", run: "sleep 0.4"},
		{name: "group-2", period: ms(600), keys: "group = 'two'\n", run: "sleep 0.4"},
		{name: "group-3", period: ms(600), keys: "group = 'two'\noverlap = 'queue'\n", run: "sleep 0.4"},
		{name: "alone-1", period: ms(900), keys: "group = 'one'\n", run: "sleep 0.3"},
		{name: "alone-2", period: ms(900), keys: "group = 'one'\nretries = 1\nretry_wait = '100ms'\n", run: "exit 1"},
		{name: "source-1", period: ms(800), run: "true"},
		{name: "source-2", period: ms(1100), run: "test $(($(date +%s) % 2)) = 0"},
		{name: "after-both", keys: "schedule = '@after'\nafter = ['source-1', 'source-2']\nafter_on = 'either'\n", run: "true"},
		{name: "after-failure", keys: "schedule = '@after'\nafter = 'source-2'\nafter_on = 'failure'\n", run: "sleep 0.3"},
		{name: "excluded", period: ms(400), keys: "except = '00:00-24:00'\n", run: "true"},
		{name: "holiday", period: ms(400), keys: "except = '" + out + "/holidays'\n", run: "true"},
		{name: "ended", period: ms(400), keys: "until = '2020-01-01'\n", run: "true"},
		{name: "jitter", period: ms(900), keys: "jitter = '300ms'\n", run: "true"},
		{name: "unstartable", period: ms(600), keys: "dir = '/no/such/directory'\n", run: "true", silent: true},
		{name: "unstartable-retry", period: ms(1200), keys: "env_file = '/no/such/file'\nretries = 1\nretry_wait = '100ms'\n", run: "true", silent: true},
		{name: "each-second", period: time.Second, keys: "schedule = '* * * * * *'\ncron = 'seconds'\npriority = 'high'\n", run: "true"},
		{name: "request", period: ms(700), keys: request("/good")},
		{name: "request-bad", period: ms(900), keys: request("/bad") + "retries = 1\nretry_wait = '100ms'\n"},
		{name: "request-slow", period: ms(800), keys: request("/slow") + "timeout = '400ms'\noverlap = 'queue'\n"},
	}
	return jobs
}

func policyFile(jobs []policyJob, url, out string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[env]\nOUT = '%s'\n[group.two]\nlimit = 2\n[notify.ledger]\nwebhook = '%s/told'\nlimit = 0\non = ['failed', 'not started', 'lost']\n", out, url)
	for _, j := range jobs {
		fmt.Fprintf(&b, "[[job]]\nname = '%s'\n%s", j.name, j.keys)
		if !strings.Contains(j.keys, "schedule") {
			fmt.Fprintf(&b, "schedule = '@every %v'\n", j.period)
		}
		if j.run != "" {
			fmt.Fprintf(&b, "command = '''echo $EXECUTORD_DUE $EXECUTORD_TEST_NAME >>$OUT/%s; %s'''\n", j.name, j.run)
		}
	}
	return b.String()
}

// Of jobs of each kind and with each policy, in a daemon that is ended, killed, made to read its file again and started
// over and over, each time at which one is due is either a run, or skipped, missed or excluded, and the log has which;
// what the runs have written down is in the log, too, none is there twice unless its daemon was ended meanwhile, and each
// failure of the log was told. A daemon that is killed may have written neither into its log what it did last, nor into
// the store what it has said there last, unless that is a run.
//
// EXECUTORD_SOAK=10m makes it take longer than the ten seconds it takes else, and has the daemon stopped for longer than
// a lease now and then.
func TestRunSoakOfPolicies(t *testing.T) {
	t.Parallel()
	length := 6 * time.Second
	if text := os.Getenv("EXECUTORD_SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	out := t.TempDir()
	l, url := newLedger(t)
	jobs := policyJobs(url, out)
	if err := os.WriteFile(filepath.Join(out, "holidays"), []byte("sat-sun\nmon-fri\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, "shop.db"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	file := write(t, "jobs.toml", policyFile(jobs, url, out))
	store := newStoreFile(t)

	a := newPolicyAccount(t, jobs)
	began := time.Now()
	part := length / 3
	if part > 20*time.Second {
		part = 20 * time.Second
	}
	for round := 0; ; round++ {
		p := startFile(t, file, "--store", store, "--drain-timeout", "400ms", "--kill-after", "200ms")
		p.until("job scheduled", "job", jobs[len(jobs)-1].name)
		last := time.Since(began) > length-part
		watch := func(d time.Duration) {
			for until := time.Now().Add(d); time.Now().Before(until); { // a line comes all the time
				p.log = append(p.log, <-p.lines)
			}
		}
		watch(part / 2)
		p.signal(syscall.SIGHUP)
		if part > 10*time.Second { // longer than a lease
			p.signal(syscall.SIGSTOP)
			time.Sleep(6 * time.Second)
			p.signal(syscall.SIGCONT)
		}
		watch(part / 2)
		killed := round%2 == 1 && !last
		if killed {
			p.cmd.Process.Kill()
			<-p.exited
			for l := range p.lines {
				p.log = append(p.log, l)
			}
			p.killLeft()
		} else {
			p.signal(syscall.SIGTERM)
			p.wait()
		}
		a.add(p.log, p.marker, killed)
		if killed { // the store keeps some runs of each job only
			a.addHistory(asked(t, store, "runs", "-n", "5000"))
		}
		if last {
			break
		}
		time.Sleep(min(part/4, 3*time.Second)) // times are missed
	}
	a.addHistory(asked(t, store, "runs", "-n", "1000000"))
	a.addWaiting(store, l)
	for _, j := range jobs {
		a.check(j, l, out)
	}
	t.Logf("%v, %d jobs, ended %d times and killed %d, %d leases lost: %d due = %d ran + %d skipped + %d missed + %d excluded + %d waiting + %d not logged before a kill; %d failures told",
		time.Since(began).Round(time.Second), len(jobs), len(a.ends), len(a.kills), len(a.lost), a.due, a.ran, a.skipped, a.missed, a.excluded, a.waits, a.unlogged, a.told)
}

// policyTimes is what the logs and the history say of the times of a job, each by its milliseconds.
type policyTimes struct {
	first, last                    time.Time     // that it was due by the clock, and that the log has anything of
	begun, fresh                   map[int64]int // starts of the command; first attempts
	skipped, missed, excluded, cut map[int64]bool
	waits                          map[int64]bool        // a run waits for it in the store, at the end
	missedAt                       map[int64]time.Time   // when the log last had that; zero if the store has it
	in                             map[startIn]int       // starts of the command in each daemon
	failed                         []float64             // the runs that have failed in daemons that were not killed
	seen                           map[int64][]time.Time // when the log has a begin or an end of a run for it
	dues                           map[float64]int64     // of the runs in progress, by their number
}

// startIn is what a run has noted: its due time, by its milliseconds, and its daemon.
type startIn struct {
	due    int64
	daemon string
}

// policyAccount is what the logs of several daemons say, one after the other.
type policyAccount struct {
	t       *testing.T
	jobs    map[string]*policyTimes
	periods map[string]time.Duration
	kills   []time.Time
	killed  map[string]bool // of the daemons
	lost    []time.Time     // when a daemon could not renew its lease, and what it runs is begun again
	ends    []time.Time     // when a daemon ended by itself, and what it was sending is sent again
	end     time.Time

	due, ran, skipped, missed, excluded, waits, unlogged, told int
}

func newPolicyAccount(t *testing.T, jobs []policyJob) *policyAccount {
	a := &policyAccount{
		t: t, jobs: make(map[string]*policyTimes), periods: make(map[string]time.Duration), killed: make(map[string]bool),
	}
	for _, j := range jobs {
		a.periods[j.name] = j.period
		a.jobs[j.name] = &policyTimes{
			begun: make(map[int64]int), fresh: make(map[int64]int), skipped: make(map[int64]bool), missed: make(map[int64]bool), excluded: make(map[int64]bool),
			waits: make(map[int64]bool), cut: make(map[int64]bool), dues: make(map[float64]int64), seen: make(map[int64][]time.Time),
			missedAt: make(map[int64]time.Time), in: make(map[startIn]int),
		}
	}
	return a
}

// add takes the log of a daemon that has ended, and has the environment of its runs say which one it is.
func (a *policyAccount) add(log []line, marker string, killed bool) {
	_, daemon, _ := strings.Cut(marker, "#")
	if a.end = time.Now(); killed {
		a.kills = append(a.kills, a.end)
		a.killed[daemon] = true
	} else {
		a.ends = append(a.ends, a.end)
	}
	for _, l := range log {
		if msg, _ := l["msg"].(string); strings.HasPrefix(msg, "durable: could not renew the lease") {
			a.lost = append(a.lost, instant(a.t, l, "time"))
		}
		name, _ := l["job"].(string)
		of := a.jobs[name]
		if of == nil || l["stream"] != nil {
			continue
		}
		noted := func(key string) int64 {
			at := instant(a.t, l, key)
			if at.After(of.last) {
				of.last = at
			}
			if of.first.IsZero() { // it never runs, so nothing said when it is due next
				of.first = at
			}
			return at.UnixMilli()
		}
		run, _ := l["run"].(float64)
		switch l["msg"] {
		case "job scheduled":
			if l["next"] != nil && of.first.IsZero() {
				of.first = instant(a.t, l, "next")
			}
		case "run started":
			of.dues[run] = noted("due")
			of.seen[of.dues[run]] = append(of.seen[of.dues[run]], instant(a.t, l, "time"))
			of.begun[of.dues[run]]++
			of.in[startIn{of.dues[run], daemon}]++
			if l["attempt"] == nil {
				of.fresh[of.dues[run]]++
			}
		case "run not started":
			due := noted("due")
			of.dues[run] = due
			of.seen[due] = append(of.seen[due], instant(a.t, l, "time"))
			of.begun[due]++
			of.cut[due] = true
			if reason, _ := l["reason"].(string); !killed && !strings.Contains(reason, "due again") {
				of.failed = append(of.failed, run)
			}
		case "run excluded":
			of.excluded[noted("due")] = true
			if count, several := l["count"].(float64); several { // none of these jobs has times between them that count
				at := instant(a.t, l, "first")
				for range int(count) {
					of.excluded[at.UnixMilli()] = true
					at = at.Add(a.periods[name])
				}
			}
		case "run will be retried":
			if l["reason"] != nil || l["outcome"] == "timeout" { // it could not be started, or had too little time
				of.cut[of.dues[run]] = true
			}
		case "run ended":
			of.seen[of.dues[run]] = append(of.seen[of.dues[run]], instant(a.t, l, "time"))
			if o := l["outcome"]; !killed && (o == "failed" || o == "timeout" || o == "stopped" || o == "lost") {
				of.failed = append(of.failed, run)
			}
			switch l["outcome"] {
			case "stopped", "replaced", "lost", "delayed", "timeout":
				of.cut[of.dues[run]] = true
			}
		case "following job not started yet": // if it is not at all, the run is begun again
			of.cut[of.dues[run]] = true
		case "runs skipped", "runs missed":
			into := of.skipped
			if l["msg"] == "runs missed" {
				into = of.missed
			}
			at := instant(a.t, l, "first")
			for range int(l["count"].(float64)) {
				into[at.UnixMilli()] = true
				if l["msg"] == "runs missed" {
					of.missedAt[at.UnixMilli()] = instant(a.t, l, "time")
				}
				if at.After(of.last) {
					of.last = at
				}
				at = at.Add(a.periods[name])
			}
		}
	}
}

// addHistory takes the history of the store, which has what a daemon that was killed could not write into its log.
func (a *policyAccount) addHistory(runs []map[string]any) {
	for _, r := range runs {
		of := a.jobs[r["job"].(string)]
		due := instant(a.t, r, "due").UnixMilli()
		switch o := r["outcome"]; {
		case o == "running":
		case o == "missed":
			of.missed[due], of.missedAt[due] = true, time.Time{}
		case o == "excluded":
			of.excluded[due] = true
		case o == "delayed", o == "lost", o == "stopped": // it is begun again
		case of.begun[due] == 0 && !a.beforeKill(of, due):
			a.t.Errorf("%s: no log has a run of %v: %v", r["job"], r["due"], r)
		case of.begun[due] == 0:
			of.begun[due]++
		}
	}
}

// addWaiting takes the runs that wait in the store at the end, and the messages: those that were told of as the last
// daemon ended are sent by the next.
func (a *policyAccount) addWaiting(name string, l *ledger) {
	store, err := sqlite.Open(name)
	if err != nil {
		a.t.Fatal(err)
	}
	defer store.Close()
	all, err := catalog.Select(context.Background(), store, "")
	if err != nil {
		a.t.Fatal(err)
	}
	for _, e := range all {
		for _, run := range e.Open {
			a.jobs[e.Name].waits[catalog.RunOf(run).Due.UnixMilli()] = true
		}
	}
	messages, err := store.List(context.Background(), durable.Filter{States: []durable.State{durable.Waiting}, Limit: 1000})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, m := range messages {
		if strings.HasPrefix(m.Kind, "executord-notice:") {
			l.note(a.t, m.Payload)
		}
	}
}

// beforeKill reports whether a daemon was killed, or lost its lease, soon after a due time, or after a run for it was
// last begun or ended, and may not have written what it knew, nor noted that in the store.
func (a *policyAccount) beforeKill(of *policyTimes, due int64) bool {
	return slices.ContainsFunc(append(of.seen[due], time.UnixMilli(due)), a.cutAfter)
}

// endedAfter reports whether a daemon ended soon after a run for a due time was last begun or ended.
func (a *policyAccount) endedAfter(of *policyTimes, due int64) bool {
	return slices.ContainsFunc(of.seen[due], func(at time.Time) bool { return soonAfter(at, a.ends) })
}

// cutAfter reports whether a daemon was killed, or lost its lease, soon after a time.
func (a *policyAccount) cutAfter(at time.Time) bool {
	return soonAfter(at, slices.Concat(a.kills, a.lost))
}

// soonAfter reports whether one of the cuts was soon after a time.
func soonAfter(at time.Time, cuts []time.Time) bool {
	return slices.ContainsFunc(cuts, func(cut time.Time) bool {
		since := cut.Sub(at)
		return -time.Second < since && since < 10*time.Second
	})
}

// killedWithin reports whether a daemon was killed so soon after a time.
func (a *policyAccount) killedWithin(at time.Time, d time.Duration) bool {
	return slices.ContainsFunc(a.kills, func(cut time.Time) bool { return cut.After(at) && cut.Sub(at) < d })
}

// check counts the times of one job, and compares the log with the ledger.
func (a *policyAccount) check(j policyJob, l *ledger, out string) {
	t, of := a.t, a.jobs[j.name]
	for at := of.first; j.period != 0 && !at.IsZero() && !at.After(of.last); at = at.Add(j.period) {
		due := at.UnixMilli()
		a.due++
		// A daemon says that a time is skipped before the store has that, so that the schedule may fire for it again; of a run
		// the store has its row first.
		if again := a.cutAfter(of.missedAt[due]) || a.cutAfter(at); again && of.skipped[due] {
			if of.missed[due] {
				delete(of.missed, due)
			}
			if of.begun[due] > 0 {
				delete(of.skipped, due)
			}
		}
		var is []string
		for _, how := range []struct {
			word  string
			is    bool
			count *int
		}{
			{"run", of.begun[due] > 0, &a.ran}, {"skipped", of.skipped[due], &a.skipped}, {"missed", of.missed[due], &a.missed},
			{"excluded", of.excluded[due], &a.excluded},
		} {
			if how.is {
				*how.count++
				is = append(is, how.word)
			}
		}
		switch {
		case len(is) == 0 && of.waits[due]:
			a.waits++
		case len(is) == 0 && a.killedWithin(at, time.Minute+10*time.Second):
			a.unlogged++ // it may have been skipped: the log has that a minute later, and a daemon that is killed loses it
		case len(is) != 1:
			t.Errorf("%s: %v is %q, want one of run, skipped, missed and excluded", j.name, at, is)
		}
	}
	all := strings.Contains(j.keys, "misfire = 'all'") // it may be far behind
	if j.period != 0 && !all && !of.first.IsZero() && a.end.Sub(of.last) > 20*time.Second+2*j.period {
		t.Errorf("%s: the last time that the log has is %v, and the end was at %v", j.name, of.last, a.end)
	}

	for due, n := range of.fresh {
		if n > 1 && !of.cut[due] && !a.beforeKill(of, due) {
			t.Errorf("%s: %v is %d runs", j.name, time.UnixMilli(due), n)
		}
	}
	noted := strings.Fields(strings.Join(l.begun[j.name], " "))
	if text, err := os.ReadFile(filepath.Join(out, j.name)); err == nil {
		noted = strings.Fields(string(text))
	}
	times, in := make(map[int64]int), make(map[startIn]int)
	for i := 0; i+1 < len(noted); i += 2 {
		at, err := time.Parse(time.RFC3339Nano, noted[i])
		_, daemon, ok := strings.Cut(noted[i+1], "#")
		if err != nil || !ok {
			t.Errorf("%s: a run has noted %q", j.name, noted[i:i+2])
		}
		times[at.UnixMilli()]++
		in[startIn{at.UnixMilli(), daemon}]++
	}
	for s, n := range in {
		want := of.in[s]
		if a.killed[s.daemon] {
			want++ // which it may not have come to write
		}
		if n > want {
			t.Errorf("%s: %v was run %d times in daemon %s, and %d times by its log", j.name, time.UnixMilli(s.due), n, s.daemon, of.in[s])
		}
	}
	for due, n := range of.begun {
		if !j.silent && n > times[due] && !of.cut[due] && !a.beforeKill(of, due) {
			t.Errorf("%s: %v was run %d times by the log, and %d times in fact", j.name, time.UnixMilli(due), n, times[due])
		}
	}
	for _, run := range of.failed {
		n := l.told["failed "+j.name][run] + l.told["not started "+j.name][run] + l.told["lost "+j.name][run]
		if a.told++; n == 0 || n > 1 && !of.cut[of.dues[run]] && !a.beforeKill(of, of.dues[run]) && !a.endedAfter(of, of.dues[run]) {
			t.Errorf("%s: the failure of run %v was told %d times", j.name, run, n)
		}
	}
}
