package daemon

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// lines returns how many lines of the log have a text.
func (h *harness) lines(text string) int { return len(h.logged(text)) }

// begun returns when the runs began, since the daemon did.
func (h *harness) begun() (all []time.Duration) {
	for _, line := range h.logged("run started") {
		at, err := time.Parse(time.RFC3339Nano, strings.TrimPrefix(strings.Fields(line)[0], "time="))
		if err != nil {
			h.t.Fatal(err)
		}
		all = append(all, at.Sub(h.began).Round(time.Second))
	}
	return all
}

// What becomes of a due time during a run is what the job's overlap says.
func TestOverlapPolicies(t *testing.T) {
	s := time.Second
	for _, test := range []struct {
		overlap, command string
		want             []time.Duration
		end              string // of the first run
	}{
		{"skip", "sleep 90s", []time.Duration{60 * s, 180 * s, 300 * s}, "outcome=ok"},
		{"queue", "sleep 90s", []time.Duration{60 * s, 150 * s, 240 * s, 330 * s}, "outcome=ok"},
		{"queue", "sleep 150s", []time.Duration{60 * s, 210 * s, 360 * s}, "outcome=ok"},
		{"replace", "sleep 90s", []time.Duration{60 * s, 120 * s, 180 * s, 240 * s, 300 * s, 360 * s}, "outcome=replaced"},
		{"replace", "sleep 30s", []time.Duration{60 * s, 120 * s, 180 * s, 240 * s, 300 * s, 360 * s}, "outcome=ok"},
		{"allow 2", "sleep 90s", []time.Duration{60 * s, 120 * s, 180 * s, 240 * s, 300 * s, 360 * s}, "outcome=ok"},
		{"allow 2", "sleep 150s", []time.Duration{60 * s, 120 * s, 210 * s, 270 * s, 360 * s}, "outcome=ok"},
		{"allow 3", "sleep 150s", []time.Duration{60 * s, 120 * s, 180 * s, 240 * s, 300 * s, 360 * s}, "outcome=ok"},
	} {
		for _, store := range []bool{false, true} {
			t.Run(fmt.Sprint(test.overlap, ", ", test.command, ", ", store), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := Config{File: parse(t, "# name: a\n# overlap: \""+test.overlap+"\"\n@every 1m "+test.command+"\n")}
					if store {
						c.Store = shared(t)
					}
					h := begin(t, c)
					time.Sleep(6*time.Minute + 10*time.Second)
					sum := h.end()
					if got := h.begun(); !reflect.DeepEqual(got, test.want) {
						t.Errorf("begun after %v, want %v", got, test.want)
					}
					if lines := h.logged("run ended"); len(lines) != len(test.want) || !strings.Contains(lines[0], test.end) {
						t.Errorf("%q", lines)
					}
					if !store && sum.Runs+sum.Skipped+sum.Missed != 6 || sum.Runs != len(test.want) {
						t.Errorf("%+v", sum)
					}
				})
			})
		}
	}
}

// A due time during a run that began before its file was read again is what the job's overlap says: at the times of the
// schedule as it is then.
func TestOverlapAfterReload(t *testing.T) {
	h, m := 6*time.Minute, 6*time.Second
	for _, test := range []struct {
		overlap, schedule string
		begun             []time.Duration
		skipped           int
	}{
		{"skip", "@every 6m", []time.Duration{h}, 3},
		{"skip", "@every 2m", []time.Duration{h}, 7}, // from 11m on
		{"replace", "@every 6m", []time.Duration{h, 2 * h, 3 * h, 4 * h}, 0},
		{"replace", "@every 5m", []time.Duration{h, 2*h + 20*m, 3*h + 10*m, 4 * h}, 0},
		{"allow 2", "@every 6m", []time.Duration{h, 2 * h}, 1}, // one waits
		{"allow 2", "@every 5m", []time.Duration{h, 2*h + 20*m}, 1},
	} {
		t.Run(test.overlap+" "+test.schedule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const tab = "# name: a\n# overlap: %q\n%s sleep %s\n"
				again := make(chan job.File)
				d := begin(t, Config{File: parse(t, fmt.Sprintf(tab, test.overlap, "@every 6m", "1000h")), Again: again})
				time.Sleep(9 * time.Minute)
				again <- parse(t, fmt.Sprintf(tab, test.overlap, test.schedule, "2000h"))
				time.Sleep(15*time.Minute + 10*time.Second)
				if begun, skipped := d.begun(), d.total("runs skipped"); !reflect.DeepEqual(begun, test.begun) || skipped != test.skipped {
					t.Errorf("begun after %v, want %v; %d skipped, want %d\n%s", begun, test.begun, skipped, test.skipped, d.log.String())
				}
				d.drain(errPatience)
				d.stop(errPatience)
				<-d.done
				if skipped := d.total("runs skipped"); skipped != test.skipped || d.sum.Skipped != test.skipped {
					t.Errorf("at the end %d skipped, want %d", skipped, test.skipped)
				}
			})
		})
	}
}

// Runs that were let go are ended with the daemon, as all others.
func TestOverlapAllowedRunsEndWithDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := begin(t, Config{File: parse(t, "# name: a\n# overlap: \"allow 5\"\n@every 1m sleep 1h\n")})
		time.Sleep(3*time.Minute + time.Second)
		h.drain(errPatience)
		time.Sleep(10 * time.Minute)
		if n := h.lines("run ended"); n != 0 {
			t.Errorf("%d runs have ended in the drain", n)
		}
		h.stop(errPatience)
		<-h.done
		if n := h.lines("outcome=stopped"); n != 3 || h.sum.Interrupted != 3 {
			t.Errorf("%d runs were stopped, %+v", n, h.sum)
		}
	})
}

// Runs that are due at once are no more at a time than the job allows: each counts from its begin, before its command
// was started.
func TestOverlapAllowsRunsThatAreDueAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Config{File: parse(t, "# name: a\n# misfire: all\n# overlap: \"allow 2\"\n@every 1h sleep 10m\n"), Store: shared(t)}
		begin(t, c).end()
		time.Sleep(9*time.Hour + 29*time.Minute)
		h := begin(t, c)
		time.Sleep(time.Minute)
		if n := h.lines("run started"); n != 2 {
			t.Errorf("%d runs are in progress", n)
		}
		h.end()
	})
}

// What becomes of due times without a daemon is what the job's misfire says.
func TestMisfirePolicies(t *testing.T) {
	for _, test := range []struct {
		keys   string
		away   time.Duration // before which it ran once
		want   int           // runs of the second daemon, in 30 minutes
		missed int
	}{
		{"# misfire: once", 4*time.Hour + 29*time.Minute, 1, 3},
		{"# misfire: skip", 4*time.Hour + 29*time.Minute, 0, 4},
		{"# misfire: skip", 3*time.Hour + time.Minute + 30*time.Second, 0, 3},
		{"# misfire: skip", 3*time.Hour + 30*time.Second, 1, 2},
		{"# misfire: 20m", 4*time.Hour + 29*time.Minute, 0, 4},
		{"# misfire: 1h", 4*time.Hour + 29*time.Minute, 1, 3},
		{"# misfire: all\n# overlap: queue", 4*time.Hour + 29*time.Minute, 4, 0},
		{"# misfire: skip\n# overlap: queue", 4*time.Hour + 29*time.Minute, 0, 4},
		{"# misfire: skip\n# overlap: \"allow 2\"", 4*time.Hour + 29*time.Minute, 0, 4},
	} {
		t.Run(strings.ReplaceAll(test.keys, "\n", ""), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := Config{File: parse(t, "# name: a\n"+test.keys+"\n@every 1h sleep 1s\n"), Store: shared(t)}
				h := begin(t, c)
				time.Sleep(time.Hour + time.Second)
				h.end()
				time.Sleep(test.away - time.Second)
				h = begin(t, c)
				time.Sleep(20 * time.Minute)
				runs, _, err := h.Runs(t.Context(), "a", 10)
				sum := h.end()
				if sum.Runs != test.want || sum.Missed != test.missed || err != nil {
					t.Errorf("%+v, error %v; want %d runs and %d missed", sum, err, test.want, test.missed)
				}
				if test.want == 0 && (runs[0].Outcome != "missed" || !strings.Contains(runs[0].Error, "by its misfire does not")) {
					t.Errorf("the last run is %+v", runs[0])
				}
			})
		})
	}
}

// A run that was interrupted is not begun again if the next file excludes its time. The times since lead to one run, are
// excluded, skipped or missed.
func TestMisfireCountsTimesSinceExcludedRun(t *testing.T) {
	for except, excluded := range map[string]int{"01:00-01:30": 1, "01:00-02:30": 2, "00:00-24:00": 4} {
		synctest.Test(t, func(t *testing.T) {
			store := shared(t)
			h := begin(t, Config{File: parse(t, "# name: a\n@every 1h sleep 30m\n"), Store: store})
			time.Sleep(time.Hour + time.Minute)
			h.stop(errPatience)
			<-h.done
			time.Sleep(3 * time.Hour)
			h = begin(t, Config{File: parse(t, "# name: a\n# except: "+except+"\n@every 1h sleep 30m\n"), Store: store})
			time.Sleep(time.Minute)
			sum := h.end()
			if h.excluded() != excluded || sum.Runs+sum.Skipped+sum.Missed != 4-excluded || len(h.logged("due=2000-01-01T01:00:00Z late")) != 0 {
				t.Errorf("except %s: %+v and %d excluded, want 4 times, %d of them excluded\n%s", except, sum, h.excluded(), excluded, h.log.String())
			}
		})
	}
}

// A run that its daemon could not end is begun again by the next one, however late: it was not missed.
func TestMisfireSparesInterruptedRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Config{File: parse(t, "# name: a\n# misfire: skip\n@every 2h sleep 30m\n"), Store: shared(t)}
		h := begin(t, c)
		time.Sleep(2*time.Hour + time.Minute)
		h.stop(errPatience)
		<-h.done
		time.Sleep(time.Hour)
		h = begin(t, c)
		time.Sleep(45 * time.Minute)
		if sum := h.end(); sum.Runs != 1 || sum.Failed != 0 || sum.Missed != 0 {
			t.Errorf("%+v\n%s", sum, h.log.String())
		}
	})
}

// A run that its daemon ended, or lost, before its command was started is begun again: its due time leads to a run, and
// the one that passes meanwhile is skipped.
func TestRunEndedBeforeItsStartIsBegunAgain(t *testing.T) {
	pending := func(ctx context.Context, _ process.Command, _ process.Observer) process.Result { // it waits for its turn to start
		<-ctx.Done()
		return process.Result{Err: context.Cause(ctx), Cause: context.Cause(ctx), Stopped: true}
	}
	for _, test := range []struct {
		name    string
		outcome outcome.Outcome
		end     func(h *harness, s *silent, c Config) *harness // of the run that is due after a minute, at 150s
	}{
		{"stopped", outcome.Stopped, func(h *harness, _ *silent, c Config) *harness {
			h.stop(errPatience)
			<-h.done
			return begin(h.t, c)
		}},
		{"lost", outcome.Lost, func(h *harness, s *silent, _ Config) *harness {
			h.command = sleep
			s.set(true)
			time.Sleep(10 * time.Second)
			s.set(false)
			return h
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := shared(t)
				down := &silent{Store: store.Store}
				store.Store, store.Lease = down, 5*time.Second
				c := Config{File: parse(t, "# name: a\n@every 1m sleep 10s\n"), Store: store}
				began := time.Now()
				h := beginWith(t, c, pending)
				time.Sleep(150 * time.Second)
				synctest.Wait()
				first := h
				h = test.end(h, down, c)
				time.Sleep(time.Until(began.Add(5*time.Minute + 50*time.Second)))
				synctest.Wait()
				runs, _, err := h.Runs(t.Context(), "a", 10)
				if err != nil {
					t.Fatal(err)
				}
				skipped := h.total("runs skipped")
				if h.end(); h != first {
					skipped += first.total("runs skipped")
				}
				var ok []time.Duration
				for _, run := range runs {
					if run.Outcome == outcome.OK {
						ok = append(ok, run.Due.Sub(began).Round(time.Second))
					} else if run.Outcome != test.outcome || run.Error != string(test.outcome)+": before its command was started" {
						t.Errorf("%+v", run)
					}
				}
				want := []time.Duration{5 * time.Minute, 4 * time.Minute, 3 * time.Minute, time.Minute}
				if !slices.Equal(ok, want) || skipped != 1 {
					t.Errorf("runs of %v and %d skipped, want %v and 1\n%s", ok, skipped, want, h.log.String())
				}
			})
		})
	}
}

// A run that waited for the one before is not late by that.
func TestMisfireSparesQueuedRuns(t *testing.T) {
	for _, store := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := Config{File: parse(t, "# name: a\n# misfire: skip\n# overlap: queue\n@every 10m sleep 14m\n")}
			if store {
				c.Store = shared(t)
			}
			h := begin(t, c)
			time.Sleep(40*time.Minute + 30*time.Second)
			missed := h.total("runs missed")
			h.end()
			if got, want := h.begun(), []time.Duration{10 * time.Minute, 24 * time.Minute, 38 * time.Minute}; !reflect.DeepEqual(got, want) || missed != 0 {
				t.Errorf("begun after %v, want %v; %d missed", got, want, missed)
			}
		})
	}
}

// A job that allows several runs has no more than those, in all of its daemons together.
func TestOverlapAllowsRunsOfAllDaemons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Config{File: parse(t, "# name: a\n# overlap: \"allow 3\"\n@every 1m sleep 150m\n"), Store: shared(t)}
		one, two := begin(t, c), begin(t, c)
		time.Sleep(10 * time.Minute)
		if n := one.lines("run started") + two.lines("run started"); n != 3 {
			t.Errorf("%d runs are in progress", n)
		}
		for _, h := range []*harness{one, two} {
			h.drain(errPatience)
			h.stop(errPatience)
			<-h.done
		}
	})
}
