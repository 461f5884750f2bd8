package daemon

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// killed is what a daemon has of its store until it is killed: that has the run that the daemon adds last, and answers no
// more until the test is over, which has to end the daemon.
type killed struct {
	durable.Store
	runs atomic.Int64 // that it may still add
	over chan struct{}
}

// alive returns at once until the daemon is killed.
func (k *killed) alive() {
	if k.runs.Load() <= 0 {
		<-k.over
	}
}

func (k *killed) Insert(ctx context.Context, jobs []durable.NewJob, p store.Placement) ([]store.InsertResult, error) {
	k.alive()
	results, err := k.Store.Insert(ctx, jobs, p)
	if _, n := durable.RunNumber(jobs[0].Key); n > 0 {
		k.runs.Add(-1)
	}
	k.alive()
	return results, err
}

func (k *killed) Heartbeat(ctx context.Context, node string, lease time.Duration, w store.Watch) (store.HeartbeatResult, error) {
	k.alive()
	return k.Store.Heartbeat(ctx, node, lease, w)
}

func (k *killed) Claim(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	k.alive()
	return k.Store.Claim(ctx, r)
}

func (k *killed) Commit(ctx context.Context, r store.CommitRequest) (store.CommitResult, error) {
	k.alive()
	return k.Store.Commit(ctx, r)
}

func (k *killed) Change(ctx context.Context, id durable.ID, c durable.Change) (durable.Answer, error) {
	k.alive()
	return k.Store.Change(ctx, id, c)
}

func (k *killed) Release(ctx context.Context, node string, keep []durable.ID) (bool, error) {
	k.alive()
	return k.Store.Release(ctx, node, keep)
}

// becomes notes in all what the lines of a log say of the due times of a job that is due once in each period.
func becomes(t *testing.T, all map[time.Time]map[string]bool, log string, period time.Duration) {
	t.Helper()
	value := func(line, key string) string {
		found := regexp.MustCompile(` ` + key + `=(\S+)`).FindStringSubmatch(line)
		if found == nil {
			return ""
		}
		return found[1]
	}
	for line := range strings.Lines(log) {
		for msg, of := range map[string]struct{ word, at string }{
			"run started": {"run", "due"}, "runs skipped": {"skipped", "first"}, "runs missed": {"missed", "first"},
			"run excluded": {"excluded", "due"},
		} {
			if !strings.Contains(line, `msg="`+msg+`"`) {
				continue
			}
			first := value(line, "first")
			if first == "" {
				first = value(line, of.at)
			}
			at, err := time.Parse(time.RFC3339Nano, first)
			if err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			n, _ := strconv.Atoi(value(line, "count"))
			for range max(n, 1) {
				if all[at] == nil {
					all[at] = make(map[string]bool)
				}
				all[at][of.word] = true
				at = at.Add(period)
			}
		}
	}
}

// A daemon that is killed when the store has the run of a due time, and not yet that its schedule has fired for it, leaves
// that to the next one. However late this comes, and whatever its file says by then, each due time is one of run, skipped,
// missed and excluded, once.
func TestDaemonGoesOnWithRunOfKilledOne(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 0))
				pick := func(of ...string) string { return of[r.IntN(len(of))] }
				const period = 10 * time.Minute
				except := pick("", "# except: 00:25-01:15\n") // else what was begun would be excluded when it is begun again
				tab := func(misfire string) string {
					return fmt.Sprintf("# name: a\n# overlap: %q\n%s# misfire: %s\n@every %v sleep %v\n", pick("skip", "queue", "replace", "allow 2"),
						except, misfire, period, time.Duration(1+r.IntN(25))*time.Minute)
				}
				misfire := pick("once", "skip", "5m", "2h")
				shop := shared(t)
				last := &killed{Store: shop.Store, over: make(chan struct{})}
				last.runs.Store(1 + r.Int64N(6))
				first := shop
				first.Store = last
				h := begin(t, Config{File: parse(t, tab(misfire)), Store: first})
				for last.runs.Load() > 0 {
					time.Sleep(time.Second)
				}
				all := make(map[time.Time]map[string]bool)
				becomes(t, all, h.log.String(), period)
				time.Sleep(time.Duration(r.IntN(40)) * time.Minute)
				next := begin(t, Config{File: parse(t, tab(pick(misfire, "once", "skip"))), Store: shop})
				time.Sleep(90 * time.Minute)
				next.end()
				close(last.over)
				h.stop(errPatience)
				<-h.done
				becomes(t, all, next.log.String(), period)
				if len(all) < 8 {
					t.Errorf("%d due times", len(all))
				}
				for at, is := range all {
					if len(is) > 1 {
						t.Errorf("%v is %v", at, is)
					}
				}
				if t.Failed() {
					t.Log(h.log.String(), "\n", next.log.String())
				}
			})
		})
	}
}

// slowToAdd is a store that takes a second to add a run.
type slowToAdd struct{ durable.Store }

func (s slowToAdd) Insert(ctx context.Context, jobs []durable.NewJob, p store.Placement) ([]store.InsertResult, error) {
	if _, n := durable.RunNumber(jobs[0].Key); n > 0 {
		time.Sleep(time.Second)
	}
	return s.Store.Insert(ctx, jobs, p)
}

// A run that is to wait for the end of another, which comes before the store has it, is not too late.
func TestRunIsNotLateWhenTheOneBeforeHasEnded(t *testing.T) {
	for _, overlap := range []string{"queue", "replace", "allow 2"} {
		synctest.Test(t, func(t *testing.T) {
			tab := fmt.Sprintf("# name: a\n# overlap: %q\n# misfire: 5m\n@every 10m sleep 9m59500ms\n", overlap)
			s := shared(t)
			s.Store = slowToAdd{s.Store}
			h := begin(t, Config{File: parse(t, tab), Store: s})
			time.Sleep(65 * time.Minute)
			h.end()
			if missed := h.logged("runs missed"); len(missed) > 0 || len(h.logged("run started")) < 5 {
				t.Errorf("%s:\n%s", overlap, h.log.String())
			}
		})
	}
}
