package alarm

import (
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// What the reminder does shows in the lateness of wake-ups only, as with the
// waker. So these ask the kernel what it was told.

// pending gives what is left until the first call, and the time between calls; zero
// for a timer that is not armed.
func (k *kernelTimer) pending(t *testing.T) (left, every time.Duration) {
	t.Helper()
	if !k.made {
		return 0, 0
	}
	var setting struct{ interval, value syscall.Timespec }
	_, _, errno := syscall.RawSyscall(syscall.SYS_TIMER_GETTIME, uintptr(k.id), uintptr(unsafe.Pointer(&setting)), 0)
	if errno != 0 {
		t.Fatal("timer_gettime:", errno)
	}
	return time.Duration(setting.value.Nano()), time.Duration(setting.interval.Nano())
}

// called gives what the reminder of w is armed for.
func (w *waker) called(t *testing.T) (left, every time.Duration) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.reminder.timer.pending(t)
}

// hasty makes w one of which an alarm was too late, for as long as the test lasts.
func (w *waker) hasty() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.reminder.until = never
}

// hear lets an alarm be heard that is due now.
func (w *waker) hear() {
	w.mu.Lock()
	w.mu.reminder.due = w.now()
	w.mu.Unlock()
	w.heard()
}

// An alarm is called only after one that was too late.
func TestReminderAfterLateAlarm(t *testing.T) {
	known(t)
	var r reminder
	defer r.timer.close()
	now := int64(0)
	next := func(late time.Duration) { // is heard, and set anew for an hour later
		now = r.due + int64(late)
		r.heard(now)
		r.expect(now, now+int64(time.Hour))
	}
	next(0)
	if left, _ := r.timer.pending(t); left != 0 {
		t.Errorf("the first alarm is called, in %v", left)
	}
	next(tooLate - 1)
	if left, _ := r.timer.pending(t); left != 0 {
		t.Errorf("called after one that was not too late, in %v", left)
	}
	next(tooLate)
	left, every := r.timer.pending(t)
	if left <= time.Hour-time.Minute || left > time.Hour+grace || every != interval {
		t.Errorf("called in %v, then every %v; want %v after an hour, then every %v", left, every, grace, interval)
	}
}

// That an alarm was too late counts for a while only.
func TestReminderForgets(t *testing.T) {
	known(t)
	var r reminder
	defer r.timer.close()
	r.heard(int64(tooLate))
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{memory - 1, true}, {memory, false}} {
		now := int64(tooLate + c.after)
		r.expect(now, now+int64(time.Hour))
		if left, _ := r.timer.pending(t); (left != 0) != c.want {
			t.Errorf("an alarm set %v later is called in %v", c.after, left)
		}
	}
}

// Who is called no more: an alarm that was heard, stopped, set for ever, or closed.
func TestReminderEnds(t *testing.T) {
	known(t)
	for name, end := range map[string]func(w *waker){
		"heard":    (*waker).hear,
		"stopped":  (*waker).stop,
		"for ever": func(w *waker) { w.set(never) },
		"calm":     func(w *waker) { w.hear(); w.mu.reminder.until = 0; w.set(time.Hour) },
		"closed":   (*waker).close,
		"set after close": func(w *waker) {
			w.close()
			w.hasty()
			w.set(time.Hour)
		},
	} {
		w := helper(t)
		w.hasty()
		w.set(time.Hour)
		if left, _ := w.called(t); left == 0 {
			t.Fatal("the alarm is not called")
		}
		end(w)
		if left, _ := w.called(t); left != 0 {
			t.Errorf("%s: still called, in %v", name, left)
		}
	}
}

// An alarm that has rung is not called any more, also if nobody waits for it: all who
// could are at work.
func TestReminderEndsWithBell(t *testing.T) {
	known(t)
	w := helper(t)
	w.hasty()
	w.set(time.Microsecond)
	_, early := w.instants()
	w.expired(early)
	if left, _ := w.called(t); left != 0 {
		t.Errorf("still called, in %v", left)
	}
}

// Nor is one whose timer has gone off, and was heard, before the descriptor.
func TestReminderEndsWithTimer(t *testing.T) {
	known(t)
	a := New()
	defer a.Close()
	if a.waker == nil {
		t.Skip("this system has no timer descriptors")
	}
	a.waker.mu.Lock()
	a.waker.mu.fd = -1 // nothing arms the descriptor
	a.waker.mu.Unlock()
	a.waker.hasty()
	a.Set(time.Microsecond)
	a.Wait(nil)
	if left, _ := a.waker.called(t); left != 0 {
		t.Errorf("still called, in %v", left)
	}
}

// A bell that rings too late counts like an alarm that is heard too late.
func TestReminderAfterLateBell(t *testing.T) {
	known(t)
	w := helper(t)
	w.set(time.Hour)
	w.mu.Lock()
	w.mu.wanted = w.now() - int64(tooLate)
	w.mu.reminder.due = w.mu.wanted
	late := w.heedLocked(w.now())
	until := w.mu.reminder.until
	w.mu.Unlock()
	if !late || until == 0 {
		t.Errorf("late: %v, next alarms are called up to %v", late, time.Duration(until))
	}
}

// Who hears an alarm that has been set anew in the meantime leaves it armed.
func TestReminderOfNextSetting(t *testing.T) {
	known(t)
	w := helper(t)
	w.hasty()
	w.set(time.Hour)
	w.heard()
	if left, _ := w.called(t); left == 0 {
		t.Error("the next alarm is not called")
	}
}

// A timer that was given back is no longer there.
func TestReminderIsGivenBack(t *testing.T) {
	known(t)
	var k kernelTimer
	k.arm(time.Hour)
	id := k.id
	if left, _ := k.pending(t); left == 0 {
		t.Fatal("not armed")
	}
	k.close()
	var setting struct{ interval, value syscall.Timespec }
	_, _, errno := syscall.RawSyscall(syscall.SYS_TIMER_GETTIME, uintptr(id), uintptr(unsafe.Pointer(&setting)), 0)
	if errno != syscall.EINVAL {
		t.Errorf("timer_gettime: %v, want %v", errno, syscall.EINVAL)
	}
}

// The calls come again and again, and reach the monitor. The runtime sends the same signal, unless it is told not to when it
// starts; so that needs a process of its own.
func TestCallsReachTheMonitor(t *testing.T) {
	known(t)
	if !strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGURG)
	defer signal.Stop(signals)
	var k kernelTimer
	defer k.close()
	before := slept(t)
	k.arm(time.Nanosecond)
	for range 10 {
		<-signals
	}
	if slept(t) == before {
		t.Error("the monitor has not been called")
	}
}

// slept gives how often the monitor has gone to sleep.
func slept(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(int(sysmon.thread.Load())) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, n, found := strings.Cut(string(status), "voluntary_ctxt_switches:")
	if !found {
		t.Skip("this system does not count switches")
	}
	n, _, _ = strings.Cut(n, "\n")
	return strings.TrimSpace(n)
}
