package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/crontab"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/tomlfile"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// jobs reads a crontab.
func jobs(t *testing.T, text string) []job.Job {
	t.Helper()
	file, err := crontab.Parse("tab", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return file.Jobs
}

// What a file says of a job is what a daemon gets that has it from a store.
func TestSpecKeepsAll(t *testing.T) {
	file, err := tomlfile.Parse("jobs.toml", []byte(`
[[job]]
name = "list"
schedule = "@every 90s"
command = ["a", "b c"]
stdin = "one\ntwo"
dir = "/tmp"
timeout = "5m"
jitter = "30s"
tags = ["team=shop", "nightly"]
success_codes = [0, 3]
env_file = ["/etc/a.env", "/etc/b.env"]
priority = "high"
after = ["text"]
after_on = "failure"
group = "db"
overlap = "allow 3"
misfire = "2h"
retries = 3
retry_wait = "0s"
retry_factor = 3
retry_max_wait = "5m"
secret.TOKEN = "/run/secrets/token"
env = { A = "1", B = "ü\u0001" }
parameters = { DAY = { default = "today", pattern = 'today|\d+', description = "which" }, REGION = { default = "eu", values = ["eu", "us"] } }

[[job]]
name = "text"
schedule = "30 2 * * *"
timezone = "Europe/Berlin"
shell = "/bin/bash"
command = 'echo "<&>"'
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range file.Jobs {
		text, err := json.Marshal(catalog.NewSpec(want))
		if err != nil {
			t.Fatal(err)
		}
		var spec catalog.Spec
		if err := json.Unmarshal(text, &spec); err != nil {
			t.Fatal(err)
		}
		got := spec.Job
		if spec.Schedule != want.Schedule.Text || spec.Zone != want.Schedule.ZoneName() {
			t.Errorf("%s: schedule %q in %q", want.Name, spec.Schedule, spec.Zone)
		}
		if want.Name == "list" && !slices.Equal(got.Tags, []string{"nightly", "team=shop"}) {
			t.Errorf("tags are %q", got.Tags)
		}
		got.Name, got.Line, got.Schedule = want.Name, want.Line, want.Schedule
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// The spec of a job is the same text in all versions, so that a new executord
// does not take the jobs of an old one for changed.
func TestSpecTextIsStable(t *testing.T) {
	text, _ := json.Marshal(catalog.NewSpec(jobs(t, "CRON_TZ=UTC\nA=1\n# name: x\n@daily echo%in\n")[0]))
	want := `{"schedule":"@daily","zone":"UTC","shell":"/bin/sh","script":"echo","stdin":"in\n","env":["A=1"]}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	all := catalog.Spec{
		Schedule: "s", Zone: "z", Off: true, Held: catalog.StatePaused,
		Job: job.Job{
			Name: "n", File: "f", Line: 1, MaybeUser: true, MailTo: new(string), Notify: []string{"x"},
			Command: job.Command{
				Args: []string{"a"}, Shell: "b", Script: "c", Stdin: "d", Env: []string{"e"}, EnvFiles: []string{"f"},
				Secrets: []string{"g"}, Dir: "h", User: "i",
			},
			Timeout: 1, Jitter: 2, Parameters: job.Parameters{{Name: "P"}}, Progress: true, SuccessCodes: []int{3},
			Retry:   job.Retry{Times: 4, Wait: 5, Factor: 6, Most: 7},
			Overlap: "j", Misfire: "k", Group: "l", GroupLimit: 8, After: []string{"m"}, AfterOn: "n", Next: []job.Next{{Job: "o"}},
			Priority: "p", Tags: []string{"q"}, On: job.Where{Each: true, Among: []string{"r", "s"}},
			Season: job.Season{From: "t", Until: "u", Except: []string{"v"}},
		},
	}
	text, _ = json.Marshal(all)
	want = `{"schedule":"s","zone":"z","args":["a"],"shell":"b","script":"c","stdin":"d","env":["e"],"env_files":["f"],` +
		`"secrets":["g"],"dir":"h","user":"i","timeout":1,"jitter":2,"parameters":[{"name":"P","default":""}],"progress":true,` +
		`"success_codes":[3],"retries":4,"retry_wait":5,"retry_factor":6,"retry_most":7,"overlap":"j","misfire":"k","group":"l",` +
		`"group_limit":8,"after":["m"],"after_on":"n","next":[{"job":"o"}],"priority":"p","tags":["q"],"on":["all r","s"],` +
		`"from":"t","until":"u","except":["v"],"off":true,"held":"paused"}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// Only what has the key and the kind of a job of executord is one.
func TestEntryRead(t *testing.T) {
	for _, test := range []struct {
		key, kind, namespace, name string
	}{
		{"executord:shop/backup", durable.ScheduleKind("executord:shop"), "shop", "backup"},
		{"executord:shop/a/b", durable.ScheduleKind("executord:shop"), "shop", "a/b"},
		{"executord:shop/backup", durable.ScheduleKind("executord:other"), "", ""},
		{"executord:shop/backup", durable.ScheduleKind("email"), "", ""},
		{"executord:shop/backup", "executord:shop", "", ""},
		{"executord:shop", durable.ScheduleKind("executord:shop"), "", ""},
		{"executord:shop/backup#7", "executord:shop", "", ""},
		{"executord/shop/backup", "executord/shop", "", ""},
		{"welcome/17", "email", "", ""},
	} {
		e, ok := catalog.Read(durable.Job{Key: test.key, Kind: test.kind, Payload: []byte("{}\n{}")})
		if ok != (test.name != "") || e.Namespace != test.namespace || e.Name != test.name {
			t.Errorf("%s, %s: %q %q %t", test.key, test.kind, e.Namespace, e.Name, ok)
		}
	}
}

// The kind of a group has its limit, and is no longer than a kind may be.
func TestGroupKind(t *testing.T) {
	for _, group := range []string{"db", "a/b", strings.Repeat("g", 64)} {
		for limit, want := range map[int]int{0: 1, 1: 1, 17: 17} {
			kind := catalog.GroupKind(strings.Repeat("n", 64), group, limit)
			if got, ok := catalog.GroupLimit(strings.Repeat("n", 64), kind); got != want || !ok || len(kind) > durable.MaxKind {
				t.Errorf("%s: %d %v, want %d", kind, got, ok, want)
			}
			if _, ok := catalog.GroupLimit("n", kind); ok {
				t.Errorf("%s is one of another namespace", kind)
			}
		}
	}
	if _, ok := catalog.GroupLimit("n", catalog.Kind("n")); ok {
		t.Error("runs without a group have a limit")
	}
}

// The jobs of a version that had one row for all runs of a job wait for nothing any more, and those of this one are there.
func TestApplyEndsJobsOfOldVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		defer b.stopped()
		old := durable.NewJob{ID: durable.NewID(), Key: "executord/shop/b", Kind: "executord/shop", Schedule: "rate 10m0s", Delay: 10 * time.Minute, Attempts: 12}
		if _, err := b.Store.Insert(t.Context(), []durable.NewJob{old}, durablestore.Placement{}); err != nil {
			t.Fatal(err)
		}
		b.want(b.apply(other), map[string]catalog.Action{"b": catalog.Add})
		time.Sleep(25 * time.Minute)
		row, err := b.Store.Get(t.Context(), old.ID)
		if n := b.didRun(); err != nil || row.State != durable.Paused || n != 2 {
			t.Errorf("%v, %v; %d runs", row.State, err, n)
		}
	})
}

// The times of a row are those of its schedule, on the grid of a fixed rate.
func TestTimesOfSchedules(t *testing.T) {
	at := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		schedule    string
		after, want time.Time
	}{
		{"rate 1m0s", at.Add(-90 * time.Second), at.Add(-time.Minute)},
		{"rate 1m0s", at.Add(-time.Minute), at},
		{"rate 1m0s", at, at.Add(time.Minute)},
		{"rate 1m0s", at.Add(59 * time.Second), at.Add(time.Minute)},
		{"cron CRON_TZ=Europe/Berlin 30 2 * * *", at, time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)}, // 3:00 on the wall
	} {
		times := catalog.Times(durable.Job{Schedule: test.schedule, Anchor: at})
		if got := times.Next(test.after); !got.Equal(test.want) {
			t.Errorf("%s: after %v comes %v, want %v", test.schedule, test.after, got, test.want)
		}
	}
	if times := catalog.Times(durable.Job{Schedule: "once"}); times != nil {
		t.Errorf("once has times: %v", times)
	}
}

// bench is a store with a daemon's part, in a bubble.
type bench struct {
	t *testing.T
	*catalog.Catalog
	runs    chan time.Time // begun
	hold    chan struct{}  // what a run waits for
	stopped func()
}

func newBench(t *testing.T, run bool) *bench { return newBenchOn(t, memory.New(), run) }

func newBenchOn(t *testing.T, store durable.Store, run bool) *bench {
	b := &bench{t: t, runs: make(chan time.Time, 1000), hold: make(chan struct{})}
	close(b.hold)
	j, err := durable.New(durable.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	b.Catalog = &catalog.Catalog{Namespace: "shop", Store: store, Jobs: j, Keep: 1000}
	durable.Handle(j, catalog.Kind("shop"), func(ctx context.Context, _ catalog.Run) (struct{}, error) {
		b.runs <- time.Now()
		select {
		case <-b.hold:
			return struct{}{}, nil
		case <-ctx.Done():
			return struct{}{}, context.Cause(ctx)
		}
	}, durable.OnFire(func(_ context.Context, f durable.Firing) (durable.Decision, error) {
		e, _ := catalog.EntryOf(f)
		if e.Spec.Off {
			return durable.Decision{LeftOut: "off"}, nil
		}
		d := e.Place(false)
		d.Payload = catalog.Run{Due: f.Occurrence}
		return d, nil
	}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if run {
			j.Run(ctx)
		}
	}()
	b.stopped = func() { cancel(); <-ended; store.Close() }
	return b
}

// apply applies a crontab to the store and returns what was done, by name.
func (b *bench) apply(text string) map[string]catalog.Action {
	b.t.Helper()
	did := make(map[string]catalog.Action)
	err := b.Apply(b.t.Context(), jobs(b.t, text), func(s catalog.Step) {
		did[s.Name] = s.Action
		if s.Err != nil {
			b.t.Errorf("%s: %v", s.Name, s.Err)
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return did
}

func (b *bench) job(name string) catalog.Entry {
	b.t.Helper()
	row, err := b.Store.Find(b.t.Context(), catalog.Key("shop", name))
	if err != nil {
		b.t.Fatal(err)
	}
	e, ok := catalog.Read(row)
	if !ok {
		b.t.Fatalf("%s is not one of ours", name)
	}
	one := []catalog.Entry{e}
	if err := catalog.AddRuns(b.t.Context(), b.Store, one); err != nil {
		b.t.Fatal(err)
	}
	return one[0]
}

func (b *bench) didRun() int {
	n := len(b.runs)
	for range n {
		<-b.runs
	}
	return n
}

func (b *bench) want(did map[string]catalog.Action, want map[string]catalog.Action) {
	b.t.Helper()
	if !reflect.DeepEqual(did, want) {
		b.t.Errorf("did %v, want %v", did, want)
	}
}

const (
	hourly = "CRON_TZ=UTC\n# name: a\n@hourly echo a\n" // in zones of half an hour it is due at other times
	other  = "# name: b\n@every 10m echo b\n"
	none   = "@reboot true\n" // nothing that is kept in a store
)

// A file that is brought again changes nothing: no times, and no rights to run.
func TestApplyTwiceChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, false)
		defer b.stopped()
		b.want(b.apply(hourly+other+"@reboot echo up\n"), map[string]catalog.Action{"a": catalog.Add, "b": catalog.Add})
		first := []catalog.Entry{b.job("a"), b.job("b")}
		time.Sleep(7 * time.Minute)
		b.want(b.apply(hourly+other), map[string]catalog.Action{"a": catalog.Keep, "b": catalog.Keep})
		if second := []catalog.Entry{b.job("a"), b.job("b")}; !reflect.DeepEqual(first, second) {
			t.Errorf("they were %+v\nand are %+v", first, second)
		}
	})
}

// Jobs are known however many there are.
func TestListOfManyJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, false)
		defer b.stopped()
		const many = 501
		var tab strings.Builder
		want := make(map[string]catalog.Action)
		for i := range many {
			fmt.Fprintf(&tab, "# name: job%d\n@hourly true\n", i)
			want[fmt.Sprint("job", i)] = catalog.Keep
		}
		b.apply(tab.String())
		b.want(b.apply(tab.String()), want)
	})
}

// Jobs that are read again are as they are in the store, also if they have run, were paused or were removed since. The runs
// of those that have not changed are not read again.
func TestAgainReadsRunsOfWhatHasChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counted{Store: memory.New()}
		b := newBenchOn(t, store, true)
		defer b.stopped()
		b.apply("# name: often\n@every 1m true\n# name: rare\n@every 5m true\n# name: never\n@yearly true\n")
		time.Sleep(6*time.Minute + 30*time.Second)
		jobs := must(catalog.Select(t.Context(), store, "shop"))
		check := func(what string, most int) {
			t.Helper()
			store.keys = 0
			again := must(catalog.Again(t.Context(), store, jobs))
			if store.keys > most {
				t.Errorf("%s: %d rows were asked for, want at most %d", what, store.keys, most)
			}
			if jobs = must(catalog.Select(t.Context(), store, "shop")); !reflect.DeepEqual(again, jobs) {
				t.Errorf("%s: they are %+v, want %+v", what, again, jobs)
			}
		}
		check("nothing has changed", 3)
		time.Sleep(time.Minute)
		check("one has run", 3+1)
		if _, err := b.Jobs.Pause(t.Context(), b.job("never").ID); err != nil {
			t.Fatal(err)
		}
		check("one was paused", 3+1)
		b.hold = make(chan struct{})
		time.Sleep(time.Minute)
		check("a run has begun", 3+2)
		close(b.hold)
		time.Sleep(time.Second)
		check("it has ended", 3+2)
		if _, err := b.Jobs.Delete(t.Context(), b.job("never").ID); err != nil {
			t.Fatal(err)
		}
		check("one was removed", 3)
	})
}

// counted is a store that counts its inserts, and the keys that its lists are asked for.
type counted struct {
	durable.Store
	inserts, keys int
}

func (c *counted) List(ctx context.Context, f durable.Filter) ([]durable.Job, error) {
	c.keys += len(f.Keys)
	return c.Store.List(ctx, f)
}

func (c *counted) Insert(ctx context.Context, jobs []durable.NewJob,
	p durablestore.Placement) ([]durable.InsertResult, error) {
	c.inserts++
	return c.Store.Insert(ctx, jobs, p)
}

// The jobs of a file take one call of the store, also if some are changed; one that can't be kept is named, and keeps
// no other out.
func TestApplyRegistersTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counted{Store: memory.New()}
		b := newBenchOn(t, store, false)
		defer b.stopped()
		tab := hourly + other
		for i := range 50 {
			tab += fmt.Sprintf("# name: job%d\n@hourly true\n", i)
		}
		b.apply(tab)
		b.apply(strings.ReplaceAll(tab, "echo a", "echo c"))
		if store.inserts != 2 {
			t.Errorf("%d inserts for two files", store.inserts)
		}
		if e := b.job("a"); e.Spec.Script != "echo c" {
			t.Errorf("job is %+v", e)
		}
		taken := durable.NewJob{ID: durable.NewID(), Key: catalog.Key("shop", "taken"), Kind: "mail", Schedule: "once", Attempts: 1}
		if _, err := store.Insert(t.Context(), []durable.NewJob{taken}, durablestore.Placement{}); err != nil {
			t.Fatal(err)
		}
		var named []string
		did := make(map[string]catalog.Action)
		err := b.Apply(t.Context(), jobs(t, hourly+other+"# name: taken\n@hourly true\n# name: new\n@hourly true\n"), func(s catalog.Step) {
			if did[s.Name] = s.Action; s.Err != nil {
				named = append(named, s.Name)
			}
		})
		if err != nil || !reflect.DeepEqual(named, []string{"taken"}) || b.job("new").State != durable.Waiting {
			t.Errorf("error %v, named %v", err, named)
		}
	})
}

// A job has the priority that its file says, in the store too, from where jobs are claimed.
func TestApplySetsPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, false)
		defer b.stopped()
		for _, priority := range []string{"high", "low", "normal"} {
			b.apply("# name: a\n# priority: " + priority + "\n@hourly true\n")
			want := map[string]durable.Priority{"high": durable.High, "low": durable.Low, "normal": durable.Normal}[priority]
			if got := b.job("a").Priority; got != want {
				t.Errorf("%s: %v", priority, got)
			}
		}
	})
}

// A command that changed leaves the times as they are, and a schedule that
// changed begins anew.
func TestApplyChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, false)
		defer b.stopped()
		b.apply(other)
		due := b.job("b").Due
		time.Sleep(7 * time.Minute)
		b.want(b.apply("# name: b\n@every 10m echo c\n"), map[string]catalog.Action{"b": catalog.Change})
		if e := b.job("b"); !e.Due.Equal(due) || e.Spec.Script != "echo c" {
			t.Errorf("due %v, %q; it was %v", e.Due, e.Spec.Script, due)
		}
		b.want(b.apply("# name: b\n@every 20m echo c\n"), map[string]catalog.Action{"b": catalog.Change})
		if e := b.job("b"); !e.Due.Equal(time.Now().Add(20 * time.Minute)) {
			t.Errorf("due %v, now it is %v", e.Due, time.Now())
		}
	})
}

// A job has the tags of its file in the store, through changes, removal and return.
func TestApplyKeepsTags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, false)
		defer b.stopped()
		tagged := func(want ...string) {
			t.Helper()
			if got := b.job("b").Tags; !slices.Equal(got, want) {
				t.Errorf("tags are %q, want %q", got, want)
			}
		}
		const line = "@every 10m echo c\n"
		b.apply("# name: b\n# tags: two, one\n" + line)
		tagged("one", "two")
		b.want(b.apply("# name: b\n# tags: two, three\n"+line), map[string]catalog.Action{"b": catalog.Change})
		tagged("three", "two")
		b.apply("")
		tagged("three", "two")
		b.want(b.apply("# name: b\n# tags: two, three\n"+line), map[string]catalog.Action{"b": catalog.Restore})
		tagged("three", "two")
		b.apply("# name: b\n" + line)
		tagged()
	})
}

// What is not in the file any more does not run; put back, it waits for its next
// time, and does not run before.
func TestApplyRestoresRemovedJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		defer b.stopped()
		time.Sleep(30 * time.Second)
		b.apply(hourly + other)
		b.want(b.apply(hourly), map[string]catalog.Action{"a": catalog.Keep, "b": catalog.Remove})
		if e := b.job("b"); e.State != durable.Canceled || !e.Removed() {
			t.Errorf("removed, it is %v", e.State)
		}
		b.want(b.apply(hourly), map[string]catalog.Action{"a": catalog.Keep})
		time.Sleep(24 * time.Minute)
		if n := b.didRun(); n != 0 {
			t.Errorf("%d runs of a job that was removed", n)
		}

		b.want(b.apply(hourly+other), map[string]catalog.Action{"a": catalog.Keep, "b": catalog.Restore})
		if e := b.job("b"); e.State.Done() || e.State == durable.Paused || e.Spec.Off {
			t.Errorf("put back, it is %v, off: %t", e.State, e.Spec.Off)
		}
		time.Sleep(5*time.Minute + 50*time.Second)
		if n := b.didRun(); n != 0 {
			t.Errorf("%d runs before the next time", n)
		}
		time.Sleep(20 * time.Second)
		if n := b.didRun(); n != 1 {
			t.Errorf("%d runs at the next time", n)
		}
	})
}

// A run goes on when its job is removed, and the job is not run again; put back
// during the run, it is as if nothing had been.
func TestApplyRemovesRunningJob(t *testing.T) {
	for _, back := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, true)
			defer b.stopped()
			b.hold = make(chan struct{})
			b.apply(other)
			time.Sleep(10*time.Minute + time.Second)
			b.want(b.apply(none), map[string]catalog.Action{"b": catalog.Remove})
			time.Sleep(time.Minute) // many beats
			if back {
				b.want(b.apply(other), map[string]catalog.Action{"b": catalog.Restore})
			}
			close(b.hold)
			time.Sleep(time.Hour)
			e := b.job("b")
			row, err := b.Store.Find(t.Context(), durable.RunKey(e.Key, 1))
			if err != nil {
				t.Fatal(err)
			}
			runs, _ := b.Jobs.History(t.Context(), row.ID, 0, 100)
			if first := runs[len(runs)-1]; first.Verdict != durable.RunSucceeded ||
				first.Finished.Sub(first.Started) < time.Minute {
				t.Errorf("the run ended as %+v", first)
			}
			if n := b.didRun(); back != (n == 7) || !back && n != 1 || e.Removed() == back {
				t.Errorf("put back: %t; runs: %d, %v", back, n, e.State)
			}
		})
	}
}

// A job that a user has canceled or paused stays so, however often its file is
// brought, until it is brought back: then it waits for its next time.
func TestApplyKeepsCanceledJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		defer b.stopped()
		time.Sleep(time.Minute)
		b.apply(hourly + other)
		if _, err := b.Jobs.Cancel(t.Context(), b.job("a").ID); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Jobs.Pause(t.Context(), b.job("b").ID); err != nil {
			t.Fatal(err)
		}
		b.want(b.apply(hourly+other), map[string]catalog.Action{"a": catalog.Keep, "b": catalog.Keep})
		if a, b := b.job("a").State, b.job("b").State; a != durable.Canceled || b != durable.Paused {
			t.Errorf("they are %v and %v", a, b)
		}
		time.Sleep(2 * time.Hour)
		if n := b.didRun(); n != 0 {
			t.Errorf("%d runs", n)
		}
		if err := catalog.Bring(t.Context(), b.Jobs, b.Store, b.job("a")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(58 * time.Minute)
		if n := b.didRun(); n != 0 {
			t.Errorf("%d runs before the next time", n)
		}
		time.Sleep(time.Hour)
		if n := b.didRun(); n != 1 {
			t.Errorf("%d runs in the next hour", n)
		}
	})
}

// A canceled job that is brought back is that of the file which was applied last, also if that was after a look at it.
func TestBringKeepsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, false)
		defer b.stopped()
		b.apply("# name: a\n0 * * * * old\n")
		was := b.job("a")
		b.Jobs.Cancel(t.Context(), was.ID)
		b.apply("# name: a\n30 * * * * new\n")
		if err := catalog.Bring(t.Context(), b.Jobs, b.Store, was); err != nil {
			t.Fatal(err)
		}
		if now := b.job("a"); now.Spec.Script != "new" || now.Spec.Schedule != "30 * * * *" || now.Due.Minute() != 30 {
			t.Errorf("it is %+v", now)
		}
	})
}

// A canceled job that is brought back has the definition that another daemon gives it meanwhile, whenever that is; if
// one removes it, it stays away.
func TestBringKeepsWhatAnotherDaemonApplies(t *testing.T) {
	for _, test := range []struct{ file, want string }{{"# name: a\n30 * * * * new\n", "new"}, {none, ""}} {
		for before := range 1 { // changes
			synctest.Test(t, func(t *testing.T) {
				on := &crossed{Store: memory.New()}
				b := newBenchOn(t, on, false)
				defer b.stopped()
				b.apply("# name: a\n0 * * * * old\n")
				was := b.job("a")
				if _, err := b.Jobs.Cancel(t.Context(), was.ID); err != nil {
					t.Fatal(err)
				}
				on.left, on.do = before, func() { b.apply(test.file) }
				err := catalog.Bring(t.Context(), b.Jobs, b.Store, was)
				now := b.job("a")
				if on.do != nil {
					t.Fatalf("there are fewer than %d changes", before+1)
				}
				if test.want == "" && !now.Removed() || test.want != "" && (err != nil || now.Spec.Script != test.want || now.State != durable.Waiting) {
					t.Errorf("before change %d: it is %+v, error %v", before+1, now, err)
				}
			})
		}
	}
}

// crossed is a store in which something else happens before one of the changes of jobs.
type crossed struct {
	durable.Store
	left int // changes before it
	do   func()
}

func (c *crossed) cross() {
	if do := c.do; do != nil {
		if c.left--; c.left < 0 {
			c.do = nil
			do()
		}
	}
}

func (c *crossed) Insert(ctx context.Context, jobs []durable.NewJob, p durablestore.Placement) ([]durable.InsertResult, error) {
	c.cross()
	return c.Store.Insert(ctx, jobs, p)
}

func (c *crossed) Change(ctx context.Context, id durable.ID, ch durable.Change) (durable.Answer, error) {
	c.cross()
	return c.Store.Change(ctx, id, ch)
}

// What keeps a job from running outlives its removal from the file: put back, it
// is paused, canceled or dead as before, until a user brings it back.
func TestApplyRestoresHeldJob(t *testing.T) {
	pause := func(b *bench, id durable.ID) { b.Jobs.Pause(b.t.Context(), id) }
	cancel := func(b *bench, id durable.ID) { b.Jobs.Cancel(b.t.Context(), id) }
	for _, test := range []struct {
		name    string
		hold    func(*bench, durable.ID)
		running bool
		want    durable.State
	}{
		{"paused", pause, false, durable.Paused},
		{"canceled", cancel, false, durable.Canceled},
		{"to be paused after its run", pause, true, durable.Paused},
		{"canceled while it runs", cancel, true, durable.Canceled},
		{"dead", (*bench).die, false, durable.Dead},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, test.running)
				defer b.stopped()
				b.hold = make(chan struct{})
				b.apply(other)
				if test.running {
					time.Sleep(10*time.Minute + time.Second)
				}
				test.hold(b, b.job("b").ID)
				b.apply(none)
				b.apply(none) // as by another daemon
				close(b.hold)
				time.Sleep(time.Minute)
				if e := b.job("b"); !e.Removed() {
					t.Errorf("removed, it is %v", e.State)
				}
				b.didRun()
				b.want(b.apply(other), map[string]catalog.Action{"b": catalog.Restore})
				if e := b.job("b"); e.State != test.want || e.Spec.Off || e.Removed() {
					t.Errorf("put back, it is %v, off: %t", e.State, e.Spec.Off)
				}
				b.want(b.apply(other), map[string]catalog.Action{"b": catalog.Keep})
				time.Sleep(55 * time.Minute)
				if n := b.didRun(); n != 0 {
					t.Errorf("%d runs", n)
				}
			})
		})
	}
}

// die has a job lose its daemon until it is dead.
func (b *bench) die(id durable.ID) {
	b.t.Helper()
	ctx, kind := b.t.Context(), durable.ScheduleKind(catalog.Kind("shop"))
	_, err := b.Jobs.RunNow(ctx, id)
	if err == nil {
		_, err = b.Store.Join(ctx, "doomed", time.Hour)
	}
	var held durablestore.ClaimResult
	if err == nil {
		held, err = b.Store.Claim(ctx, durablestore.ClaimRequest{Node: "doomed", Limit: 1,
			Kinds: []durablestore.KindLimit{{Kind: kind, Max: 1}}})
	}
	if err != nil || len(held.Jobs) != 1 || held.Jobs[0].ID != id {
		b.t.Fatalf("claimed %v, error %v", held.Jobs, err)
	}
	row := held.Jobs[0]
	_, err = b.Store.Commit(ctx, durablestore.CommitRequest{Node: "doomed", Outcomes: []durable.Outcome{{
		Ref: durablestore.Ref{ID: id, Epoch: row.Epoch}, State: durable.Dead, Due: row.Due, Occurrence: row.Occurrence,
		Attempt: row.Attempt, Unrecorded: true,
	}}})
	if err != nil {
		b.t.Fatal(err)
	}
}

// A job that a store can't take is an error for itself alone, and goes on as it was.
func TestApplyRefusesLargeJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, false)
		defer b.stopped()
		b.apply(hourly + other)
		large := jobs(t, hourly+other)
		large[0].Command.Script = strings.Repeat("x", durable.MaxPayload)
		wrong := make(map[string]bool)
		if err := b.Apply(t.Context(), large, func(s catalog.Step) { wrong[s.Name] = s.Err != nil }); err != nil {
			t.Fatal(err)
		}
		if !wrong["a"] || wrong["b"] || b.job("a").Removed() {
			t.Errorf("errors: %v; a is %v", wrong, b.job("a").State)
		}
	})
}

// Zones and prefixes come through: the store has the times that the file means.
func TestSpecZones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is midnight in UTC, January 2000
		b := newBench(t, false)
		defer b.stopped()
		b.apply("# name: utc\nCRON_TZ=UTC\n0 12 * * * x\n# name: tokyo\nCRON_TZ=Asia/Tokyo\n0 12 * * * x\n# name: word\n@daily x\n")
		for name, hour := range map[string]int{"utc": 12, "tokyo": 3, "word": 15} {
			if due := b.job(name).Due; due.Hour() != hour {
				t.Errorf("%s is due at %v", name, due)
			}
		}
	})
}

// A job that is not in the file any more is removed though this version cannot read what a newer one has made of it, as
// after a return to the version before; the other jobs are applied.
func TestApplyRemovesJobOfNewerVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		defer b.stopped()
		newer := durable.KindOf[string, struct{}](b.Jobs, catalog.Kind("shop"))
		if _, err := b.Jobs.Register(t.Context(), newer.PrepareAtFixedRate(catalog.Key("shop", "a"), time.Hour, time.Hour, "of a newer version",
			durable.OnOverlap(durable.OverlapSkip()), durable.KeepRuns(10))); err != nil {
			t.Fatal(err)
		}
		b.want(b.apply(other), map[string]catalog.Action{"a": catalog.Remove, "b": catalog.Add})
		if e := b.job("a"); !e.Removed() || e.State != durable.Canceled {
			t.Errorf("it is %v, removed: %t", e.State, e.Removed())
		}
		time.Sleep(3*time.Hour + time.Second)
		if n := b.didRun(); n != 18 {
			t.Errorf("%d runs, want 18 of the other job", n)
		}
		b.want(b.apply(other+hourly), map[string]catalog.Action{"a": catalog.Restore, "b": catalog.Keep})
		time.Sleep(time.Hour)
		if n := b.didRun(); n != 7 {
			t.Errorf("%d runs in an hour with the job put back, want 7", n)
		}
	})
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}
