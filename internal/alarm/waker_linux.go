package alarm

import (
	"context"
	"math"
	"os"
	"runtime/pprof"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// waker has a timer descriptor beside the timer of an alarm, and rings if the descriptor is
// the first to go off.
//
// Most settings replace one that is not yet due by a later one, and a system call for
// each would be a waste. So the descriptor may be armed too early, never too late: a
// later setting changes wanted alone, and when the descriptor goes off the goroutine
// that reads it arms it again.
//
//	set:   wanted = now + d; if wanted < armed: arm
//	stop:  wanted = never
//	run:   for each expiration: armed = never; if wanted is to come: arm, else: ring
type waker struct {
	file  *os.File        // in the runtime's poller; closing it ends run
	conn  syscall.RawConn // of file
	epoch time.Time       // origin of the instants below
	ring  func()          // called without mu
	done  chan struct{}   // closed when run has ended

	// mu is a leaf lock. The system calls that are made under it do not wait.
	mu struct {
		sync.Mutex
		timer  *time.Timer // the alarm's
		fd     int         // file's descriptor; -1 once it is closed
		wanted int64       // the alarm's instant, in ns since epoch; never once the descriptor has rung
		armed  int64       // the descriptor's instant, not later than wanted
	}
}

// never is the instant of an alarm that is not set.
const never = math.MaxInt64

const clockMonotonic = 1 // CLOCK_MONOTONIC, which package time reads

// newWaker returns a waker for timer, which is stopped, or nil if there can be none.
func newWaker(timer *time.Timer, ring func()) *waker {
	if InBubble() { // a descriptor follows the real clock, and who reads it keeps the bubble's from moving
		return nil
	}
	// The flags of a timer descriptor are those of open on every architecture.
	fd, _, errno := syscall.RawSyscall(syscall.SYS_TIMERFD_CREATE,
		clockMonotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return nil
	}
	file := os.NewFile(fd, "alarm")
	conn, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil
	}
	w := &waker{
		file:  file,
		conn:  conn,
		epoch: time.Now(),
		ring:  ring,
		done:  make(chan struct{}),
	}
	w.mu.timer = timer
	w.mu.fd, w.mu.wanted, w.mu.armed = int(fd), never, never
	go w.run()
	return w
}

// run reads the descriptor until it is closed. The system call is a raw one, which does not
// wait: the runtime's monitor, which sleeps while the process idles, is not woken for it.
func (w *waker) run() {
	defer close(w.done)
	pprof.SetGoroutineLabels(context.Background()) // not those of the request that made the alarm
	w.conn.Read(func(fd uintptr) bool {
		var expirations [8]byte
		n, _, _ := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&expirations)), 8)
		if n == 8 && w.wentOff() {
			w.ring()
		}
		return false // wait for the next, until the file is closed
	})
}

// wentOff takes note that the descriptor has gone off, and reports whether the alarm is due.
// If it is, the timer is stopped; otherwise the descriptor is armed again.
func (w *waker) wentOff() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.armed = never
	if w.mu.wanted == never {
		return false
	}
	if left := time.Duration(w.mu.wanted - w.now()); left > 0 {
		w.armLocked(left)
		return false
	}
	w.mu.wanted = never
	return w.mu.timer.Stop() // else the timer rings
}

func (w *waker) set(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.wanted = never
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
	w.mu.wanted = never
	w.mu.timer.Stop()
}

func (w *waker) close() {
	w.mu.Lock()
	w.mu.fd = -1 // the number may soon be another file's
	w.mu.Unlock()
	w.file.Close()
	<-w.done
}

// now returns the present instant.
func (w *waker) now() int64 { return int64(time.Since(w.epoch)) }

// armLocked arms the descriptor for the wanted instant, which is left from now. If the
// kernel refuses, there is the timer.
func (w *waker) armLocked(left time.Duration) {
	if w.mu.fd < 0 {
		return
	}
	// A field of a Timespec may have 32 bits. After 68 years run arms it again.
	var setting struct{ interval, value syscall.Timespec }
	setting.value = syscall.NsecToTimespec(int64(min(left, math.MaxInt32*time.Second)))
	_, _, errno := syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME,
		uintptr(w.mu.fd), 0, uintptr(unsafe.Pointer(&setting)), 0, 0, 0)
	if errno == 0 {
		w.mu.armed = w.mu.wanted
	}
}
