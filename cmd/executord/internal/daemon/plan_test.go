package daemon

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/durable"
)

// Whatever a job says, whichever runs of it there are and however late its schedule fires: each due time is one of run,
// skipped, missed and excluded, once; at most one is run, the latest that counts; and no more runs are in progress, or
// wait, than the job says.
func TestPlanAccountsForEachDueTime(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		pick := func(of ...string) string { return of[r.IntN(len(of))] }
		e := catalog.Entry{Job: durable.Job{Schedule: "rate 1m0s", Anchor: at}, Namespace: "n", Name: "j"}
		e.Key = catalog.Key("n", "j")
		e.Spec.Zone = "UTC"
		e.Spec.Overlap = pick("", "queue", "replace", "allow 1", "allow 3")
		e.Spec.Misfire = pick("", "skip", "90s", "2h", "all")
		e.Spec.Jitter = time.Duration(r.IntN(2)) * time.Hour
		e.Spec.Group = pick("", "g")
		if r.IntN(2) == 0 {
			e.Spec.Except = []string{fmt.Sprintf("%02d:00-%02d:30", r.IntN(24), r.IntN(24))}
		}
		granted := true
		for i := range r.IntN(7) {
			state := durable.Running
			if granted = granted && r.IntN(3) > 0; !granted {
				state = []durable.State{durable.Waiting, durable.Blocked, durable.Paused}[r.IntN(3)]
			}
			e.Open = append(e.Open, durable.Job{ID: durable.NewID(), Key: durable.RunKey(e.Key, int64(i+1)), State: state, Runs: r.Int64N(2)})
		}
		n := 1 + r.IntN(300)
		later := at.Add(1e6 * time.Minute)
		f := durable.Firing{Schedule: e.Job, Number: int64(len(e.Open) + 1), Open: e.Open, State: "7",
			Occurrence: at.Add(time.Duration(r.IntN(5000)+n) * time.Minute)}
		e.Skipped, e.Excluded = 7, []time.Time{later}
		for range r.IntN(3) {
			e.Excluded = append(e.Excluded, f.Occurrence.Add(-time.Duration(r.IntN(n))*time.Minute))
		}
		f.State = e.StateAfter(time.Time{}, 7)
		left := " " + later.Format(time.RFC3339)
		f.Now = f.Occurrence.Add(time.Duration(r.IntN(200)) * time.Second)
		times := func(yield func(time.Time) bool) {
			for i := n - 1; i >= 0 && yield(f.Occurrence.Add(-time.Duration(i)*time.Minute)); i-- {
			}
		}
		if n > 1 {
			f.LeftOut = durable.LeftOut{Count: n - 1, First: f.Occurrence.Add(-time.Duration(n-1) * time.Minute)}
		}
		if e.Spec.Misfire == "all" && n > 1 {
			continue // each fires alone
		}
		if r.IntN(4) == 0 { // a daemon that was killed has added the run
			due := f.Occurrence
			if !e.AllCount() {
				due = due.Add(-time.Duration(r.IntN(n)) * time.Minute)
			}
			payload, err := json.Marshal(catalog.Run{Due: due})
			if err != nil {
				t.Fatal(err)
			}
			f.Run = durable.Job{ID: durable.NewID(), Payload: payload}
			p := planOf(e, f, times, func(d time.Duration) time.Duration { return d / 2 })
			if p.LeftOut != "" || p.Later > 0 || p.State != "0"+left || !p.counts.last.Equal(due) || 1+p.missed.n+p.excluded.n != n || p.skipped.n > 0 ||
				(len(p.Cancel) > 0) != (e.Spec.Overlap == "replace" && len(e.Open) > 0) || !p.until.IsZero() {
				t.Errorf("seed %d, %+v, %d open, %d times, a run for %v: %+v", seed, e.Spec, len(e.Open), n, due, p)
			}
			continue
		}
		p := planOf(e, f, times, func(d time.Duration) time.Duration { return d / 2 })
		about := fmt.Sprintf("seed %d, %+v, %d open, %d times: %+v", seed, e.Spec, len(e.Open), n, p)

		ran := 0
		if p.LeftOut == "" && p.Later == 0 {
			ran = 1
		}
		if p.Later > 0 {
			if misfire, _ := job.ParseMisfire(e.Spec.Misfire); !misfire.All || p.State != f.State || p.counts.n+p.skipped.n+p.missed.n+p.excluded.n > 0 {
				t.Errorf("put off: %s", about)
			}
			continue
		}
		if all := ran + p.skipped.n + p.missed.n + p.excluded.n; all != n || p.counts.n != ran {
			t.Fatalf("%d of the times have become something: %s", all, about)
		}
		excluded := duesOf(e, times)
		if p.excluded != excluded.excluded || ran == 1 && (!p.counts.last.Equal(excluded.counts.last) || !p.Payload.(catalog.Run).Due.Equal(p.counts.last)) {
			t.Errorf("excluded %+v: %s", excluded, about)
		}
		switch {
		case p.skipped.n > 0 && (len(e.Open) == 0 || p.State != fmt.Sprint(7+p.skipped.n)+left || !strings.HasPrefix(p.LeftOut, "skipped: ")),
			ran == 0 && p.skipped.n == 0 && p.State != "7"+left, ran == 1 && p.State != "0"+left:
			t.Errorf("the number of times that were skipped is %s: %s", p.State, about)
		}
		if ran == 0 {
			continue
		}
		if n, first := outcome.ParseBefore("run 1, " + p.Label); n != p.missed.n || !first.Equal(p.missed.first) {
			t.Errorf("the label is %q: %s", p.Label, about)
		}
		most, room := 1, 1
		if overlap, _ := job.ParseOverlap(e.Spec.Overlap); overlap.Do == job.AllowOverlap {
			most = overlap.Most
		}
		if e.Spec.Misfire == "all" {
			room = 10
		}
		if len(p.After) > 0 && e.Spec.Jitter == 0 && p.Delay > -365*24*time.Hour {
			t.Errorf("it waits for others, and for its time if the clock is set back: %s", about)
		}
		unbegun := slices.DeleteFunc(slices.Clone(e.Open), func(run durable.Job) bool { return run.State.Granted() || run.Runs > 0 })
		switch open := len(e.Open); {
		case e.Spec.Overlap == "replace":
			if len(p.Cancel) != open || len(p.After) != open || !slices.EqualFunc(p.replaced, unbegun, func(a, b durable.Job) bool { return a.ID == b.ID }) {
				t.Errorf("not all are replaced: %s", about)
			}
		case open >= most+room, e.Spec.Overlap == "" && open > 0:
			t.Errorf("there is a run: %s", about)
		case open < most && len(p.After) > 0, open >= most && (len(p.After) != open || open-p.Need+1 > most):
			t.Errorf("it waits for %d of %d: %s", p.Need, len(p.After), about)
		}
		if late := f.Now.Sub(p.counts.last); e.Spec.Misfire == "skip" && late > job.SkipWithin || e.Spec.Misfire == "90s" && late > 90*time.Second {
			t.Errorf("it is %v late: %s", late, about)
		}
	}
}
