package executor_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// missedRule says what becomes of missed times in the model.
type missedRule int

const (
	byRhythm missedRule = iota
	catchesUp
	runsOnce
	skips
)

// modelSeries is what a series has to do for whose runs there are always workers. Times are since the beginning.
type modelSeries struct {
	number int
	kind   scheduleKind
	period time.Duration
	work   time.Duration
	rule   missedRule
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
func (m *modelSeries) settle(now time.Duration, rule missedRule) (missed int64) {
	if m.kind == delayKind {
		return 0
	}
	if rule == byRhythm {
		if rule = catchesUp; m.kind == triggerKind {
			rule = skips
		}
	}
	for m.passed(m.slot, now) {
		next := m.after(m.slot)
		if rule == catchesUp && !m.tooLate(m.slot, now) || rule == runsOnce && next > now {
			break
		}
		m.slot = next
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
	m.leftOut += m.settle(now, m.rule)
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
		m.settle(now, skips)
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
	case kind == delayKind && (m.rule != byRhythm || m.most > 1):
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

func (p *seriesProgram) rhythm(kind scheduleKind, period time.Duration) executor.Rhythm {
	switch kind {
	case rateKind:
		return executor.FixedRate(period)
	case delayKind:
		return executor.FixedDelay(period)
	}
	return executor.OnTrigger(testkit.TriggerFunc(func(t time.Time) time.Time {
		return p.begin.Add(nextTrigger(t.Sub(p.begin), period)).Round(0)
	}))
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
		most: max(1, p.next(5)-1), rule: missedRule(p.next(4)),
		endAt: int64(1 + p.next(6)), exit: exit(max(0, p.next(12)-8)), log: &p.runs,
	}
	opts := []executor.Option{
		executor.CatchUp(), executor.RunMissedOnce(), executor.SkipMissed(), executor.ContinueAfterPanic(),
		executor.StartPaused(),
	}
	var chosen []executor.Option
	if m.kind == delayKind {
		m.rule, m.most = byRhythm, 1
	}
	if m.most > 1 {
		chosen = append(chosen, executor.Overlap(m.most))
	}
	if m.rule != byRhythm {
		chosen = append(chosen, opts[m.rule-catchesUp])
	}
	if m.goesOn = p.next(2) == 0; m.goesOn {
		chosen = append(chosen, opts[3])
	}
	if m.paused = p.next(4) == 0; m.paused {
		chosen = append(chosen, opts[4])
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
			return executor.Stop
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
	p.pool = newScheduled(t, executor.ScheduledConfig{Core: 24, Hooks: executor.Hooks{
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
