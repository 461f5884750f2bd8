package storetest

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// nodes returns the nodes by their names.
func (b *bench) nodes() map[string]durable.NodeInfo {
	b.Helper()
	all := make(map[string]durable.NodeInfo)
	for _, n := range must(b.store.Nodes(b.Context())) {
		all[n.Name] = n
	}
	return all
}

// The nodes are those that are alive, with what they have reported, their leases, and how much they hold.
func nodesAlive(b *bench) {
	before := must(b.store.Now(b.Context()))
	first, second := b.node("a"), b.node("b")
	b.running(first)
	details := durable.NodeDetails{Host: "wörld", PID: 7, Version: "v1.2.3", Kinds: []string{"k", "'x'"}, Workers: 4}
	b.ok(b.store.Report(b.Context(), first, store.Report{Details: &details}))
	b.pass()
	now := b.beat(first, 2*lease).Now
	got := b.nodes()
	if len(got) != 2 {
		b.Fatalf("nodes are %+v, want two", got)
	}
	a := got["a"]
	if !reflect.DeepEqual(a.NodeDetails, details) || a.Lease != 2*lease || !a.Beat.Equal(now) || a.Jobs != 1 {
		b.Errorf("the first is %+v, its heartbeat was at %v", a, now)
	}
	if a.Joined.Before(before) || !a.Joined.Before(now) {
		b.Errorf("joined at %v, not from %v to %v", a.Joined, before, now)
	}
	if x := got["b"]; !reflect.DeepEqual(x.NodeDetails, durable.NodeDetails{}) || x.Lease != lease || x.Jobs != 0 {
		b.Errorf("the second is %+v", x)
	}
	b.ok(b.store.Leave(b.Context(), first))
	b.die(second)
	b.beat(b.node("c"), lease)
	b.ok(b.store.Report(b.Context(), first, store.Report{Details: &details}))
	if got := b.nodes(); len(got) != 1 || got["c"].Name != "c" {
		b.Errorf("nodes are %+v, want c alone", got)
	}
}

// progress returns what the store has of the jobs.
func (b *bench) progress(ids ...durable.ID) map[durable.ID]durable.RunProgress {
	b.Helper()
	all := make(map[durable.ID]durable.RunProgress)
	for _, p := range must(b.store.Progress(b.Context(), ids)) {
		if _, twice := all[p.Job]; twice {
			b.Errorf("the progress of %v is there twice", p.Job)
		}
		all[p.Job] = p
	}
	return all
}

// report reports how far a job has come.
func (b *bench) report(j durable.Job, done int64) durable.RunProgress {
	b.Helper()
	p := durable.RunProgress{Job: j.ID, Epoch: j.Epoch, Done: done, Total: 100, Note: "nöte",
		At: must(b.store.Now(b.Context()))}
	b.ok(b.store.Report(b.Context(), "a", store.Report{Progress: []durable.RunProgress{p}}))
	return p
}

// The progress of a run is the last that was reported of it, for as long as it goes on.
func progressOfRuns(b *bench) {
	node := b.node("a")
	j, other := b.running(node), b.running(node)
	b.report(j, 10)
	want := b.report(j, 20)
	if got := b.progress(j.ID, other.ID, durable.NewID()); len(got) != 1 || !reflect.DeepEqual(got[j.ID], want) {
		b.Errorf("progress is %+v, want %+v", got, want)
	}
	o := next(j, j.Due)
	b.settle(node, o)
	if got := b.progress(j.ID); len(got) != 0 {
		b.Errorf("of a run that is over: %+v", got)
	}
	again := b.claimOne(node)
	if got := b.progress(j.ID); len(got) != 0 {
		b.Errorf("of the next run: %+v", got)
	}
	want = b.report(again, 1)
	b.report(j, 30) // from a node that is late
	if got := b.progress(j.ID); !reflect.DeepEqual(got[j.ID], want) {
		b.Errorf("progress is %+v, want that of the newest run: %+v", got, want)
	}
	b.ok(errOf(b.store.Prune(b.Context(), durable.Retention{})))
	if got := b.progress(j.ID); !reflect.DeepEqual(got[j.ID], want) {
		b.Errorf("after a prune it is %+v", got)
	}
}

// One report has a thousand runs.
func progressOfMany(b *bench) {
	const n = 1000
	node := b.node("a")
	place := store.Placement{Node: node, Ahead: time.Minute, Lead: time.Minute, Limit: n}
	jobs := make([]durable.NewJob, n)
	for i := range jobs {
		jobs[i] = job(0)
	}
	var r store.Report
	var ids []durable.ID
	for i, p := range must(b.store.Insert(b.Context(), jobs, place)) {
		r.Progress = append(r.Progress, durable.RunProgress{Job: p.ID, Epoch: p.Epoch, Done: int64(i), At: p.Now})
		ids = append(ids, p.ID)
	}
	b.ok(b.store.Report(b.Context(), node, r))
	got := b.progress(ids...)
	for _, want := range r.Progress {
		if !reflect.DeepEqual(got[want.Job], want) {
			b.Fatalf("progress is %+v, want %+v", got[want.Job], want)
		}
	}
}

// ended ends a run of a new job at that time, and returns its line of the history.
func (b *bench) ended(node string, finished time.Time, v durable.Verdict,
	change ...func(*durable.NewJob)) durable.JobRun {
	b.Helper()
	j := b.running(node, change...)
	o := outcome(j)
	o.Run.Finished, o.Run.Verdict, o.Run.Error, o.Error = finished, v, "text", "text"
	b.settle(node, o)
	run := o.Run
	run.Job, run.Seq, run.Epoch, run.Node = j.ID, 1, j.Epoch, node
	return durable.JobRun{Run: run, Key: j.Key, Kind: j.Kind, Queue: j.Queue}
}

// latest returns the runs of all pages.
func (b *bench) latest(f durable.LatestFilter) []durable.JobRun {
	b.Helper()
	if f.Verdicts == nil {
		f.Verdicts = []durable.Verdict{durable.RunSucceeded, durable.RunFailed, durable.RunCanceled, durable.RunSkipped,
			durable.RunLost, durable.RunSnoozed}
	}
	var all []durable.JobRun
	for {
		page := must(b.store.Latest(b.Context(), f))
		if len(page) > f.Limit {
			b.Fatalf("a page has %d runs, the limit is %d", len(page), f.Limit)
		}
		if all = append(all, page...); len(page) < f.Limit || len(all) > 1000 {
			return all
		}
		f.Before = page[len(page)-1].Run
	}
}

// The latest runs of all jobs come in pages, in the inverse order of their ends, also where some ended together.
func latestPages(b *bench) {
	node := b.node("a")
	now := must(b.store.Now(b.Context()))
	var want []durable.JobRun
	for i := range 7 {
		verdict := []durable.Verdict{durable.RunSucceeded, durable.RunFailed}[i%2]
		want = append(want, b.ended(node, now.Add(-time.Duration(i/3)*time.Second), verdict, key(string(rune('a'+i)))))
	}
	slices.SortFunc(want, func(x, y durable.JobRun) int {
		if c := y.Finished.Compare(x.Finished); c != 0 {
			return c
		}
		return bytes.Compare(y.Job[:], x.Job[:])
	})
	for _, limit := range []int{1, 2, 3, 7, 100} {
		got := b.latest(durable.LatestFilter{Limit: limit})
		if !reflect.DeepEqual(got, want) {
			b.Fatalf("in pages of %d the runs are\n%+v, want\n%+v", limit, got, want)
		}
	}
}

// A run of the latest has the queue in which its job is now.
func latestHaveQueues(b *bench) {
	b.store.queues()
	b.store.history()
	node := b.node("a")
	now := must(b.store.Now(b.Context()))
	b.add(-time.Second, every("1h0m0s"), key("moves"), toQueue("gpu"))
	claimed := b.queued(node, "gpu")[0]
	b.settle(node, next(claimed, now.Add(time.Hour)))
	for _, queue := range []string{"gpu", "tpu", ""} {
		if queue != "gpu" {
			b.changeBy(claimed.ID, store.Change{Op: store.OpMove, Queue: queue}, durable.Applied)
		}
		if got := b.latest(durable.LatestFilter{Limit: 10}); len(got) != 1 || got[0].Queue != queue || got[0].Key != "moves" {
			b.Errorf("in the queue %q, the runs are %+v", queue, got)
		}
	}
}

// The latest runs are those that were asked for: of a verdict, a kind, some keys, a tag, a node or a time.
func latestFilters(b *bench) {
	first, second := b.node("web%1-x"), b.node("web%2-x")
	now := must(b.store.Now(b.Context()))
	done := b.ended(first, now, durable.RunSucceeded, key("a"))
	failed := b.ended(second, now.Add(-time.Second), durable.RunFailed, key("a'b"), tags("shop=eu", "slow"))
	lost := b.ended(second, now.Add(-2*time.Second), durable.RunLost, tags("slow"))
	for _, test := range []struct {
		f    durable.LatestFilter
		want []durable.JobRun
	}{
		{durable.LatestFilter{Verdicts: []durable.Verdict{durable.RunFailed}}, []durable.JobRun{failed}},
		{durable.LatestFilter{Verdicts: []durable.Verdict{durable.RunFailed, durable.RunLost}}, []durable.JobRun{failed, lost}},
		{durable.LatestFilter{Node: "web%1"}, []durable.JobRun{done}},
		{durable.LatestFilter{Node: "web%2-x", Kind: "k"}, []durable.JobRun{failed, lost}},
		{durable.LatestFilter{Node: "web_1"}, nil},
		{durable.LatestFilter{Kind: "other"}, nil},
		{durable.LatestFilter{Keys: []string{"a'b", "none", "a", "a"}}, []durable.JobRun{done, failed}},
		{durable.LatestFilter{Keys: []string{"a'b", "a"}, Verdicts: []durable.Verdict{durable.RunFailed}, Node: "web%2"}, []durable.JobRun{failed}},
		{durable.LatestFilter{Keys: []string{"none"}}, nil},
		{durable.LatestFilter{Tags: []string{"slow"}}, []durable.JobRun{failed, lost}},
		{durable.LatestFilter{Tags: []string{"slow", "shop=eu"}}, []durable.JobRun{failed}},
		{durable.LatestFilter{Keys: []string{"a"}, Tags: []string{"slow"}}, nil},
		{durable.LatestFilter{Finished: durable.TimeRange{From: now.Add(-time.Second)}}, []durable.JobRun{done, failed}},
		{durable.LatestFilter{Finished: durable.TimeRange{Until: now.Add(-time.Second)}}, []durable.JobRun{lost}},
		{durable.LatestFilter{Finished: durable.TimeRange{From: now.Add(-time.Second), Until: now}, Keys: []string{"a", "a'b"}}, []durable.JobRun{failed}},
	} {
		test.f.Limit = 1
		if got := b.latest(test.f); !reflect.DeepEqual(got, test.want) {
			b.Errorf("%+v returns\n%+v, want\n%+v", test.f, got, test.want)
		}
	}
	b.change(done.Job, durable.OpDelete, durable.Applied)
	if got := b.latest(durable.LatestFilter{Limit: 10}); !reflect.DeepEqual(got, []durable.JobRun{failed, lost}) {
		b.Errorf("after one job was deleted the runs are %+v", got)
	}
}

// What a run has written is kept with its line of the history, and goes with that.
func outputKept(b *bench) {
	node := b.node("a")
	large := bytes.Repeat([]byte("\x00\xff\\x'"), 40_000)
	j := b.running(node, key("key"), every("1h0m0s"))
	for i, output := range [][]byte{large, nil, []byte("x")} {
		o := next(j, j.Due)
		o.Output = output
		for range 2 { // the answer of the first may be lost
			b.settle(node, o)
		}
		if got := must(b.store.Output(b.Context(), j.ID, int64(i+1))); !bytes.Equal(got, output) {
			b.Errorf("run %d has an output of %d bytes, want %d", i+1, len(got), len(output))
		}
		j = b.claim(node)[0]
	}
	for _, seq := range []int64{0, 4} {
		if _, err := b.store.Output(b.Context(), j.ID, seq); !errors.Is(err, durable.ErrNotFound) {
			b.Errorf("run %d that is not there: %v", seq, err)
		}
	}
	short := store.CommitRequest{Node: node, Outcomes: []durable.Outcome{next(j, j.Due)}, History: 2}
	b.ok(errOf(b.store.Commit(b.Context(), short)))
	if _, err := b.store.Output(b.Context(), j.ID, 1); !errors.Is(err, durable.ErrNotFound) {
		b.Errorf("of a run that left the history: %v", err)
	}
	if got := must(b.store.Output(b.Context(), j.ID, 3)); string(got) != "x" {
		b.Errorf("of one that did not: %q", got)
	}
}

// The dead are those that are dead, the latest first, up to the limit.
func deadLatest(b *bench) {
	node := b.node("a")
	var want []durable.ID
	for range 3 {
		j := b.running(node)
		o := outcome(j)
		o.State, o.Error = durable.Dead, "text"
		b.settle(node, o)
		want = append([]durable.ID{j.ID}, want...)
		b.pass()
	}
	b.settle(node, outcome(b.running(node)))
	b.add(time.Hour)
	for limit := range 5 {
		var got []durable.ID
		for _, d := range must(b.store.Dead(b.Context(), limit)) {
			got = append(got, d.ID)
			if j := b.get(d.ID); d.Kind != "k" || d.Error != "text" || !d.Ended.Equal(j.Updated) {
				b.Errorf("dead is %+v, the job %+v", d, j)
			}
		}
		if !slices.Equal(got, want[:min(limit, 3)]) {
			b.Errorf("%d of the dead are %v, of %v", limit, got, want)
		}
	}
}
