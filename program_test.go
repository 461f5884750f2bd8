package executor_test

import (
	"cmp"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/internal/testkit"
)

// program runs a sequence of calls on a pool and on the model of it. What it
// calls is read off its code, so that any bytes are a program.
type program struct {
	t     *testing.T
	code  []byte
	begin time.Time

	mu  sync.Mutex
	log []programRun // what the pool ran
}

// programRun is one run of a task: the task's number, when it began, and, of a
// task on a schedule, when it was due and which of its runs it is.
type programRun struct {
	task   int
	began  time.Duration
	due    time.Duration
	number int64
}

func newProgram(t *testing.T, code []byte) program {
	return program{t: t, code: code, begin: time.Now()}
}

// next reads a number below n.
func (p *program) next(n int) int {
	if len(p.code) == 0 {
		return 0
	}
	b := p.code[0]
	p.code = p.code[1:]
	return int(b) % n
}

// ms reads a time below n milliseconds.
func (p *program) ms(n int) time.Duration { return time.Duration(p.next(n)) * time.Millisecond }

// note records that a run begins.
func (p *program) note(r programRun) {
	r.began = time.Since(p.begin)
	p.mu.Lock()
	p.log = append(p.log, r)
	p.mu.Unlock()
}

// play takes one step after the other, then lets time pass for what is left. In
// between, when the pool has come to rest, compare holds it against the model.
func (p *program) play(rest int, step, compare func()) {
	settle := func() {
		synctest.Wait()
		compare()
	}
	for ops := 0; len(p.code) > 0 && ops < 300 && !p.t.Failed(); ops++ {
		step()
		settle()
	}
	for range rest {
		time.Sleep(time.Millisecond)
		settle()
	}
}

// sameRuns compares the runs of the pool with those of the model. In a crowd
// those that begin at the same time are in no order.
func (p *program) sameRuns(model []programRun, crowd bool) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if crowd {
		order := func(a, b programRun) int { return cmp.Or(cmp.Compare(a.began, b.began), cmp.Compare(a.task, b.task)) }
		slices.SortFunc(p.log, order)
		slices.SortFunc(model, order)
	}
	if !slices.Equal(p.log, model) {
		p.t.Fatalf("after %v the pool ran\n%v, the model\n%v", time.Since(p.begin), p.log, model)
	}
}

// playRandom plays n programs of up to longest bytes, each in a bubble, fewer in
// short runs. EXECUTOR_SEED=n repeats one.
func playRandom(t *testing.T, n, longest int, play func(t *testing.T, code []byte)) {
	t.Helper()
	n = testkit.Scale(n)
	seed := rand.Uint64()
	if s := os.Getenv("EXECUTOR_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
		n = 1
	}
	for range n {
		r := rand.New(rand.NewPCG(seed, 0))
		code := make([]byte, 20+r.IntN(longest-20))
		for i := range code {
			code[i] = byte(r.Uint32())
		}
		if synctest.Test(t, func(t *testing.T) { play(t, code) }); t.Failed() {
			t.Fatalf("EXECUTOR_SEED=%d", seed)
		}
		seed = r.Uint64()
	}
}
