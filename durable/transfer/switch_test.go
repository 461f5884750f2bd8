package transfer_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/history"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/transfer"
)

// A program is a node, and what its handlers write down.
type program struct {
	*durable.Jobs
	kind *durable.Kind[int, int]
	end  func() // ends the node, and returns when it has drained
}

// ledger is what the handlers of all programs have begun.
type ledger struct {
	sync.Mutex
	starts []history.Start
	seen   chan struct{} // one for each
}

func newProgram(t *testing.T, s store.Store, l *ledger) *program {
	t.Helper()
	pool := executor.Scheduled(4)
	jobs := must(durable.New(durable.Config{Store: s, Executor: pool, History: 1000, Keep: durable.Retention{Succeeded: -1, Dead: -1, History: -1}}))
	p := &program{Jobs: jobs}
	p.kind = durable.Handle(jobs, "k", func(ctx context.Context, n int) (int, error) {
		run, _ := durable.Current(ctx)
		l.Lock()
		l.starts = append(l.starts, history.Start{Job: run.ID, Epoch: run.Epoch, Occurrence: run.Occurrence, At: time.Now()})
		l.Unlock()
		l.seen <- struct{}{}
		return n, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- jobs.Run(ctx) }()
	p.end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		pool.Close()
	})
	t.Cleanup(p.end)
	return p
}

// Programs add and run jobs until they are ended for the switch, and go on with the other store: nothing is lost, and
// nothing is committed twice. Each export that is made meanwhile is of one moment.
func TestSwitchWhileProgramsWork(t *testing.T) {
	for _, way := range [][2]int{{1, 2}, {2, 1}, {0, 1}} {
		from, to := places[way[0]], places[way[1]]
		t.Run(from.name+" to "+to.name, func(t *testing.T) {
			old := from.open(t)
			l := &ledger{seen: make(chan struct{}, 10_000)}
			p := newProgram(t, old, l)
			var accepted []durable.ID
			id := must(p.kind.AtFixedRate(t.Context(), "every", 0, 20*time.Millisecond, 0, durable.OnMissed(durable.CatchUp(10_000))))
			accepted = append(accepted, id)
			for i := range 200 {
				delay := time.Duration(i%7) * 10 * time.Millisecond
				if i%10 == 0 {
					delay = 2 * time.Second // after the switch
				}
				accepted = append(accepted, must(p.kind.Schedule(t.Context(), delay, i, durable.Key(fmt.Sprint("key/", i)))))
				if i%50 == 0 {
					consistent(t, text(t, old))
				}
			}
			for range 100 {
				<-l.seen
			}
			p.end()
			move(t, old, to.open(t)) // a rehearsal
			final := text(t, old)
			target := to.open(t)
			result := must(transfer.Import(t.Context(), target, bytes.NewReader(final), transfer.Options{}))
			if result.Freed != 0 || result.Jobs != len(accepted) {
				t.Errorf("imported: %+v, of %d jobs", result, len(accepted))
			}
			q := newProgram(t, target, l)
			for _, id := range accepted[1:] {
				if j := must(target.Get(t.Context(), id)); j.State == store.Succeeded {
					continue
				}
				if _, err := q.kind.Await(t.Context(), id); err != nil {
					t.Error(err)
				}
			}
			q.end()
			v := must((&history.Record{Starts: l.starts, Accepted: accepted}).Check(t.Context(), target))
			if len(v.Faults) > 0 || v.Lost > 0 || v.Missing > 0 || v.Doubled > 0 || v.Twice > 0 {
				t.Errorf("%+v", v)
			}
		})
	}
}

// consistent holds that an export is of one moment: each job has as many runs as it counts.
func consistent(t *testing.T, exported []byte) {
	t.Helper()
	s := places[0].open(t)
	must(transfer.Import(t.Context(), s, bytes.NewReader(exported), transfer.Options{}))
	for _, j := range must(s.List(t.Context(), store.Filter{Limit: 10_000})) {
		if runs := must(s.Runs(t.Context(), j.ID, 0, 10_000)); int64(len(runs)) != j.Runs {
			t.Errorf("job %v has %d runs in the history, and counts %d", j.ID, len(runs), j.Runs)
		}
	}
}
