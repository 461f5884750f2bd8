package executor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// A worker is free at any time if there are fewer long bodies than workers. Then no
// task is late by a nanosecond, whatever else is asked of the pool.
func TestNoTaskIsLateWhileAWorkerIsFree(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newPunctual(t, seed).play() })
		})
	}
}

// punctual is a pool whose tasks look at the clock.
type punctual struct {
	*testing.T
	seed uint64
	long int // bodies that take time
	pool *executor.ScheduledPool
}

func newPunctual(t *testing.T, seed uint64) *punctual {
	r := rand.New(rand.NewPCG(seed, 0))
	core := 2 + r.IntN(4)
	return &punctual{t, seed, r.IntN(core), newScheduled(t, executor.ScheduledConfig{
		Core: core, KeepAlive: moment(r, 1, 5), AllowCoreTimeout: r.IntN(2) == 0, RetainCanceled: r.IntN(3) == 0,
		Hooks: executor.Hooks{OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) {}},
	})}
}

// moment draws some milliseconds.
func moment(r *rand.Rand, least, most int) time.Duration {
	return time.Duration(least+r.IntN(most-least+1)) * time.Millisecond
}

// body gives one that is due at the time given, takes some time, and ends in any way.
func (p *punctual) body(due time.Time, takes time.Duration, end int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		if late := time.Since(due); late > 0 {
			p.Errorf("%v late: %+v", late, p.pool.Stats())
		}
		time.Sleep(takes)
		switch end {
		case 0:
			panic("as it was told")
		case 1:
			runtime.Goexit()
		}
		return 0, nil
	}
}

func (p *punctual) play() {
	var wg sync.WaitGroup
	for i := range p.long {
		wg.Go(func() { p.chain(rand.New(rand.NewPCG(p.seed, uint64(100+i)))) })
	}
	for i := range 1 + p.seed%3 {
		wg.Go(func() { p.calls(rand.New(rand.NewPCG(p.seed, 1+i))) })
	}
	wg.Wait()
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
	if s := checkStats(p, p.pool); s.Active != 0 || s.Queued != 0 && !p.pool.RetainCanceled() {
		p.Errorf("left: %+v", s)
	}
}

// chain has long bodies run one after the other.
func (p *punctual) chain(r *rand.Rand) {
	for range 30 {
		delay := moment(r, 0, 3)
		f := executor.Schedule(context.Background(), p.pool, delay, p.body(time.Now().Add(delay), moment(r, 0, 7), r.IntN(8)))
		<-f.Done() // its worker is free before the time goes on
	}
}

// calls asks the pool for one thing after the other.
func (p *punctual) calls(r *rand.Rand) {
	ctx := context.Background()
	var tasks []interface {
		executor.Runnable
		Cancel() bool
	}
	for range 60 {
		switch op := r.IntN(16); {
		case op < 4:
			delay := moment(r, 0, 9)
			tasks = append(tasks, executor.Schedule(ctx, p.pool, delay, p.body(time.Now().Add(delay), 0, r.IntN(10))))
		case op < 5:
			due := time.Now().Add(moment(r, 0, 9))
			tasks = append(tasks, executor.At(ctx, p.pool, due, p.body(due, 0, r.IntN(10))))
		case op < 6:
			period := moment(r, 1, 5)
			due := time.Now()
			f, err := p.pool.AtFixedRate(ctx, period, period, func(ctx context.Context) error {
				due = due.Add(period)
				p.body(due, 0, 2)(ctx)
				return nil
			}, executor.Times(1+r.IntN(10)))
			if err != nil {
				p.Error(err)
			}
			tasks = append(tasks, f)
		case op < 11 && len(tasks) > 0:
			if f := tasks[r.IntN(len(tasks))]; op < 10 {
				f.Cancel()
			} else {
				p.pool.Remove(f)
			}
		case op < 12:
			p.pool.Purge()
		case op < 13:
			p.pool.SetKeepAlive(moment(r, 1, 5))
			p.pool.SetAllowCoreTimeout(r.IntN(2) == 0)
		case op < 14:
			p.pool.SetCore(p.long + 1 + r.IntN(3))
		default:
			time.Sleep(moment(r, 0, 7))
		}
		checkStats(p, p.pool)
	}
}
