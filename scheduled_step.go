package executor

import "time"

// stepBack is how far the wall clock must be set back for schedules to begin
// anew. A smaller step is taken as a correction, during which nothing is to run
// twice; Vixie cron draws the same line.
const stepBack = 3 * time.Hour

// observe looks for a step of the wall clock. It is called with every reading
// that is used, at least every recheck while a task waits for the wall clock.
func (q *delayQueue) observe(now instant) {
	ahead := now.wall - now.mono
	back := q.ahead - ahead
	q.seen, q.ahead = now, ahead
	if back >= int64(stepBack) {
		q.renew()
	}
}

// renew makes every task that waits for a trigger due at once, but as stale: a
// worker will ask the trigger again, without the lock, instead of running it.
func (q *delayQueue) renew() {
	for _, b := range q.wall.RemoveFunc(func(b bound) bool { return b.core().series() != nil }) {
		t := b.core()
		t.series().stale = true
		t.due = 1
		q.push(entry{b})
	}
}
