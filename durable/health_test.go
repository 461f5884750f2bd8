package durable_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// Healthy names what keeps a program from its part, and returns nil as soon as that is over.
func TestHealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		pool := executor.Scheduled(1)
		jobs := newJobs(t, line, func(c *durable.Config) { c.Executor = pool })
		wants := func(when, text string) {
			t.Helper()
			err := jobs.Healthy(t.Context())
			if err == nil != (text == "") || err != nil && !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v, want %q", when, err, text)
			}
		}
		wants("before Run", "")
		line.down()
		wants("before Run, without a store", "the store does not answer: store is down")
		stop := start(t, jobs)
		wants("before it has joined", "has not answered join")
		line.up()
		time.Sleep(5 * time.Second)
		wants("running", "")
		line.set(func(op string) (error, error) { return map[string]error{"claim": errDown}[op], nil })
		time.Sleep(2 * time.Second)
		durable.Handle(jobs, "k", new(diary).handler)
		time.Sleep(2 * time.Second)
		wants("when a claim has just failed", "")
		time.Sleep(5 * time.Second)
		wants("when claims fail", "has not answered claim")
		line.up()
		time.Sleep(2 * time.Second)
		wants("running again", "")
		line.down()
		time.Sleep(2900 * time.Millisecond)
		wants("without a lease", "has not answered heartbeat")
		line.up()
		time.Sleep(2 * time.Second)
		wants("with a lease again", "")
		pool.Close()
		wants("without a pool", "the pool is shut down")
		stop()
		wants("after Run", "Run has returned")
	})
}

// A claim takes no more at once than what has 64 MiB of payloads, as far as the payloads before show; what is left
// follows.
func TestNodeHoldsLimitedPayloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &claims{Store: memory.New()}
		jobs, _, d := newNode(t, store)
		start(t, jobs)
		other := durable.KindOf[string, string](newJobs(t, store), "k")
		payloads := slices.Repeat([]string{strings.Repeat("x", durable.MaxPayload-2)}, 80)
		must(other.AddAll(t.Context(), 5*time.Second, payloads[:1]))
		time.Sleep(10 * time.Second)
		must(other.AddAll(t.Context(), 5*time.Second, payloads[1:]))
		time.Sleep(10 * time.Second)
		if most := store.most.Load(); most > 64 || d.count() != len(payloads) {
			t.Errorf("one claim had %d jobs; %d of %d ran", most, d.count(), len(payloads))
		}
	})
}

// claims knows the claim with the most jobs.
type claims struct {
	durable.Store
	most atomic.Int64
}

func (s *claims) Claim(ctx context.Context, r durablestore.ClaimRequest) (durablestore.ClaimResult, error) {
	c, err := s.Store.Claim(ctx, r)
	s.most.Store(max(s.most.Load(), int64(len(c.Jobs))))
	return c, err
}
