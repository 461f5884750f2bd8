//go:build unix

package main

import (
	"fmt"
	"testing"
	"time"
)

// A clock that was ahead while the daemon before ran stops no job of the next one, which says so once, and says when the
// jobs are due.
func TestRunAfterClockThatWasAhead(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		const tab = "# name: often\n@every 1s true\n# name: minute\n* * * * * true\n# name: night\n30 2 * * * true\n"
		p := start(t, tab, "--store", store)
		p.until("run ended", "job", "often", "run", 2)
		p.end()
		const ahead = 71 * 365 * 24 * time.Hour
		for _, column := range []string{"due", "occurrence", "anchor", "created", "updated"} {
			statement := fmt.Sprintf("update executor_job set %[1]s = %[1]s + %d", column, ahead.Microseconds())
			if _, err := rows(t, store).Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		p = start(t, tab, "--store", store)
		for job, within := range map[string]time.Duration{"often": 2 * time.Second, "minute": time.Minute, "night": 24 * time.Hour} {
			l := p.after(0, "job scheduled", "job", job)
			if next := instant(t, l, "next"); time.Until(next) > within {
				t.Errorf("%s is due at %v", job, next)
			}
		}
		p.until("run ended", "job", "often", "run", 4)
		if n := p.count("durable: the clock of the database was set back; schedules go on from the present"); n != 1 {
			t.Errorf("%d lines about the clock", n)
		}
		p.end()
	})
}
