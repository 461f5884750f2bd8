package executor

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// When a pool gives its alarm up, and a new worker comes, parks and leaves before
// anybody has closed it, both alarms are closed in the end. Only a rare
// interleaving gets there from outside, so this test goes step by step.
func TestEveryAlarmIsClosed(t *testing.T) {
	helpers := func() int {
		buf := make([]byte, 1<<22)
		return strings.Count(string(buf[:runtime.Stack(buf, true)]), "alarm.(*waker).run(")
	}
	before := helpers()
	p := &Pool{}
	p.mu.delay = newDelayQueue()
	for range 3 {
		p.listenLocked(new(worker))
		p.disarmLocked() // the last worker leaves; its tidy comes late
	}
	p.mu.queue = p.mu.delay
	p.tidy()
	for range 1000 { // a helper that was closed may take a moment to be gone
		if helpers() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines of alarms are left", helpers()-before)
}
