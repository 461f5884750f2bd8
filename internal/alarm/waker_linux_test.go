package alarm

import (
	"context"
	"runtime"
	"runtime/pprof"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A waker shows in nothing but the lateness of wake-ups, on which no test can rely. So
// these tests look at its instants, and stop the timer.

// testWaker returns the waker of an alarm, and a channel with a token for each time that it
// has rung.
func testWaker(t *testing.T) (*waker, chan struct{}) {
	t.Helper()
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	rung := make(chan struct{}, 1000)
	w := newWaker(timer, func() { rung <- struct{}{} })
	if w == nil {
		t.Skip("this system has no timer descriptors")
	}
	t.Cleanup(w.close)
	return w, rung
}

// instants returns wanted and armed.
func (w *waker) instants() (wanted, armed int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.wanted, w.mu.armed
}

// expired waits until the descriptor, armed for that instant, has been read, and returns
// what it is armed for then. It returns armed after ten seconds, and at once if armed is
// never.
func (w *waker) expired(armed int64) int64 {
	for begin := time.Now(); armed != never && time.Since(begin) < 10*time.Second; runtime.Gosched() {
		if _, now := w.instants(); now != armed {
			return now
		}
	}
	return armed
}

// A descriptor that goes off for a setting that was replaced is armed again.
func TestWakerIsArmedAgain(t *testing.T) {
	w, _ := testWaker(t)
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

// A descriptor that has gone off is armed by the next setting.
func TestWakerIsArmedByNextSetting(t *testing.T) {
	w, _ := testWaker(t)
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

// A setting arms the descriptor only if it is earlier than the instant for which the
// descriptor is armed.
func TestWakerIsArmedForEarliest(t *testing.T) {
	w, _ := testWaker(t)
	w.set(2 * time.Hour)
	_, first := w.instants()
	w.set(time.Hour)
	wanted, second := w.instants()
	if second != wanted || second >= first {
		t.Errorf("armed for %v, want %v; before it was %v",
			time.Duration(second), time.Duration(wanted), time.Duration(first))
	}
	w.set(2 * time.Hour)
	if _, third := w.instants(); third != second {
		t.Errorf("armed for %v by a later setting, want %v", time.Duration(third), time.Duration(second))
	}
	w.stop()
	if wanted, fourth := w.instants(); wanted != never || fourth != second {
		t.Errorf("wanted %v, armed for %v after stop, want never and %v",
			time.Duration(wanted), time.Duration(fourth), time.Duration(second))
	}
}

// The waker rings if the timer has not gone off, and stops it.
func TestWakerRingsForTimer(t *testing.T) {
	w, rung := testWaker(t)
	for range 100 {
		w.mu.Lock()
		w.mu.timer.Reset(time.Hour)
		w.mu.wanted = w.now() + int64(50*time.Microsecond)
		w.armLocked(50 * time.Microsecond)
		w.mu.Unlock()
		<-rung
		if wanted, armed := w.instants(); wanted != never || armed != never {
			t.Errorf("wanted %v, armed for %v after it rang", time.Duration(wanted), time.Duration(armed))
		}
		if w.mu.timer.Stop() {
			t.Fatal("the timer goes on")
		}
	}
}

// In a bubble there is no waker, also if its clock shows the present.
func TestWakerNotInBubbleAtPresent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tv syscall.Timeval
		if err := syscall.Gettimeofday(&tv); err != nil {
			t.Skip("this system has no gettimeofday:", err)
		}
		time.Sleep(time.Until(time.Unix(tv.Unix())))
		a := New(func() {}, true)
		defer a.Close()
		if a.HasWaker() {
			t.Error("the alarm has a waker in a bubble")
		}
	})
}

// The goroutine that reads the descriptor has no labels of the goroutine that made the alarm, which may serve a request.
func TestWakerHasNoLabels(t *testing.T) {
	pprof.Do(t.Context(), pprof.Labels("request", "of the maker"), func(context.Context) {
		w, rung := testWaker(t)
		w.set(5 * time.Millisecond)
		w.mu.timer.Reset(time.Hour) // so that the descriptor is the first
		<-rung
	})
	var profile strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(profile.String(), "of the maker") {
		t.Errorf("a goroutine has the labels of the maker:\n%s", profile.String())
	}
}
