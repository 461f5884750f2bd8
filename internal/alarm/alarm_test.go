package alarm_test

import (
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/internal/alarm"
)

// bell is an alarm that can be waited for.
type bell struct {
	*alarm.Alarm
	rung chan struct{} // has a token for each time that it went off, and was not waited for
}

func newBell() bell {
	rung := make(chan struct{}, 1000)
	return bell{alarm.New(func() { rung <- struct{}{} }, true), rung}
}

// Wait waits until the alarm goes off.
func (b bell) Wait() { <-b.rung }

// quiet fails the test if the alarm has gone off.
func quiet(t *testing.T, b bell) {
	t.Helper()
	if len(b.rung) > 0 {
		t.Error("the alarm went off")
	}
}

// An alarm goes off at the instant for which it was set.
func TestAlarmGoesOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newBell()
		defer a.Close()
		for _, d := range []time.Duration{time.Hour, time.Nanosecond, 1, 0, -1, math.MinInt64} {
			start := time.Now()
			a.Set(d)
			a.Wait()
			if took := time.Since(start); took != max(d, 0) {
				t.Errorf("Set(%v) took %v", d, took)
			}
			synctest.Wait()
			quiet(t, a)
		}
	})
}

// A new alarm does not go off, nor does one that is set for 292 years.
func TestAlarmNotSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newBell()
		defer a.Close()
		time.Sleep(1000 * time.Hour)
		quiet(t, a)
		a.Set(math.MaxInt64)
		time.Sleep(1000 * time.Hour)
		quiet(t, a)
	})
}

// A setting replaces the one before, whether it is earlier or later.
func TestAlarmSetReplaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newBell()
		defer a.Close()
		for _, ds := range [][2]time.Duration{{time.Minute, time.Second}, {time.Second, time.Minute}} {
			start := time.Now()
			a.Set(ds[0])
			a.Set(ds[1])
			a.Wait()
			if took := time.Since(start); took != ds[1] {
				t.Errorf("went off after %v instead of %v", took, ds[1])
			}
			time.Sleep(time.Hour)
			quiet(t, a)
		}
	})
}

// An alarm that is not precise has no waker, and goes off as well.
func TestAlarmNotPrecise(t *testing.T) {
	rung := make(chan struct{})
	a := alarm.New(func() { close(rung) }, false)
	defer a.Close()
	if a.HasWaker() {
		t.Error("the alarm has a waker")
	}
	a.Set(time.Millisecond)
	<-rung
}

// In a bubble there is no waker, or the fake clock would stand still.
func TestAlarmNoWakerInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newBell()
		defer a.Close()
		if a.HasWaker() {
			t.Error("the alarm has a waker in a bubble")
		}
	})
}

// On Linux an alarm has a waker. After many goroutines have set and stopped it, it goes
// off for the last setting.
func TestAlarmHasWakerOnLinux(t *testing.T) {
	a := newBell()
	defer a.Close()
	switch linux := runtime.GOOS == "linux"; {
	case a.HasWaker() && !linux:
		t.Errorf("on %s the alarm has a waker", runtime.GOOS)
	case !a.HasWaker() && linux:
		t.Skip("this system has no timer descriptors")
	}
	for range 50 {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 {
					mu.Lock()
					if rand.N(4) == 0 {
						a.Stop()
					} else {
						a.Set(time.Duration(rand.N(int64(300 * time.Microsecond))))
					}
					mu.Unlock()
					runtime.Gosched()
				}
			})
		}
		wg.Wait()
		a.Stop()
		for len(a.rung) > 0 {
			a.Wait()
		}
		a.Set(time.Duration(rand.N(int64(time.Millisecond))))
		a.Wait()
	}
}

// An alarm goes off after a setting that was replaced by a later one, or stopped.
func TestAlarmIsSetAgain(t *testing.T) {
	a := newBell()
	defer a.Close()
	for range 20 {
		a.Set(50 * time.Microsecond)
		a.Set(2 * time.Millisecond)
		a.Wait()
		a.Set(50 * time.Microsecond)
		a.Stop()
		a.Set(time.Millisecond)
		a.Wait()
		a.Set(math.MaxInt64)
		a.Set(time.Duration(math.MaxInt64) - time.Hour)
	}
}

// Close ends the goroutine and closes the descriptor, may be called twice, and leaves an
// ordinary timer.
func TestAlarmClose(t *testing.T) {
	before := descriptors()
	for range 100 {
		a := newBell()
		a.Set(time.Hour)
		a.Close()
		a.Close()
		a.Set(0)
		a.Wait()
		a.Stop()
	}
	// The poller keeps a few of its own from the first descriptor on.
	if after := descriptors(); after > before+50 {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	for range 1000 { // the goroutine has closed done, but may not have ended
		if !strings.Contains(stacks(), "(*waker).run") {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("a goroutine is left:\n%s", stacks())
}

// descriptors counts the open files of the process, where the system shows them.
func descriptors() int {
	files, _ := os.ReadDir("/proc/self/fd")
	return len(files)
}

func stacks() string {
	buf := make([]byte, 1<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

// Setting and stopping an alarm do not allocate.
func TestAlarmSetDoesNotAllocate(t *testing.T) {
	a := newBell()
	defer a.Close()
	if n := testing.AllocsPerRun(100, func() { a.Set(time.Hour); a.Set(time.Minute); a.Stop() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
