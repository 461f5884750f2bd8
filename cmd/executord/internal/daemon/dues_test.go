package daemon

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
)

// Each time of a job with exceptions, up to the drain, is a run, skipped, missed or excluded,
// once, whatever its overlap.
func TestDaemonAccountsForExcludedTimes(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 1))
				every := time.Duration(1+r.IntN(60)) * time.Second
				takes := time.Duration(r.IntN(200)) * time.Second
				overlap := []string{"skip", "queue", "replace", "allow 2"}[r.IntN(4)]
				file := parse(t, fmt.Sprintf("# name: a\n# overlap: %q\n@every %v sleep %v\n", overlap, every, takes))
				from, lasts := r.IntN(10), 1+r.IntN(8)
				file.Jobs[0].Season.Except = []string{fmt.Sprintf("00:%02d-00:%02d", from, from+lasts)}
				h := begin(t, Config{File: file})
				time.Sleep(time.Duration(r.IntN(1000))*time.Second + time.Millisecond)
				h.end()
				end, err := time.Parse(time.RFC3339Nano, strings.TrimPrefix(strings.Fields(h.logged("msg=draining")[0])[0], "time="))
				if err != nil {
					t.Fatal(err)
				}
				due := int(end.Sub(h.began) / every)
				excluded := 0
				for i := range due {
					if _, minute, _ := h.began.Add(time.Duration(i+1) * every).Clock(); from <= minute && minute < from+lasts {
						excluded++
					}
				}
				if got := h.excluded(); got != excluded {
					t.Errorf("%d times are excluded, want %d\n%s", got, excluded, h.log.String())
				}
				if sum := h.sum; sum.Runs+sum.Skipped+sum.Missed+h.excluded() != due {
					t.Errorf("%s, every %v, each %v, except %s: %d times, but %+v and %d excluded\n%s", overlap, every, takes,
						file.Jobs[0].Season.Except, due, sum, h.excluded(), h.log.String())
				}
			})
		})
	}
}

// A due time that somebody has excluded has no run, whether its daemon has claimed it or was started after it; all others
// have what becomes of them, and the next time that is shown is one at which the job runs.
func TestDaemonExcludesByHand(t *testing.T) {
	for _, before := range []time.Duration{time.Minute, 300 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			c := Config{File: parse(t, "# name: a\n# misfire: skip\n@every 10m sleep 1s\n"), Store: shared(t)}
			h := begin(t, c)
			v := client.Client{Store: h.Store, Jobs: h.Durable()}
			act := func() string {
				e, _, err := h.Find(t.Context(), "a")
				if err != nil {
					t.Fatal(err)
				}
				answer, err := v.Do(t.Context(), client.Order{Do: client.ExcludeNext}, e)
				if err != nil {
					t.Fatal(err)
				}
				return answer.Text
			}
			time.Sleep(20*time.Minute - before)
			synctest.Wait()
			if text := act(); text != "does not run at 2000-01-01 00:20:00 +00:00; due 2000-01-01 00:30:00 +00:00" {
				t.Error(text)
			}
			time.Sleep(before + 5*time.Minute)
			synctest.Wait()
			act()
			if text := act(); !strings.Contains(text, " 00:40:00 ") {
				t.Error(text)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			jobs, err := h.Jobs(t.Context())
			if err != nil || jobs[0].Next.Minute() != 50 {
				t.Errorf("%v, %v", jobs[0].Next, err)
			}
			other, err := New(Config{File: c.File, Store: c.Store, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			defer other.pool.Close()
			if err := other.apply(t.Context(), c.File, ""); err != nil { // which keeps what is excluded
				t.Error(err)
			}
			time.Sleep(9 * time.Minute)
			synctest.Wait()
			sum := h.end() // at 35 minutes
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			h = begin(t, c)
			time.Sleep(20 * time.Minute) // until 65
			synctest.Wait()
			second := h.end()
			if lines := h.logged("run excluded"); len(lines) != 1 || !strings.Contains(lines[0], `due=2000-01-01T00:40:00Z reason="by exclude-next"`) {
				t.Errorf("%q", lines)
			}
			if sum.Runs != 1 || sum.Skipped+sum.Missed != 0 || second.Runs != 2 || second.Skipped+second.Missed != 0 {
				t.Errorf("%+v, %+v\n%s", sum, second, h.log.String())
			}
			runs, _, err := h.Runs(t.Context(), "a", 10)
			excluded := 0
			for _, r := range runs {
				if r.Outcome == outcome.Excluded && r.Error == "excluded: by exclude-next" {
					excluded += max(r.Count, 1) // those in a row are one
				}
			}
			if excluded != 3 || len(runs) != 4 || err != nil {
				t.Errorf("%d are excluded in %+v, %v", excluded, runs, err)
			}
		})
	}
}

// A time that passes during a run and does not count is excluded, and neither skipped nor the end of that run.
func TestOverlapHasNoExcludedTimes(t *testing.T) {
	for _, test := range []struct {
		overlap                 string
		runs, skipped, excluded int
		end                     string // of the first run, which is due after two minutes and takes 13
	}{
		{"skip", 1, 4, 2, "outcome=ok"},
		{"replace", 5, 0, 2, "outcome=replaced"}, // the last, due after ten minutes, goes on
		{"allow 2", 2, 2, 0, "outcome=ok"},       // one waits
	} {
		synctest.Test(t, func(t *testing.T) {
			file := parse(t, fmt.Sprintf("# name: a\n# overlap: %q\n# except: 00:12-05:00\n@every 2m sleep 13m\n", test.overlap))
			c := Config{File: file, Store: shared(t)}
			h := begin(t, c)
			time.Sleep(14*time.Minute + 30*time.Second)
			sum := h.end()
			if end := h.logged("run ended"); sum.Runs != test.runs || h.total("runs skipped") != test.skipped ||
				!strings.Contains(end[0], test.end) || sum.Skipped != test.skipped {
				t.Errorf("%s: %+v\n%s", test.overlap, sum, h.log.String())
			}
			if test.overlap == "skip" && h.excluded() != test.excluded {
				t.Errorf("%d excluded\n%s", h.excluded(), h.log.String())
			}
		})
	}
}

// The exceptions of a file that is read during a run are those of the times after that.
func TestOverlapFollowsExceptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tab = "# name: a\n# except: %s\n@every 2m sleep 13m\n"
		again := make(chan job.File)
		h := begin(t, Config{File: parse(t, fmt.Sprintf(tab, "00:00-00:01")), Again: again})
		time.Sleep(7 * time.Minute)
		again <- parse(t, fmt.Sprintf(tab, "00:00-00:12"))
		time.Sleep(12 * time.Minute)
		sum := h.end()
		// After 4 and 6 minutes they have counted, after 8 and 10 they do not, after 12 and 14 they do. A second run began after 16.
		if h.excluded() != 2 || !strings.Contains(h.logged("run ended")[0], "skipped=4") || sum.Runs != 2 {
			t.Errorf("%+v, %d excluded\n%s", sum, h.excluded(), h.log.String())
		}
	})
}

// A catch-up run that was ended, or that had not come to its command, is begun again for the time that it was for,
// though the latest of its times does not count, by a daemon that drains or was lost.
func TestCatchUpRunIsBegunAgainForItsTime(t *testing.T) {
	for _, test := range []struct {
		name   string
		jitter time.Duration
		end    func(*harness)
	}{
		{"stopped", 0, func(h *harness) { h.stop(errPatience) }},
		{"delayed", 10 * time.Minute, func(h *harness) { h.drain(errPatience) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := parse(t, "# name: a\n0 * * * * sleep 20m\n")
				file.Jobs[0].Season.Except = []string{"02:30-05:00"}
				file.Jobs[0].Jitter = test.jitter
				c := Config{File: file, Store: shared(t)}
				h := begin(t, c)
				time.Sleep(time.Minute)
				h.end()
				time.Sleep(3*time.Hour + 10*time.Minute) // 1:00 and 2:00 count, 3:00 does not
				h = begin(t, c)
				time.Sleep(time.Second)
				missed, excluded := h.total("runs missed"), h.excluded()
				test.end(h)
				<-h.done
				if missed != 1 || excluded != 1 {
					t.Errorf("%d missed, %d excluded\n%s", missed, excluded, h.log.String())
				}
				h = begin(t, c)
				time.Sleep(11 * time.Minute)
				h.drain(errPatience)
				<-h.done
				lines := h.logged("run started")
				if len(lines) != 1 || !strings.Contains(lines[0], "due=2000-01-01T02:00:00Z") || h.total("runs missed") != 0 || h.excluded() != 0 {
					t.Errorf("%q\n%s", lines, h.log.String())
				}
			})
		})
	}
}

// Of a job none of whose times counts any more, nobody shows a next time: it has ended. Of the others it is one at which
// something runs.
func TestNextIsWhenSomethingRuns(t *testing.T) {
	for _, test := range []struct {
		keys, next string
		state      catalog.State
	}{
		{"", "2000-02-01", catalog.StateWaiting},
		{"# until: 2000-01-15\n", "", catalog.StateEnded},
		{"# until: 1999-01-15\n", "", catalog.StateEnded},
		{"# from: 2000-05-02\n", "2000-06-01", catalog.StateWaiting},
		{"# except: 2000-02-01, 03-01..04-02\n", "2000-05-01", catalog.StateWaiting},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := begin(t, Config{File: parse(t, "# name: a\n"+test.keys+"0 0 1 * * sleep 1s\n"), Store: shared(t)})
			jobs, err := h.Jobs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			times, err := h.Upcoming(t.Context(), "a", 2)
			if err != nil {
				t.Fatal(err)
			}
			var shown, upcoming string
			if at := jobs[0].Next; at != nil {
				shown = at.Format(time.DateOnly)
			}
			if len(times) > 0 {
				upcoming = times[0].Format(time.DateOnly)
			}
			if shown != test.next || upcoming != test.next || jobs[0].State.State != test.state {
				t.Errorf("%q: next %q, upcoming %q, %v, want %q, %s", test.keys, shown, upcoming, jobs[0].State, test.next, test.state)
			}
			line := h.logged(`msg="job scheduled"`)[0]
			if _, logged, has := strings.Cut(line, " next="); has != (test.next != "") || !strings.HasPrefix(logged, test.next) {
				t.Errorf("%q: logged %s", test.keys, line)
			}
			h.end()
		})
	}
}

// A job whose until has passed has ended, though its schedule goes on, and its due times since then are one entry.
func TestExcludedStretchIsOneEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := begin(t, Config{Store: shared(t), File: parse(t, "# name: a\n# until: 2000-01-01T00:00:03\n@every 1s sleep 0s\n")})
		time.Sleep(3*time.Second + time.Millisecond)
		for range 70 {
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			if e, _, err := h.Find(t.Context(), "a"); err != nil || e.Status(time.Now()).State != catalog.StateEnded {
				t.Fatalf("after %v: %v %v", time.Since(h.began), e.Status(time.Now()), err)
			}
		}
		c := client.Client{Store: h.Store, Jobs: h.Durable()}
		e, _, err := h.Find(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		runs, err := c.Runs(t.Context(), []catalog.Entry{e}, 20)
		if err != nil || len(runs) != 4 || runs[0].Outcome != outcome.Excluded || runs[0].Count != 7 ||
			runs[0].Due.Sub(runs[0].First) != 6*time.Second || runs[1].Outcome != outcome.OK {
			t.Errorf("%+v %v", runs, err)
		}
		h.end()
	})
}
