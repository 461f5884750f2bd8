package alarm

import (
	"math"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// waker has a timer descriptor beside the timer of an alarm, and rings the bell
// if the descriptor is the first to go off.
//
// A system call for every setting would be a waste, since most settings
// replace one that is not yet due by a later one. So the descriptor may be
// armed too early, never too late: a later setting only writes down what is
// wanted, and when the descriptor goes off the goroutine that reads it arms it
// again for the rest.
//
//	set:   wanted = now + d; if wanted < armed: arm
//	stop:  wanted = never
//	run:   for each wake-up: armed = never; if wanted is still to come: arm, else: ring
type waker struct {
	file  *os.File      // watched by the runtime's poller; closing it ends run
	epoch time.Time     // origin of the instants below
	bell  chan struct{} // holds one ring at most, that of the last setting
	done  chan struct{} // closed when run has ended

	// mu is a leaf lock: under it there are a few system calls at most, none of
	// which waits for anything.
	mu struct {
		sync.Mutex
		timer  *time.Timer // the alarm's
		fd     int         // file's descriptor; -1 once it is closed
		wanted int64       // the alarm's instant, in ns since epoch; never once it rang
		armed  int64       // the descriptor's instant; never later than wanted
	}
}

// never is the instant of what is not set.
const never = math.MaxInt64

const clockMonotonic = 1 // CLOCK_MONOTONIC, as package time reads it

// newWaker gives timer, which is stopped, a waker, or returns nil if there can be
// none.
func newWaker(timer *time.Timer) *waker {
	if inBubble() {
		return nil
	}
	// The flags of a timer descriptor are those of open, on every architecture.
	fd, _, errno := syscall.RawSyscall(syscall.SYS_TIMERFD_CREATE,
		clockMonotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return nil
	}
	w := &waker{
		file:  os.NewFile(fd, "alarm"),
		epoch: time.Now(),
		bell:  make(chan struct{}, 1),
		done:  make(chan struct{}),
	}
	w.mu.timer = timer
	w.mu.fd, w.mu.wanted, w.mu.armed = int(fd), never, never
	go w.run()
	return w
}

// inBubble reports whether the clock is that of a testing/synctest bubble. There
// the descriptor must stay away: it follows the real clock, and a goroutine
// that reads it is not durably blocked, so the fake clock would never move on.
// A bubble cannot be asked for, but its clock stands still while a goroutine of it
// runs, and the kernel's does not. What time it is says nothing: a bubble may have
// slept until the present.
func inBubble() bool {
	begin := time.Now()
	var first syscall.Timeval
	if syscall.Gettimeofday(&first) != nil {
		return true
	}
	for now := first; now == first; {
		if time.Since(begin) != 0 {
			return false
		}
		if syscall.Gettimeofday(&now) != nil {
			return true
		}
	}
	return time.Since(begin) == 0
}

// run reads the descriptor until it is closed.
func (w *waker) run() {
	defer close(w.done)
	var expirations [8]byte
	for {
		if _, err := w.file.Read(expirations[:]); err != nil {
			return
		}
		w.mu.Lock()
		w.mu.armed = never
		if w.mu.wanted < never {
			w.goOffLocked()
		}
		w.mu.Unlock()
	}
}

// goOffLocked rings the bell if the alarm is due, and arms the descriptor for the
// rest otherwise. A bell replaces the timer: if the timer has gone off as well, and
// nobody has received from it, that is taken back.
func (w *waker) goOffLocked() {
	if left := time.Duration(w.mu.wanted - w.now()); left > 0 {
		w.armLocked(left)
		return
	}
	w.stopLocked()
	w.bell <- struct{}{}
}

func (w *waker) set(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hushLocked()
	w.mu.timer.Reset(d)
	if now := w.now(); d > 0 && int64(d) < never-now {
		w.mu.wanted = now + int64(d)
	}
	if w.mu.wanted < w.mu.armed {
		w.armLocked(d)
	}
}

func (w *waker) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopLocked()
}

// stopLocked takes back the last setting, and its ring if nobody has heard it.
func (w *waker) stopLocked() {
	w.mu.timer.Stop()
	w.hushLocked()
}

// hushLocked is stopLocked but for the timer.
func (w *waker) hushLocked() {
	w.mu.wanted = never
	select {
	case <-w.bell:
	default:
	}
}

func (w *waker) close() {
	w.mu.Lock()
	w.mu.fd = -1 // the number may soon be another file's
	w.mu.Unlock()
	w.file.Close()
	<-w.done
}

// now returns the instant it is.
func (w *waker) now() int64 { return int64(time.Since(w.epoch)) }

// armLocked arms the descriptor for the wanted instant, which is in left from
// now. If the kernel refuses, the timer does without.
func (w *waker) armLocked(left time.Duration) {
	if w.mu.fd < 0 {
		return
	}
	// A field of a Timespec may have 32 bits: 68 years, then run arms it again.
	var setting struct{ interval, value syscall.Timespec }
	setting.value = syscall.NsecToTimespec(int64(min(left, math.MaxInt32*time.Second)))
	_, _, errno := syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME,
		uintptr(w.mu.fd), 0, uintptr(unsafe.Pointer(&setting)), 0, 0, 0)
	if errno == 0 {
		w.mu.armed = w.mu.wanted
	}
}
