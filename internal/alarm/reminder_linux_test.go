package alarm

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// What the reminder does shows in the lateness of wake-ups only, as with the
// waker. So these ask the kernel what it was told.

// known skips the test unless the monitor's thread is known.
func known(t *testing.T) {
	t.Helper()
	if _, err := os.ReadFile("/proc/self/syscall"); err != nil {
		t.Skip("this system does not tell where threads are:", err)
	}
	sought(t, func() bool {
		sysmon.searches.Store(0)
		sysmon.search(findSysmon)
		return sysmon.thread.Load() != 0
	})
}

// sought looks until found says so. The monitor of a process that has been idle may
// not be where it is looked for until the world was stopped and goes on.
func sought(t *testing.T, found func() bool) {
	t.Helper()
	for tries := 1; !found(); tries++ {
		if tries == 100_000 {
			t.Fatal("no thread is in runtime.usleep, or not the same for long")
		}
		if tries%100 == 0 {
			runtime.GC()
		}
	}
}

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

// The monitor is one thread, and the same each time.
func TestSysmonIsOneThread(t *testing.T) {
	known(t)
	found := map[int32]int{}
	for range 20 {
		var id int32
		sought(t, func() bool { id = findSysmon(); return id != 0 })
		found[id]++
	}
	if found[sysmon.thread.Load()] < 15 {
		t.Errorf("took %d for the monitor, found %v", sysmon.thread.Load(), found)
	}
}

// Who is found twice, and nobody else between, is taken for the monitor.
func TestSysmonIsFoundTwice(t *testing.T) {
	for _, c := range []struct {
		finds []int32
		want  int32
	}{
		{[]int32{5}, 0},
		{[]int32{5, 5}, 5},
		{[]int32{0, 0, 0}, 0},
		{[]int32{5, 6, 5, 6}, 0},
		{[]int32{6, 5, 5, 6, 6}, 5},
		{[]int32{5, 0, 5}, 5},
	} {
		var m monitor
		for _, id := range c.finds {
			m.search(func() int32 { return id })
		}
		if got := m.thread.Load(); got != c.want {
			t.Errorf("found %v and took %d, want %d", c.finds, got, c.want)
		}
	}
}

// A monitor that is known is not looked for, and one that can't be found not for ever.
func TestSysmonSearchEnds(t *testing.T) {
	for found, want := range map[int32]int{5: 2, 0: maxSearches} {
		var m monitor
		searches := 0
		for range 1000 {
			m.search(func() int32 { searches++; return found })
		}
		if searches != want {
			t.Errorf("looked %d times and found %d, want %d times", searches, found, want)
		}
	}
}

// Only a thread that is in the runtime's usleep is the monitor.
func TestSleeps(t *testing.T) {
	here, _, _, _ := runtime.Caller(0)
	for _, state := range []string{
		"", "running\n", "-1 0x7ffd 0x0\n", "35 0x1 0x0 0x0 0x0 0x1 0xa 0x1 0xzz\n", "35 1",
		fmt.Sprintf("35 0x1 0x0 0x0 0x0 0x1 0xa 0x1 %#x\n", here),
	} {
		if sleeps(state) {
			t.Errorf("%q", state)
		}
	}
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
