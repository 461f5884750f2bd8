package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// byRhythm is the number of missed runs that a series without CatchUp makes up for, in the model.
const byRhythm = -1

// modelSeries is what a series has to do for whose runs there are always workers. Times are since the beginning.
type modelSeries struct {
	number int
	kind   scheduleKind
	period time.Duration
	work   time.Duration
	madeUp int           // the missed runs, at most
	window time.Duration // 0 for none
	times  int64         // 0 for any number
	endAt  int64         // the run that ends in the way of exit
	exit   exit
	goesOn bool // after a panic
	most   int  // runs at the same time

	slot    time.Duration // when the next run is due by the rhythm, or the present one was
	paused  bool
	called  bool
	callAt  time.Duration
	begun   int64
	running []modelRun    // in progress, in the order in which they began
	inSlot  bool          // the run in progress, if only one may be, is that of the slot
	free    time.Duration // since when a run may begin

	state                   executor.State
	runs, failures, leftOut int64
	log                     *[]programRun
}

type modelRun struct {
	number int64
	since  time.Duration
}

// takes returns how long a run takes. No two runs that overlap end at the same time, and none
// does when another is due: their order would be left to chance.
func (m *modelSeries) takes(run int64) time.Duration {
	if m.most == 1 {
		return m.work
	}
	return m.work + 300*time.Microsecond + time.Duration(run)
}

// ends returns when the oldest run in progress ends.
func (m *modelSeries) ends() time.Duration { return m.running[0].since + m.takes(m.running[0].number) }

func (m *modelSeries) full() bool   { return len(m.running) >= m.most }
func (m *modelSeries) usedUp() bool { return m.times > 0 && m.begun == m.times }

// after returns the time after t by the rhythm.
func (m *modelSeries) after(t time.Duration) time.Duration {
	if m.kind == triggerKind {
		return nextTrigger(t, m.period)
	}
	return t + m.period
}

// passed reports whether t is over at now: a trigger is asked for times after now.
func (m *modelSeries) passed(t, now time.Duration) bool {
	return t < now || m.kind == triggerKind && t == now
}

func (m *modelSeries) tooLate(t, now time.Duration) bool { return m.window > 0 && now-t > m.window }

// settle moves the slot past the times that are missed at now, and returns their number.
func (m *modelSeries) settle(now time.Duration, madeUp int) (missed int64) {
	if m.kind == delayKind {
		return 0
	}
	if madeUp == byRhythm {
		if madeUp = math.MaxInt; m.kind == triggerKind {
			madeUp = 0
		}
	}
	var times []time.Duration
	for t := m.slot; t <= now; t = m.after(t) {
		times = append(times, t)
	}
	for i, t := range times {
		if !m.passed(t, now) || len(times)-i <= madeUp && !m.tooLate(t, now) {
			break
		}
		m.slot = m.after(t)
		missed++
	}
	return missed
}

// use finds the slot after that of a run that has ended, or was left out.
func (m *modelSeries) use(now time.Duration) {
	m.slot = m.after(m.slot)
	m.keep(now)
}

// keep finds the slot after something else has taken time.
func (m *modelSeries) keep(now time.Duration) {
	if m.kind == delayKind {
		m.slot = now + m.period
	}
	m.leftOut += m.settle(now, m.madeUp)
}

// advance plays what happens up to now.
func (m *modelSeries) advance(now time.Duration) {
	for {
		begins := m.slot
		if begins = max(begins, m.free); m.called {
			begins = m.callAt
		}
		waits := !m.full() && !m.usedUp() && !m.state.Done() && (m.called || !m.paused) && begins <= now
		switch ends := len(m.running) > 0 && m.ends() <= now; {
		case ends && (!waits || m.ends() <= begins):
			m.finish(m.ends())
		case !waits:
			return
		case m.called:
			m.called = false
			m.begin(m.callAt, m.callAt, false)
		case m.tooLate(m.slot, begins):
			m.leftOut++
			m.use(begins)
		default:
			m.begin(begins, m.slot, true)
		}
	}
}

func (m *modelSeries) begin(now, due time.Duration, inSlot bool) {
	m.begun++
	m.running = append(m.running, modelRun{m.begun, now})
	m.state = executor.Running
	*m.log = append(*m.log, programRun{m.number, now, due, m.begun})
	m.free = now
	if m.inSlot = inSlot; m.most > 1 {
		m.move(now)
	}
}

// move finds the next slot: when a run has ended or, if runs may overlap, when one has begun.
func (m *modelSeries) move(now time.Duration) {
	switch {
	case m.most > 1 && m.usedUp():
	case m.inSlot:
		m.use(now)
	default:
		m.keep(now)
	}
}

func (m *modelSeries) finish(now time.Duration) {
	wasFull, run := m.full(), m.running[0]
	m.running = slices.Clone(m.running[1:])
	m.runs++
	how := endsWell
	if run.number == m.endAt {
		how = m.exit
	}
	if how == endsWithError || how == endsWithPanic {
		m.failures++
	}
	if m.free = now; m.state.Done() { // canceled during the run
		return
	}
	switch {
	case how == endsWithDone:
		m.state = executor.Succeeded
	case how == endsWithPanic && !m.goesOn:
		m.state = executor.Failed
	case m.usedUp() && len(m.running) == 0:
		m.state = executor.Succeeded
	case m.most == 1:
		m.state = executor.Pending
		m.move(now)
	default:
		if len(m.running) == 0 {
			m.state = executor.Pending
		}
		if wasFull && !m.usedUp() {
			m.keep(now)
		}
	}
}

// next is what Info shows as the time of the next run.
func (m *modelSeries) next(now time.Duration) (at time.Duration, ok bool) {
	switch {
	case m.paused || m.state.Done() || m.usedUp() || m.full() && m.kind == delayKind:
		return 0, false
	case m.full():
		ended := *m
		if ended.inSlot && m.most == 1 {
			ended.use(now)
		} else {
			ended.keep(now)
		}
		return ended.slot, true
	}
	return m.slot, true
}

func (m *modelSeries) pause() bool {
	did := !m.paused && !m.state.Done()
	m.paused = m.paused || did
	return did
}

func (m *modelSeries) resume(now time.Duration) bool {
	if !m.paused || m.state.Done() {
		return false
	}
	m.paused = false
	switch {
	case m.most == 1 && m.full() && m.inSlot, m.most > 1 && m.usedUp():
	case m.kind == delayKind:
		m.slot = max(m.slot, now)
	default:
		m.settle(now, 0)
	}
	m.free = max(m.free, now)
	return true
}

func (m *modelSeries) runNow(now time.Duration) error {
	switch {
	case m.state.Done():
		return executor.ErrDone
	case m.full() || m.usedUp():
		return executor.ErrRunning
	}
	m.called, m.callAt = true, now
	return nil
}

func (m *modelSeries) reschedule(now time.Duration, kind scheduleKind, period time.Duration) error {
	switch {
	case kind == delayKind && (m.madeUp != byRhythm || m.most > 1):
		return executor.ErrInvalid
	case m.state.Done():
		return executor.ErrDone
	}
	m.kind, m.period, m.inSlot = kind, period, false
	m.slot = m.after(now)
	return nil
}

func (m *modelSeries) cancel() bool {
	did := !m.state.Done()
	if did {
		m.state = executor.Canceled
	}
	return did
}

// seriesProgram is a program of calls on the series of a pool, each of which has a worker.
type seriesProgram struct {
	program
	pool   *executor.ScheduledPool
	series []*executor.Series
	models []*modelSeries
	runs   []programRun // of the models
}

func (p *seriesProgram) now() time.Duration { return time.Since(p.begin) }

func (p *seriesProgram) rhythm(kind scheduleKind, period time.Duration) executor.Trigger {
	switch kind {
	case rateKind:
		return executor.FixedRate(period)
	case delayKind:
		return executor.FixedDelay(period)
	}
	return testkit.TriggerFunc(func(t time.Time) time.Time {
		return p.begin.Add(nextTrigger(t.Sub(p.begin), period)).Round(0)
	})
}

func (p *seriesProgram) step() {
	if op := p.next(16); op == 0 || len(p.series) == 0 {
		if len(p.series) < 6 {
			p.submit()
		}
	} else {
		p.call(op, p.next(len(p.series)))
	}
}

func (p *seriesProgram) call(op, i int) {
	s, m := p.series[i], p.models[i]
	switch {
	case op < 3:
		expect(p.t, "Pause", s.Pause(), m.pause())
	case op < 6:
		expect(p.t, "Resume", s.Resume(), m.resume(p.now()))
	case op < 9:
		expect(p.t, "RunNow", s.RunNow(), m.runNow(p.now()))
	case op < 11:
		kind, period := p.kind(), p.ms(5)+time.Millisecond
		err, want := s.Reschedule(p.rhythm(kind, period)), m.reschedule(p.now(), kind, period)
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			p.t.Errorf("Reschedule: %v, want %v", err, want)
		}
	case op == 11 && p.next(4) == 0:
		expect(p.t, "Cancel", s.Cancel(), m.cancel())
	case op == 12 && p.next(4) == 0:
		expect(p.t, "Abandon", s.Abandon(), m.cancel())
	default:
		time.Sleep(p.ms(8))
	}
}

func (p *seriesProgram) kind() scheduleKind {
	return []scheduleKind{rateKind, delayKind, triggerKind}[p.next(3)]
}

func (p *seriesProgram) submit() {
	m := &modelSeries{
		number: len(p.models), kind: p.kind(), period: p.ms(5) + time.Millisecond, work: p.ms(8),
		most: max(1, p.next(5)-1), madeUp: []int{byRhythm, 0, 1, 2, 3, math.MaxInt}[p.next(6)],
		endAt: int64(1 + p.next(6)), exit: exit(max(0, p.next(12)-8)), log: &p.runs,
	}
	var chosen []executor.Option
	if m.kind == delayKind {
		m.madeUp, m.most = byRhythm, 1
	}
	if m.most > 1 {
		chosen = append(chosen, executor.Overlap(m.most))
	}
	if m.madeUp != byRhythm {
		chosen = append(chosen, executor.CatchUp(m.madeUp))
	}
	if m.goesOn = p.next(2) == 0; m.goesOn {
		chosen = append(chosen, executor.ContinueAfterPanic())
	}
	if m.paused = p.next(4) == 0; m.paused {
		chosen = append(chosen, executor.StartPaused())
	}
	if p.next(3) == 0 {
		m.window = p.ms(6) + time.Millisecond/2
		chosen = append(chosen, executor.StartWithin(m.window))
	}
	if m.times = int64(p.next(12)); m.times > 0 {
		chosen = append(chosen, executor.Times(int(m.times)))
	}
	m.slot = m.after(p.now())
	body := func(ctx context.Context) error {
		run := ctx.Value(contextKey{}).(int64)
		p.note(programRun{task: m.number, due: executor.Due(ctx).Sub(p.begin), number: run})
		time.Sleep(m.takes(run))
		if run != m.endAt {
			return nil
		}
		switch m.exit {
		case endsWithError:
			return errTask
		case endsWithDone:
			return executor.ErrStop
		case endsWithPanic:
			panic("bad")
		}
		return nil
	}
	ctx := context.Background()
	var s *executor.Series
	var err error
	switch m.kind {
	case rateKind:
		s, err = p.pool.AtFixedRate(ctx, m.period, m.period, body, chosen...)
	case delayKind:
		s, err = p.pool.WithFixedDelay(ctx, m.period, m.period, body, chosen...)
	case triggerKind:
		trigger := testkit.TriggerFunc(func(t time.Time) time.Time {
			return p.begin.Add(nextTrigger(t.Sub(p.begin), m.period)).Round(0)
		})
		s, err = p.pool.On(ctx, trigger, body, chosen...)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.series, p.models = append(p.series, s), append(p.models, m)
}

// compare compares the pool, whose goroutines are all blocked, with the models.
func (p *seriesProgram) compare() {
	now, listed := p.now(), 0
	for _, m := range p.models {
		m.advance(now)
		if !m.state.Done() {
			listed++
		}
	}
	p.sameRuns(p.runs, true)
	for i, m := range p.models {
		got := p.series[i].Info()
		if got.State != m.state || got.Runs != m.runs || got.Failures != m.failures ||
			!m.state.Done() && (got.Paused != m.paused || got.LeftOut != m.leftOut) {
			p.t.Fatalf("after %v series %d is %+v, in the model %+v", now, i, got, m)
		}
		if got.Running != len(m.running) || got.Running > 0 && got.RunningSince.Sub(p.begin) != m.running[0].since {
			p.t.Fatalf("after %v series %d runs since %v, in the model %+v", now, i, got.RunningSince, m)
		}
		if next, ok := m.next(now); ok != !got.Next.IsZero() || ok && got.Next.Sub(p.begin) != next {
			p.t.Fatalf("after %v series %d is next at %v, in the model at %v: %+v", now, i, got.Next.Sub(p.begin), next, m)
		}
	}
	expect(p.t, "listed", len(p.pool.Schedules()), listed)
	checkStats(p.t, p.pool)
}

func runSeries(t *testing.T, code []byte) {
	p := &seriesProgram{program: newProgram(t, code)}
	p.pool = newScheduled(t, executor.ScheduledConfig{Workers: 24, Slack: -1, Hooks: executor.Hooks{
		BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
			return context.WithValue(ctx, contextKey{}, info.Run)
		},
		OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) {},
	}})
	p.play(40, p.step, p.compare)
}

// Whatever is called, the runs of series, and what is shown of them, are those of a simple model, and
// so are the results. EXECUTOR_SEED=n repeats a failure.
func TestSeriesModel(t *testing.T) { playRandom(t, 400, 620, runSeries) }

// FuzzSeries is TestSeriesModel for programs that the fuzzer finds.
func FuzzSeries(f *testing.F) {
	f.Add([]byte{0, 0, 1, 1, 5, 0, 3, 2, 1, 0, 2, 20, 3, 11, 0})
	f.Add([]byte{1, 0, 1, 0, 8, 2, 1, 0, 3, 0, 2, 16, 4, 20, 5, 17, 0, 20, 5})
	f.Fuzz(func(t *testing.T, code []byte) {
		synctest.Test(t, func(t *testing.T) { runSeries(t, code) })
	})
}

// everySecond is a Trigger at each full second.
var everySecond = testkit.TriggerFunc(func(t time.Time) time.Time { return t.Truncate(time.Second).Add(time.Second) })

// With Overlap a run that is due begins beside those in progress, up to the limit. What becomes of
// the times that come while there are so many is as for any missed time.
func TestSeriesOverlap(t *testing.T) {
	for _, c := range []struct {
		n    int
		work time.Duration
		opts []executor.Option
		want string
		left int64
	}{
		{3, 2500 * time.Millisecond, nil, "[x@1s x@2s x@3s x@4s x@5s x@6s x@7s x@8s]", 0},
		{2, 3500 * time.Millisecond, []executor.Option{executor.CatchUp(math.MaxInt)}, "[x@1s x@2s x@4.5s x@5.5s x@8s]", 0},
		{2, 3500 * time.Millisecond, []executor.Option{executor.CatchUp(0)}, "[x@1s x@2s x@5s x@6s]", 2},
		{2, 3500 * time.Millisecond, []executor.Option{executor.CatchUp(1)}, "[x@1s x@2s x@4.5s x@5.5s x@8s]", 3},
		{1, 1500 * time.Millisecond, []executor.Option{executor.CatchUp(0)}, "[x@1s x@3s x@5s x@7s]", 3},
	} {
		for _, rhythm := range []executor.Trigger{executor.FixedRate(time.Second), everySecond} {
			synctest.Test(t, func(t *testing.T) {
				p, d := scheduled(t, 5), newDiary()
				opts := append(c.opts, executor.Overlap(c.n))
				if c.opts == nil {
					opts = append(opts, executor.CatchUp(math.MaxInt))
				}
				s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, func(context.Context) error {
					d.Note("x")
					time.Sleep(c.work)
					return nil
				}, opts...))
				s.Reschedule(rhythm)
				elapse(8100 * time.Millisecond)
				expect(t, s.Info().Rhythm, fmt.Sprint(d.Notes()), c.want)
				expect(t, s.Info().Rhythm+": left out", s.Info().LeftOut, c.left)
				checkStats(t, p)
			})
		}
	}
}

// Hooks see each run with its own number and due time, and with name and timeout of the series.
func TestSeriesOverlapInfo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var infos []string
		begin := time.Now()
		p := newScheduled(t, executor.ScheduledConfig{Workers: 3, Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, i executor.TaskInfo) context.Context {
				mu.Lock()
				defer mu.Unlock()
				infos = append(infos, fmt.Sprintf("%s %d due %v, %T", i.Name, i.Run, i.Due.Sub(begin), i.Task))
				return ctx
			},
		}})
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, testkit.AnHour,
			executor.Named("x"), executor.Overlap(2), executor.Timeout(90*time.Second)))
		elapse(10 * time.Second)
		i := s.Info()
		expect(t, "running", i.Running, 2)
		expect(t, "state", i.State, executor.Running)
		expect(t, "state", s.State(), executor.Running)
		expect(t, "since", i.RunningSince.Sub(begin), time.Second)
		expect(t, "next", i.Next.Sub(begin), 3*time.Second) // overdue
		expect(t, "listed", len(p.Schedules()), 1)
		elapse(81500 * time.Millisecond)
		expect(t, "runs", s.Runs(), 1)
		expectIs(t, "last error", s.LastError(), executor.ErrTimeout)
		expect(t, "hooks", fmt.Sprint(infos), "[x 1 due 1s, *executor.Series x 2 due 2s, *executor.Series x 3 due 3s, *executor.Series]")
	})
}

// Times counts the runs that have begun; the series is done when the last of them has ended. A
// trigger that has no more times ends it in the same way.
func TestSeriesOverlapEnds(t *testing.T) {
	threeTimes := testkit.TriggerFunc(func(at time.Time) time.Time {
		if at.Sub(at.Truncate(time.Minute)) >= 3*time.Second {
			return time.Time{}
		}
		return at.Truncate(time.Second).Add(time.Second)
	})
	type submission = func(*executor.ScheduledPool, func(context.Context) error) (*executor.Series, error)
	for name, submit := range map[string]submission{
		"Times": func(p *executor.ScheduledPool, f func(context.Context) error) (*executor.Series, error) {
			return p.AtFixedRate(context.Background(), time.Second, time.Second, f, executor.Overlap(4),
				executor.Times(3))
		},
		"Until": func(p *executor.ScheduledPool, f func(context.Context) error) (*executor.Series, error) {
			return p.AtFixedRate(context.Background(), time.Second, time.Second, f, executor.Overlap(4),
				executor.Until(time.Now().Add(3500*time.Millisecond)))
		},
		"the trigger": func(p *executor.ScheduledPool, f func(context.Context) error) (*executor.Series, error) {
			return p.On(context.Background(), threeTimes, f, executor.Overlap(4))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, d := scheduled(t, 8), newDiary()
				work := []time.Duration{20 * time.Second, 5 * time.Second, time.Second}
				var run atomic.Int32
				s := mustRepeat(t)(submit(p, func(context.Context) error {
					d.Note("x")
					time.Sleep(work[run.Add(1)-1])
					return nil
				}))
				elapse(10 * time.Second)
				expect(t, "Next", s.Info().Next, time.Time{})
				expect(t, "RunNow", s.RunNow(), executor.ErrRunning)
				testkit.StateIs(t, "the series", s, executor.Running)
				expect(t, "outcome", s.Wait(t.Context()), nil)
				expect(t, "end", time.Since(d.Begin), 21*time.Second)
				d.Check(t, "x@1s", "x@2s", "x@3s")
				expect(t, "succeeded", waitStats(t, p).Succeeded, 4) // the series, too
			})
		})
	}
}

// A run that returns Stop ends the series at once. The other runs go on.
func TestSeriesOverlapStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 5), newDiary()
		var run atomic.Int32
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, func(context.Context) error {
			d.Note("x")
			if run.Add(1) == 2 {
				return executor.ErrStop
			}
			time.Sleep(10 * time.Second)
			return nil
		}, executor.Overlap(3)))
		expect(t, "outcome", s.Wait(t.Context()), nil)
		expect(t, "end", time.Since(d.Begin), 2*time.Second)
		expect(t, "running", s.Info().Running, 1)
		expect(t, "Join", s.Join(t.Context()), nil)
		expect(t, "return of the other", time.Since(d.Begin), 11*time.Second)
		d.Check(t, "x@1s", "x@2s")
		expect(t, "failures", s.Info().Failures, 0)
		expect(t, "succeeded", waitStats(t, p).Succeeded, 3)
	})
}

// Stop is not logged as a failure, and a series that has run is not reported as dropped.
func TestSeriesOverlapReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		dropped := 0
		p := newScheduled(t, executor.ScheduledConfig{
			Workers: 2, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Hooks: executor.Hooks{Dropped: func(context.Context, executor.TaskInfo, error) { dropped++ }},
		})
		stops := func(context.Context) error { return executor.ErrStop }
		mustRepeat(t)(p.AtFixedRate(t.Context(), 0, time.Second, stops, executor.Overlap(2))).Wait(t.Context())
		ran := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, time.Second, nop, executor.Overlap(2)))
		elapse(time.Minute)
		ran.Cancel()
		expect(t, "dropped after runs", dropped, 0)
		mustRepeat(t)(p.AtFixedRate(t.Context(), time.Hour, time.Second, nop, executor.Overlap(2))).Cancel()
		synctest.Wait()
		expect(t, "dropped without a run", dropped, 1)
		expect(t, "log", log.String(), "")
	})
}

// A panic ends the series, as failed, unless it may continue. The other runs go on.
func TestSeriesOverlapPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 5)
		var run atomic.Int32
		body := func(context.Context) error {
			if run.Add(1) == 2 {
				panic("bad")
			}
			time.Sleep(3500 * time.Millisecond)
			return nil
		}
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, body, executor.Overlap(3)))
		elapse(2500 * time.Millisecond)
		testkit.StateIs(t, "the series", s, executor.Failed)
		var perr *executor.PanicError
		expect(t, "outcome is a panic", errors.As(s.Err(), &perr), true)
		begin := time.Now()
		expect(t, "Join", s.Join(t.Context()), nil)
		expect(t, "Join waited", time.Since(begin), 2*time.Second)
		expect(t, "runs", s.Runs(), 2)

		run.Store(0)
		s = mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, body, executor.Overlap(3),
			executor.ContinueAfterPanic(), executor.Times(4)))
		expect(t, "outcome", s.Wait(t.Context()), nil)
		expect(t, "failures", s.Info().Failures, 1)
		expect(t, "panics", waitStats(t, p).Panics, 2)
	})
}

// A run whose BeforeTask hook panics ends the series.
func TestSeriesOverlapBeforeTaskPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Workers: 2, Hooks: executor.Hooks{
			BeforeTask: func(context.Context, executor.TaskInfo) context.Context { panic("no") },
		}})
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, nop, executor.Overlap(2)))
		elapse(2 * time.Second)
		testkit.StateIs(t, "the series", s, executor.Failed)
		expect(t, "running", s.Info().Running, 0)
		expect(t, "runs", s.Runs(), 0)
	})
}

// Whatever cancels a series ends the contexts of all its runs, except Abandon. Join waits for them.
func TestSeriesOverlapCancel(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(*executor.ScheduledPool, *executor.Series, context.CancelFunc)
		ended bool
	}{
		"Cancel":      {func(_ *executor.ScheduledPool, s *executor.Series, _ context.CancelFunc) { s.Cancel() }, true},
		"Abandon":     {func(_ *executor.ScheduledPool, s *executor.Series, _ context.CancelFunc) { s.Abandon() }, false},
		"its context": {func(_ *executor.ScheduledPool, _ *executor.Series, end context.CancelFunc) { end() }, true},
		"Shutdown":    {func(p *executor.ScheduledPool, _ *executor.Series, _ context.CancelFunc) { p.Shutdown() }, false},
		"ShutdownNow": {func(p *executor.ScheduledPool, _ *executor.Series, _ context.CancelFunc) { p.ShutdownNow() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := scheduled(t, 5)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var ended atomic.Int32
				s := mustRepeat(t)(p.AtFixedRate(ctx, 0, time.Second, func(ctx context.Context) error {
					time.Sleep(time.Minute)
					if ctx.Err() != nil {
						ended.Add(1)
					}
					return nil
				}, executor.Overlap(3)))
				elapse(10 * time.Second)
				c.end(p, s, cancel)
				testkit.StateIs(t, "the series", s, executor.Canceled)
				expect(t, "Join", s.Join(t.Context()), nil)
				expect(t, "runs", s.Runs(), 3)
				expect(t, "contexts that ended", ended.Load(), map[bool]int32{true: 3}[c.ended])
				waitStats(t, p)
			})
		})
	}
}

// A series that is canceled while runs wait for a worker has none of them.
func TestSeriesOverlapCancelWaitingRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func("x"), executor.Overlap(2),
			executor.Named("x")))
		executor.SubmitAt(t.Context(), p, time.Now().Add(time.Second), func(context.Context) (int, error) {
			s.Cancel() // before the run has its turn
			return 0, nil
		})
		elapse(time.Minute)
		if runs := len(d.Notes()); runs > 1 {
			t.Errorf("%d runs", runs)
		}
		expect(t, "Join", s.Join(t.Context()), nil)
		waitStats(t, p)
	})
}

// No run begins once the series is done, however it has ended.
func TestSeriesOverlapEndsWaitingRuns(t *testing.T) {
	type ends func(*executor.ScheduledPool, *executor.Series) error
	for name, c := range map[string]struct {
		by, run ends // in another task, or in the first run
		want    error
	}{
		"Abandon":  {by: func(_ *executor.ScheduledPool, s *executor.Series) error { s.Abandon(); return nil }, want: executor.ErrCanceled},
		"Remove":   {by: func(p *executor.ScheduledPool, s *executor.Series) error { p.Remove(s); return nil }, want: executor.ErrCanceled},
		"Shutdown": {by: func(p *executor.ScheduledPool, _ *executor.Series) error { p.Shutdown(); return nil }, want: executor.ErrShutdown},
		"Stop":     {run: func(*executor.ScheduledPool, *executor.Series) error { return executor.ErrStop }, want: executor.ErrCanceled},
		"panic":    {run: func(*executor.ScheduledPool, *executor.Series) error { panic("no") }, want: executor.ErrCanceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var dropped []error
				p := newScheduled(t, executor.ScheduledConfig{Workers: 2, Hooks: executor.Hooks{
					Dropped: func(_ context.Context, _ executor.TaskInfo, err error) { dropped = append(dropped, err) },
				}})
				runs := 0
				s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, func(context.Context) error {
					if runs++; runs > 1 {
						t.Error("a run has begun after the end")
					}
					time.Sleep(1500 * time.Millisecond)
					if c.run != nil {
						return c.run(p, nil)
					}
					return nil
				}, executor.Overlap(3)))
				elapse(1100 * time.Millisecond)
				executor.SubmitAfter(t.Context(), p, 900*time.Millisecond, func(context.Context) (int, error) { // with the second run
					time.Sleep(400 * time.Millisecond)
					if c.by != nil {
						return 0, c.by(p, s)
					}
					time.Sleep(time.Second)
					return 0, nil
				})
				elapse(time.Minute)
				expect(t, "runs", s.Runs(), 1)
				expect(t, "dropped", len(dropped), 1)
				for _, err := range dropped {
					expectIs(t, "why", err, c.want)
				}
				checkStats(t, p)
			})
		})
	}
}

// RunNow runs beside a run in progress, as far as the limit allows.
func TestSeriesOverlapRunNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 5), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Hour, time.Hour, func(context.Context) error {
			d.Note("x")
			time.Sleep(time.Minute)
			return nil
		}, executor.Overlap(2)))
		for _, want := range []error{nil, nil, executor.ErrRunning} {
			expect(t, "RunNow", s.RunNow(), want)
			elapse(time.Second)
		}
		expect(t, "a full series waits for long", time.Until(s.Next()) > time.Hour, true)
		elapse(time.Minute)
		expect(t, "Next", s.Next().Sub(d.Begin), time.Hour)
		elapse(time.Hour)
		d.Check(t, "x@0s", "x@1s", "x@1h0m0s")
	})
}

// A pause keeps further runs from beginning, and those in progress go on; a full series may be
// rescheduled.
func TestSeriesOverlapPauseAndReschedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 5), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, 10*time.Second, func(context.Context) error {
			d.Note("x")
			time.Sleep(25 * time.Second)
			return nil
		}, executor.Overlap(2), executor.CatchUp(0)))
		elapse(15 * time.Second) // two in progress
		s.Pause()
		elapse(time.Minute)
		expect(t, "running", s.Info().Running, 0)
		s.Resume()
		elapse(20 * time.Second) // at 80 and 90
		expect(t, "Reschedule", s.Reschedule(executor.FixedRate(time.Second)), nil)
		elapse(15*time.Second - 1)
		d.Check(t, "x@0s", "x@10s", "x@1m20s", "x@1m30s", "x@1m45s")
	})
}

// In a pool with one worker, no two runs overlap whatever the limit is.
func TestSeriesOverlapOneWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 1), newDiary()
		s := mustRepeat(t)(p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func("x", 5*time.Second),
			executor.Overlap(3), executor.Times(4)))
		expect(t, "outcome", s.Wait(t.Context()), nil)
		d.Check(t, "x@1s", "x@6s", "x@6s", "x@6s")
	})
}

// Overlap is an error where it has no effect.
func TestSeriesOverlapInvalid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		_, err := p.WithFixedDelay(t.Context(), 0, time.Second, nop, executor.Overlap(2))
		expectIs(t, "with a fixed delay", err, executor.ErrInvalid)
		expect(t, "text", fmt.Sprint(err), "executor: WithFixedDelay: Overlap has no effect on a fixed delay, "+
			"which counts from the end of a run; leave it out")
	})
}

// Runs that overlap may be managed from everywhere while they come and go.
func TestSeriesOverlapConcurrently(t *testing.T) {
	for range testkit.Scale(20) {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, 6)
			var inside, most atomic.Int32
			s := mustRepeat(t)(p.AtFixedRate(t.Context(), 0, 1, func(context.Context) error {
				n := inside.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				time.Sleep(3 * time.Nanosecond)
				inside.Add(-1)
				return nil
			}, executor.Overlap(3), executor.Times(300)))
			for range 60 {
				for _, f := range []func(){
					func() { s.RunNow() }, func() { s.Pause() }, func() { s.Resume() }, func() { p.Schedules() },
					func() { s.Reschedule(executor.FixedRate(1)) },
				} {
					go f()
				}
				time.Sleep(2 * time.Nanosecond)
			}
			synctest.Wait()
			s.Resume()
			expect(t, "outcome", s.Wait(t.Context()), nil)
			expect(t, "runs", s.Runs(), 300)
			expect(t, "most at the same time", most.Load(), 3)
			waitStats(t, p)
		})
	}
}

// A run that waits, and never begins, is none in progress.
func TestSeriesOverlapForgetsRunsThatNeverBegin(t *testing.T) {
	for how, end := range map[string]func(*executor.ScheduledPool, *executor.Series){
		"Cancel":      func(_ *executor.ScheduledPool, s *executor.Series) { s.Cancel() },
		"ShutdownNow": func(p *executor.ScheduledPool, _ *executor.Series) { p.ShutdownNow() },
	} {
		synctest.Test(t, func(t *testing.T) {
			pool := must(executor.NewScheduled(executor.ScheduledConfig{Workers: 1}))
			defer pool.Close()
			s := must(pool.AtFixedRate(t.Context(), time.Second, time.Second, func(context.Context) error { return nil }, executor.Overlap(2)))
			executor.SubmitAfter(t.Context(), pool, time.Second, func(ctx context.Context) (int, error) {
				select {
				case <-time.After(time.Minute):
				case <-ctx.Done():
				}
				return 0, nil
			})
			time.Sleep(1500 * time.Millisecond)
			synctest.Wait()
			expect(t, "runs in progress", s.Info().Running, 1)
			end(pool, s)
			synctest.Wait()
			expect(t, "runs in progress after "+how, s.Info().Running, 0)
		})
	}
}
