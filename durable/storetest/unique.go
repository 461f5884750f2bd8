package storetest

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// among makes a key one among the jobs that wait, and those in the states.
func among(states ...store.State) func(*store.NewJob) {
	return func(j *store.NewJob) {
		j.Among = append([]store.State{store.Waiting, store.Claimed, store.Paused, store.Blocked}, states...)
	}
}

// over are the states of jobs that are over.
var over = []store.State{store.Succeeded, store.Dead, store.Canceled}

func lasting(d time.Duration) func(*store.NewJob) { return func(j *store.NewJob) { j.Within = d } }

func replaceAll(j *store.NewJob) { j.ReuseKey, j.Replace = true, true }

func options(changes ...func(*store.NewJob)) func(*store.NewJob) {
	return func(j *store.NewJob) {
		for _, f := range changes {
			f(j)
		}
	}
}

// uniqueness is what becomes of a job whose key another one has that waits, runs, succeeded, is dead, or was canceled:
// it is dropped; it is new, and the other loses the key; it replaces all, the payload or the time of the other; or the
// other runs again. docs/how-to/unique.md has the table.
var uniqueness = map[string]struct {
	options func(*store.NewJob)
	want    string
}{
	"no option":                  {options(), "drop drop drop drop drop"},
	"ReuseKey":                   {reuse, "drop again new new new"},
	"Replace":                    {replaceAll, "replace again new new new"},
	"ReplacePayload":             {options(replaceAll, func(j *store.NewJob) { j.KeepTime = true }), "payload again new new new"},
	"ReplaceTime":                {options(replaceAll, func(j *store.NewJob) { j.KeepPayload = true }), "time again new new new"},
	"waiting":                    {among(), "drop new new new new"},
	"waiting, Replace":           {options(among(), replaceAll), "replace new new new new"},
	"waiting, running":           {among(running...), "drop drop new new new"},
	"waiting, running, ReuseKey": {options(among(running...), reuse), "drop again new new new"},
	"and succeeded":              {options(among(append(running, store.Succeeded)...)), "drop drop drop new new"},
	"and succeeded, ReuseKey":    {options(among(append(running, store.Succeeded)...), reuse), "drop again drop new new"},
	"and succeeded, Replace":     {options(among(append(running, store.Succeeded)...), replaceAll), "replace again drop new new"},
	"and succeeded, an hour":     {options(among(append(running, store.Succeeded)...), lasting(time.Hour)), "drop drop drop new new"},
	"and succeeded, ago":         {options(among(append(running, store.Succeeded)...), lasting(time.Microsecond)), "drop drop new new new"},
	"all, an hour":               {options(among(append(running, over...)...), lasting(time.Hour)), "drop drop drop drop drop"},
	"all, ago":                   {options(among(append(running, over...)...), lasting(time.Microsecond)), "drop drop new new new"},
	"all, an hour, ReuseKey":     {options(among(append(running, over...)...), reuse, lasting(time.Hour)), "drop again drop drop drop"},
}

var running = []store.State{store.Confirmed, store.Running}

// What becomes of a job follows from its options and from the state of the one that has its key.
func uniqueStates(b *bench) {
	states := map[store.State]int{store.Waiting: 0, store.Claimed: 0, store.Paused: 0, store.Confirmed: 1, store.Running: 1,
		store.Succeeded: 2, store.Dead: 3, store.Canceled: 4}
	if b.store.parts.Graph != nil {
		states[store.Blocked] = 0
	}
	node := b.node("a")
	parent := b.add(time.Hour, func(j *store.NewJob) { j.Kind = "parent" })
	for name, test := range uniqueness {
		for state, column := range states {
			name, key := fmt.Sprintf("%s: one that is %v", name, state), key(name+state.String())
			before := b.holder(node, state, key, parent.ID)
			n := job(2*time.Hour, key, payload("2"), test.options)
			r := b.insert(n, store.Placement{})
			after := b.get(before.ID)
			switch want := strings.Fields(test.want)[column]; {
			case want == "new":
				if r.ID != n.ID || !r.Changed || b.get(n.ID).State != store.Waiting || after.Key != "" || after.State != state {
					b.Errorf("%s is %+v, and the new one %+v", name, after, r)
				}
				if found := must(b.store.Find(b.Context(), n.Key)); found.ID != n.ID {
					b.Errorf("%s: the key belongs to %+v", name, found)
				}
			case r.ID != before.ID || r.Changed != (want != "drop") || !reflect.DeepEqual(r.Job, after):
				b.Errorf("%s: want %s, but the answer is %+v, and it is %+v", name, want, r, after)
			case want == "drop" && !reflect.DeepEqual(after, before):
				b.Errorf("%s was %+v, and is %+v", name, before, after)
			case want == "again" && (after.NextDue.IsZero() || after.State != state):
				b.Errorf("%s does not run again: %+v", name, after)
			case want == "replace" || want == "payload" || want == "time":
				if moved := after.Due.Equal(r.Now.Add(2 * time.Hour)); moved != (want != "payload") || !moved && !after.Due.Equal(before.Due) {
					b.Errorf("%s: want %s, but it is due at %v", name, want, after.Due)
				}
				if changed := string(after.Payload) == "2"; changed != (want != "time") {
					b.Errorf("%s: want %s, but its payload is %s", name, want, after.Payload)
				}
			}
			must(b.store.Release(b.Context(), node, nil))
			for _, id := range []store.ID{before.ID, n.ID} {
				must(b.store.Change(b.Context(), id, store.Change{Op: store.OpDelete}))
			}
		}
	}
}

// holder adds a job that a key belongs to, in a state.
func (b *bench) holder(node string, state store.State, key func(*store.NewJob), parent store.ID) store.Job {
	b.Helper()
	delay, after := -time.Second, func(*store.NewJob) {}
	switch state {
	case store.Claimed:
		delay = 30 * time.Second
	case store.Blocked:
		after = func(j *store.NewJob) { j.After = store.After{Parents: []store.ID{parent}, Need: 1} }
	}
	j := b.add(delay, key, after)
	switch state {
	case store.Paused:
		b.change(j.ID, durable.OpPause, durable.Applied)
	case store.Canceled:
		b.change(j.ID, durable.OpCancel, durable.Applied)
	case store.Claimed, store.Confirmed:
		b.claimOne(node)
	case store.Running:
		b.begin(node, b.claimOne(node))
	case store.Succeeded, store.Dead:
		o := outcome(b.claimOne(node))
		o.State = state
		b.settle(node, o)
	}
	b.pass()
	return b.state(j.ID, state)
}

// A schedule keeps its key while it goes on, also while it runs: registered again, it would be there twice.
func uniqueSparesSchedules(b *bench) {
	node := b.node("a")
	periodic := b.running(node, key("key"), func(j *store.NewJob) { j.Schedule = "rate 1h0m0s" })
	n := job(time.Hour, key("key"), among())
	for _, jobs := range [][]store.NewJob{{n}, {n, job(time.Hour, key("other"), among())}} {
		placed := must(b.store.Insert(b.Context(), jobs, store.Placement{}))
		if r := placed[0]; r.ID != periodic.ID || r.Changed || r.Schedule != periodic.Schedule || r.Key != "key" {
			b.Errorf("of %d that were added, the first is %+v", len(jobs), r)
		}
	}
	if again := b.insert(job(0, key("key"), func(j *store.NewJob) { j.Schedule = "rate 1h0m0s" }), store.Placement{}); again.ID != periodic.ID {
		b.Errorf("registered again, it is there twice: %+v", again)
	}
	b.change(periodic.ID, durable.OpCancel, durable.Deferred)
	o := outcome(b.get(periodic.ID))
	o.State = store.Canceled
	b.settle(node, o)
	if r := b.insert(n, store.Placement{}); r.ID != n.ID || !r.Changed {
		b.Errorf("once it is over, the one added is %+v", r)
	}
}

// Of many that may take the key of a job that runs, or that is over, at the same time one has it; and one that wants to
// stand for it once it has ended loses no race with its end.
func uniqueTogether(b *bench) {
	node := b.node("a")
	for i, state := range []store.State{store.Running, store.Confirmed, store.Succeeded, store.Dead} {
		key := key(fmt.Sprint("key ", i))
		before := b.holder(node, state, key, store.ID{})
		ids := make([]store.ID, 8)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				placed, err := b.store.Insert(b.Context(), []store.NewJob{job(time.Hour, key, among())}, store.Placement{})
				if err != nil {
					b.Error(err)
					return
				}
				ids[i] = placed[0].ID
			})
		}
		wg.Wait()
		for _, id := range ids {
			if id != ids[0] || id == before.ID {
				b.Errorf("the key of one that is %v was given to %v", state, ids)
			}
		}
		b.ok(errOf(b.store.Release(b.Context(), node, nil)))
		must(b.store.Change(b.Context(), before.ID, store.Change{Op: store.OpDelete}))
	}
	for i := range 20 { // the end of a run crosses the insert
		key := key(fmt.Sprint("end ", i))
		before := b.holder(node, store.Running, key, store.ID{})
		done := make(chan error)
		go func() {
			r := store.CommitRequest{Node: node, Outcomes: []store.Outcome{outcome(before)}}
			_, err := soon(func() (store.CommitResult, error) { return b.store.Commit(b.Context(), r) }, // its row may be locked
				func(c store.CommitResult) bool { return len(c.Locked) == 0 })()
			done <- err
		}()
		r := b.insert(job(time.Hour, key, reuse, among(running...)), store.Placement{})
		b.ok(<-done)
		again := b.get(before.ID)
		if !r.Changed || r.ID == before.ID && again.State != store.Waiting {
			b.Errorf("the wish was dropped: %+v, and the job before it is %+v", r, again)
		}
	}
}
