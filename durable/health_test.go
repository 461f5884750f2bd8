package durable_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
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
		synctest.Wait()
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
		store := &weighing{Store: memory.New()}
		jobs := newJobs(t, store)
		k := durable.Handle(jobs, "k", new(diary).handler)
		big := strings.Repeat("x", durable.MaxPayload-2)
		payloads := make([]string, 300)
		for i := range payloads {
			payloads[i] = big
		}
		ids := must(k.ScheduleAll(t.Context(), 500*time.Millisecond, payloads))
		start(t, jobs)
		for _, id := range ids {
			must(k.Await(t.Context(), id))
		}
		if store.most > 260<<20 {
			t.Errorf("one claim had %d MiB", store.most>>20)
		}
	})
}

// weighing knows the claim with the most bytes.
type weighing struct {
	durable.Store
	most int
}

func (s *weighing) Claim(ctx context.Context, r durable.ClaimRequest) (durable.ClaimResult, error) {
	c, err := s.Store.Claim(ctx, r)
	bytes := 0
	for i := range c.Jobs {
		bytes += len(c.Jobs[i].Payload)
	}
	s.most = max(s.most, bytes)
	return c, err
}
