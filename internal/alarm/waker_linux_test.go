package alarm

import (
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// What the waker does shows in nothing but the lateness of wake-ups, which no
// test can rely on. So these look at the instants that it keeps, and take the
// timer away: an alarm without a waker is as late as an ordinary timer.

// helper makes the waker of an alarm.
func helper(t *testing.T) *waker {
	t.Helper()
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	w := newWaker(timer)
	if w == nil {
		t.Skip("this system has no timer descriptors")
	}
	t.Cleanup(w.close)
	return w
}

// instants gives what is wanted, and what the descriptor is armed for.
func (w *waker) instants() (wanted, armed int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.wanted, w.mu.armed
}

// expired waits until the descriptor, armed for that instant, has gone off and
// been read, and gives what it is armed for then. It gives up after a while. If
// armed is never, it has gone off before anybody looked.
func (w *waker) expired(armed int64) int64 {
	for begin := time.Now(); armed != never && time.Since(begin) < 10*time.Second; runtime.Gosched() {
		if _, now := w.instants(); now != armed {
			return now
		}
	}
	return armed
}

// A descriptor that goes off for a setting that was replaced is armed again, for
// the setting that replaced it.
func TestDescriptorIsArmedAgain(t *testing.T) {
	w := helper(t)
	for range 1000 {
		w.set(time.Millisecond)
		_, early := w.instants()
		w.set(time.Hour)
		wanted, armed := w.instants()
		if armed != early {
			continue // it went off before it was replaced
		}
		if got := w.expired(early); got != wanted {
			t.Errorf("armed for %v, want %v", time.Duration(got), time.Duration(wanted))
		}
		return
	}
	t.Error("a later setting arms the descriptor")
}

// A descriptor that has gone off for good is armed by the next setting.
func TestDescriptorIsArmedByNextSetting(t *testing.T) {
	w := helper(t)
	w.set(time.Microsecond)
	early, _ := w.instants()
	if got := w.expired(early); got != never {
		t.Errorf("armed for %v after it went off", time.Duration(got))
	}
	w.set(time.Hour)
	if wanted, armed := w.instants(); armed != wanted {
		t.Errorf("armed for %v, want %v", time.Duration(armed), time.Duration(wanted))
	}
}

// A setting arms the descriptor if it is earlier than what that is armed for,
// and only then.
func TestDescriptorIsArmedForEarliest(t *testing.T) {
	w := helper(t)
	w.set(2 * time.Hour)
	_, first := w.instants()
	w.set(time.Hour)
	wanted, second := w.instants()
	if second != wanted || second >= first {
		t.Errorf("armed for %v, want %v; before it was %v", time.Duration(second), time.Duration(wanted), time.Duration(first))
	}
	w.set(2 * time.Hour)
	if _, third := w.instants(); third != second {
		t.Errorf("armed for %v by a later setting, want %v", time.Duration(third), time.Duration(second))
	}
	w.stop()
	if wanted, fourth := w.instants(); wanted != never || fourth != second {
		t.Errorf("wanted %v, armed for %v after stop, want never and %v", time.Duration(wanted), time.Duration(fourth), time.Duration(second))
	}
}

// A bell that rings and is not heard is silenced by the next setting, or by stop.
func TestBellOfLastSetting(t *testing.T) {
	w := helper(t)
	for name, replace := range map[string]func(){
		"set":  func() { w.set(time.Hour) },
		"stop": w.stop,
	} {
		w.set(time.Microsecond)
		_, early := w.instants()
		w.expired(early)
		replace()
		if len(w.bell) > 0 {
			t.Errorf("the bell rings after %s", name)
		}
	}
}

// The bell rings for a timer that does not go off, since the processor that has
// it is kept busy.
func TestBellRingsForTimer(t *testing.T) {
	w := helper(t)
	w.set(time.Millisecond)
	w.mu.timer.Stop()
	<-w.bell
	if wanted, armed := w.instants(); wanted != never || armed != never {
		t.Errorf("wanted %v, armed for %v after the bell rang", time.Duration(wanted), time.Duration(armed))
	}
}

// When the bell rings the timer is silent, also if it went off before.
func TestBellInsteadOfTimer(t *testing.T) {
	w := helper(t)
	for range 100 {
		w.set(50 * time.Microsecond)
		<-w.bell
		select {
		case <-w.mu.timer.C:
			t.Fatal("both went off")
		default:
		}
	}
}

// In a bubble nothing helps the timer, also when its clock shows the present.
func TestUnhelpedInBubbleAtPresent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tv syscall.Timeval
		if err := syscall.Gettimeofday(&tv); err != nil {
			t.Skip("this system does not tell the time:", err)
		}
		time.Sleep(time.Until(time.Unix(tv.Unix())))
		a := New()
		defer a.Close()
		if a.Helped() {
			t.Error("the alarm has a helper in a bubble")
		}
	})
}
