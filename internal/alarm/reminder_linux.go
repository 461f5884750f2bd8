package alarm

import (
	"math"
	"syscall"
	"time"
	"unsafe"
)

// reminder has the runtime's monitor called while an alarm is overdue.
//
// The monitor takes a processor from a goroutine that it has seen there ten
// milliseconds before, and looks every ten milliseconds only if there is nothing
// else for it to do. So a goroutine that does not yield has its processor for ten
// to twenty, and an alarm that nobody else can hear is as late. A monitor that is
// called looks at once, and a goroutine has little more than ten.
//
// To call it is to end its sleep, by a timer of the kernel with the signal by which
// the runtime itself takes processors. That signal means nothing unless the runtime
// has noted before what it is for, and a program that listens to it gets it at any
// time as it is.
//
// Only a process in which an alarm has been heard too late pays for any of this.
// Calls must not overlap.
type reminder struct {
	due   int64 // the instant of the alarm that nobody has come to; never if there is none
	until int64 // the instant up to which the timer is armed with each alarm
	timer kernelTimer
}

const (
	tooLate  = 5 * time.Millisecond   // half of what the runtime gives a goroutine at a time
	memory   = time.Second            // how long it counts that an alarm was too late
	grace    = 500 * time.Microsecond // how long an alarm may be overdue before the call
	interval = 2 * time.Millisecond   // the time from one call to the next
)

// expect is told that now an alarm is set for the instant due, or for none.
func (r *reminder) expect(now, due int64) {
	r.due = due
	if due < never && now < r.until {
		r.timer.arm(time.Duration(due-now) + grace)
	} else {
		r.timer.disarm()
	}
}

// heard is told that somebody has come to the alarm now, and reports whether that is
// too late.
func (r *reminder) heard(now int64) bool {
	if now < r.due {
		return false // another was there before, or it was set anew in the meantime
	}
	late := now-r.due >= int64(tooLate)
	if late {
		r.until = now + int64(memory)
	}
	r.expect(now, never)
	return late
}

// kernelTimer calls the monitor. The zero value is not armed.
type kernelTimer struct {
	id     int32 // the kernel's, if made
	made   bool
	armed  bool
	closed bool
}

// arm makes it call in d from now, and every interval after that. If the monitor is
// not known, the kernel refuses, or the timer is closed, nobody is called.
func (k *kernelTimer) arm(d time.Duration) {
	if !k.made && !k.create() {
		return
	}
	// A field of a Timespec may have 32 bits; an alarm that is 68 years away may be called early.
	d = min(d, math.MaxInt32*time.Second)
	k.armed = k.set(syscall.NsecToTimespec(int64(d)), syscall.NsecToTimespec(int64(interval)))
}

func (k *kernelTimer) disarm() {
	if k.armed {
		k.armed = !k.set(syscall.Timespec{}, syscall.Timespec{})
	}
}

// close gives the timer back to the kernel.
func (k *kernelTimer) close() {
	if k.made {
		syscall.RawSyscall(syscall.SYS_TIMER_DELETE, uintptr(k.id), 0, 0)
	}
	*k = kernelTimer{closed: true}
}

// create asks the kernel for a timer, and reports whether there is one.
func (k *kernelTimer) create() bool {
	thread := sysmon.thread.Load()
	if thread == 0 || k.closed {
		return false
	}
	const threadID = 4 // SIGEV_THREAD_ID
	event := struct {
		value  uintptr
		signal int32
		notify int32
		thread int32
		_      [64]byte // the kernel reads 64 in all
	}{signal: int32(syscall.SIGURG), notify: threadID, thread: thread}
	_, _, errno := syscall.RawSyscall(syscall.SYS_TIMER_CREATE,
		clockMonotonic, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&k.id)))
	k.made = errno == 0
	return k.made
}

// set reports whether the kernel has taken the setting.
func (k *kernelTimer) set(value, interval syscall.Timespec) bool {
	setting := struct{ interval, value syscall.Timespec }{interval, value}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_TIMER_SETTIME,
		uintptr(k.id), 0, uintptr(unsafe.Pointer(&setting)), 0, 0, 0)
	return errno == 0
}
