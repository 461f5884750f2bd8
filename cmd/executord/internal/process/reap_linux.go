package process

import (
	"maps"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Adopt makes the caller's process the parent of every process below it whose
// own parent has ended, and waits for them, so that none stays a zombie. That
// is what init does, and so what PID 1 of a container has to do. The function
// that it returns ends the waiting. Call it once, before the first Run.
//
// Of the children that are not its own it waits for all: nothing else in the
// program may start some.
func (s *Supervisor) Adopt() (stop func()) {
	// A shell may have started processes and then become this one by exec.
	for _, child := range children() {
		s.foreign[child.PID] = true
	}

	// Package os tries once, with a child of its own, whether it can use
	// pidfds. Let it, before that child could be taken for an orphan.
	os.FindProcess(os.Getpid())

	// Without it (before Linux 3.4), orphans go to init.
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

	s.inside = enclose()
	s.setReaping(true)
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() { // owned by the caller, through stop
		defer close(gone)
		for {
			s.reap()
			select {
			case <-died:
			case <-quit:
				return
			}
		}
	}()
	return func() {
		signal.Stop(died)
		close(quit)
		<-gone
		s.setReaping(false)
		s.inside.remove()
	}
}

func (s *Supervisor) setReaping(reaping bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.reaping = reaping
}

// reap waits for the children that have ended.
func (s *Supervisor) reap() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reapLocked()
}

// reapLocked looks at one child that has ended at a time, without reaping it. One that
// may be about to be taken into own is left for started, and those behind it too.
//
// A goroutine for each child that waits for it would cost a thread.
func (s *Supervisor) reapLocked() {
	for {
		pid, err := endedChild()
		if err != nil { // there are no children: another part of the program has waited for ours
			for _, c := range s.mu.own {
				s.endLocked(c)
			}
			return
		}
		c := s.mu.own[pid]
		if pid == 0 || c == nil && s.mu.starting {
			return
		}
		var status syscall.WaitStatus
		got, _ := syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
		if c == nil {
			s.mu.reaped++
			continue
		}
		c.status, c.known = status, got == pid
		s.endLocked(c)
	}
}

// endedChild returns a child that has ended and was not waited for, or 0. The error
// says that there are no children at all.
func endedChild() (pid int, err error) {
	// The part of siginfo_t that SIGCHLD uses; what follows the first three is
	// a union aligned as a pointer.
	type childInfo struct {
		_     [3]int32
		union struct {
			_   [0]uintptr
			pid int32
		}
	}
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		return int((*childInfo)(unsafe.Pointer(&info)).union.pid), err
	}
}

// EndStrays ends the adopted processes that are still there: SIGTERM for each, and
// after the grace SIGKILL, also for those that begin later. It is to be called when no
// run goes on. It returns those that had to be ended, up to maxStrays of them, and as
// survivors those that are there in spite of SIGKILL.
//
// The end is that the kernel has no child of this process left. A look at /proc that
// finds no process is not the end: a process that forks and ends, again and again, is
// mostly seen in none.
func (s *Supervisor) EndStrays() (ended, survivors []Stray) {
	asked := make(map[int]bool)
	ask := func(stray Stray, end func(pid int)) {
		if !asked[stray.PID] && len(ended) < maxStrays {
			ended = append(ended, stray)
		}
		asked[stray.PID] = true
		end(stray.PID)
	}
	overdue := time.Now().Add(s.Grace)
	for wait := firstLook; ; wait = min(2*wait, lastLook) {
		s.reap()
		late := time.Since(overdue)
		hard := late >= 0 || s.isKilled()
		if hard {
			s.inside.kill()
		}
		var there []Stray
		s.eachStray(func(stray Stray) {
			there = append(there, stray)
			switch {
			case hard:
				ask(stray, kill)
			case !asked[stray.PID]:
				ask(stray, terminate)
			}
		})
		switch {
		case len(there) == 0 && s.childless():
			return ended, nil
		case late > despair:
			return ended, there
		case hard:
			s.hunt(lastLook, func(stray Stray) { ask(stray, kill) })
		default:
			time.Sleep(wait)
		}
	}
}

// maxStrays bounds how many processes EndStrays names: one that forks for ever has
// any number of descendants.
const maxStrays = 100

// hunt calls f for what is adopted, for so long, as quickly as it can: it is to catch
// a process that forks and ends before a look at all processes has come to it.
func (s *Supervisor) hunt(long time.Duration, f func(Stray)) {
	for end := time.Now().Add(long); time.Now().Before(end); s.reap() {
		if !s.eachListed(f) {
			time.Sleep(firstLook) // this kernel does not list the children of a process
			return
		}
	}
}

// eachListed calls f for every adopted process that the kernel lists as a child of
// this process, and reports whether it does list them. That takes some microseconds,
// where eachStray looks at all processes of the machine.
func (s *Supervisor) eachListed(f func(Stray)) (listed bool) {
	defer s.still()()
	threads, _ := os.ReadDir("/proc/self/task")
	for _, thread := range threads {
		children, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/children")
		if err != nil {
			continue // the thread has just ended, if others are listed
		}
		listed = true
		for field := range strings.FieldsSeq(string(children)) {
			if p, ok := look(field); ok && p.alive && s.adopted(p.PID) {
				f(p.Stray)
			}
		}
	}
	return listed
}

// killStrays kills the adopted processes, and reports whether there were any.
func (s *Supervisor) killStrays() bool {
	s.inside.kill()
	return s.eachStray(func(stray Stray) { kill(stray.PID) })
}

func kill(pid int) { syscall.Kill(pid, syscall.SIGKILL) }

// eachStray calls f for every adopted process, and reports whether there was
// one. No number is given to a new process meanwhile: nothing else waits for
// these children, and here it is not done.
func (s *Supervisor) eachStray(f func(Stray)) (found bool) {
	defer s.still()()
	for _, child := range children() {
		if s.adopted(child.PID) {
			found = true
			f(child)
		}
	}
	return found
}

// adopted reports whether the child was neither started here nor there before Adopt.
// The caller keeps the children still.
func (s *Supervisor) adopted(pid int) bool {
	_, own := s.mu.own[pid]
	return !own && !s.foreign[pid]
}

// childless reports whether no adopted process is left, alive or dead: the kernel has no child of this process. While
// there are children that were not adopted that does not tell, and it is so if for some time none is seen and none
// ends: one that forks and ends is seen seldom, but has to be waited for.
func (s *Supervisor) childless() bool {
	if s.only() {
		return none(unix.P_ALL, 0)
	}
	before, seen := s.reaped(), false
	s.hunt(lastLook, func(Stray) { seen = true })
	return !seen && s.reaped() == before
}

// reaped returns how many children that are not this program's own have been waited for.
func (s *Supervisor) reaped() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.reaped
}

// only reports whether all children of this process are adopted.
func (s *Supervisor) only() bool {
	defer s.still()()
	maps.DeleteFunc(s.foreign, func(pid int, _ bool) bool { return none(unix.P_PID, pid) })
	return len(s.mu.own) == 0 && len(s.foreign) == 0
}

// none reports whether this process has no such child, alive or dead.
func none(kind, pid int) bool {
	for {
		err := unix.Waitid(kind, pid, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == unix.ECHILD
		}
	}
}

// children returns the living children of this process. Not every kernel has
// /proc/self/task/*/children, so all processes are looked at.
func children() []Stray {
	var found []Stray
	self := os.Getpid()
	for p := range processes {
		if p.parent == self && p.alive {
			found = append(found, p.Stray)
		}
	}
	return found
}

// groupDead reports whether a group that has members has only zombies, whose
// parent has left the group and does not wait for them: to all signals they are
// there, and they hinder nothing.
//
// It looks twice: a process that forks and ends meanwhile, and its child, can
// both escape one look.
func groupDead(group int) bool {
	if _, err := os.ReadFile("/proc/1/stat"); err != nil {
		return false // processes of other users are hidden (hidepid), and may be in the group
	}
	for range 2 {
		zombies := 0
		for p := range processes {
			switch {
			case p.group == group && p.alive:
				return false
			case p.group == group:
				zombies++
			}
		}
		if zombies == 0 {
			return false // it is empty by now, or /proc does not tell
		}
	}
	return true
}

// status is what /proc has of a process.
type status struct {
	Stray
	parent, group int
	alive         bool
}

// processes are those that can be seen: none, if /proc is not there, or is that of
// another PID namespace, in which the numbers are those of others.
func processes(yield func(status) bool) {
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return
	}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if p, ok := look(entry.Name()); ok && !yield(p) {
			return
		}
	}
}

// look returns the status of the process with that number, and reports whether it is
// a number, and there is one.
func look(number string) (p status, ok bool) {
	pid, err := strconv.Atoi(number)
	if err != nil {
		return p, false
	}
	stat, err := os.ReadFile("/proc/" + number + "/stat")
	if err != nil {
		return p, false // it has just ended
	}
	// "PID (NAME) STATE PARENT GROUP ...", and a name can have anything in it.
	_, name, _ := strings.Cut(string(stat), "(")
	end := strings.LastIndexByte(name, ')')
	if end < 0 {
		return p, false
	}
	fields := strings.Fields(name[end+1:])
	if len(fields) < 18 {
		return p, false
	}
	p = status{Stray: Stray{pid, name[:end]}}
	p.parent, _ = strconv.Atoi(fields[1])
	p.group, _ = strconv.Atoi(fields[2])
	// The state is that of the first thread, which may end before the others.
	threads, _ := strconv.Atoi(fields[17])
	p.alive = fields[0] != "Z" && fields[0] != "X" || threads > 1
	return p, true
}
