// Package process runs commands, each in a process group of its own, and sees
// to it that nothing of a group is left when its run is over.
//
// A run ends when its command has: the process that was started, which for most
// jobs is the shell. What it leaves in the background is given a moment to end
// by itself and is then ended too. Cron lets such processes live on. That was
// rejected: a group can be signaled safely only while its number is known to be
// taken, so later, at the end of the daemon, it would be too late; and a job
// whose processes pile up over its runs has escaped the rule that a job never
// overlaps itself.
//
// A process that leaves the group (setsid) is out of the run's reach. On Linux
// a Supervisor can adopt and end those too, when all is over.
package process

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Command is what to run.
type Command struct {
	Args  []string // program and arguments; the program is looked for in the PATH of Env
	Env   []string // the whole environment; of two values for a name the later one wins
	Dir   string   // working directory; "" means the caller's own
	As    *User    // nil for the caller's own user
	Stdin string   // standard input; "" means /dev/null

	// Timeout is how long the command may take, from when it is started: what it
	// waits for others to be started does not count. Zero means no limit.
	Timeout time.Duration
}

// ErrTimeout is the cause of the end of a command that took longer than its
// timeout.
var ErrTimeout = errors.New("the command took longer than its timeout")

// Stream is where a line of output came from.
type Stream string

const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// Observer has functions that are called in a run. Nothing is called after Run has
// returned.
type Observer struct {
	// Started is called once the command runs, before any Output. The command may
	// have ended by then. It was started at the time began.
	Started func(pid int, began time.Time)

	// Output is called with each line that the command writes, without its
	// end, by one goroutine a stream, so possibly by two at once. The line is
	// only valid during the call. More reports that it was too long, and that
	// the next call for this stream goes on with it.
	//
	// A command that writes faster than Output returns has to wait.
	Output Output
}

// Output takes a line of output.
type Output func(stream Stream, line []byte, more bool)

// Result is how a run ended.
type Result struct {
	// Err is why the command was not started; then nothing else is set, but for
	// Stopped and Cause, if it is that the context had ended.
	Err error

	Began  time.Time     // when the command was started
	Code   int           // exit code, -1 if a signal ended the command
	Signal string        // the signal that did, such as SIGKILL, or ""
	Took   time.Duration // from the start to the end of the command

	SignalNumber int // of Signal, 0 without one

	Cause    error // why the context ended or ErrTimeout, if Stopped; nil after Kill
	Stopped  bool  // the context ended before the command did, and its group got SIGTERM
	Killed   bool  // part of the group did not end within the grace, and was killed
	Leftover bool  // processes of the group outlived the command, and had to be ended
	Survived bool  // processes of the group could not even be killed
}

// Exited reports whether the command ended by itself, with an exit code.
func (r Result) Exited() bool { return r.Err == nil && r.Signal == "" && !r.Stopped }

// OK reports whether the command ended by itself with exit code 0.
func (r Result) OK() bool { return r.Exited() && r.Code == 0 }

// Status returns how the command ended, as "exit status 3" or "killed by SIGKILL".
func (r Result) Status() string {
	if r.Signal != "" {
		return "killed by " + r.Signal
	}
	return fmt.Sprintf("exit status %d", r.Code)
}

// Rest returns what became of processes that did not end with the command, or when they were asked to, "" if there were
// none.
func (r Result) Rest() string {
	switch {
	case r.Survived:
		return "processes of this run could not be killed and are still there"
	case r.Leftover && r.Killed:
		return "background processes outlived the command, did not end after SIGTERM, and were killed"
	case r.Leftover:
		return "background processes outlived the command and were ended"
	case r.Stopped && r.Killed && r.Signal != "SIGKILL":
		return "part of its processes did not end after SIGTERM, and was killed"
	}
	return ""
}

// Supervisor starts processes and knows those that are alive. There should be
// one in a program, since it waits for every child that it did not start when
// it has adopted orphans.
type Supervisor struct {
	// Grace is the time between SIGTERM and SIGKILL.
	Grace time.Duration

	// inside is where commands are started, nil for nowhere in particular.
	inside *enclosure

	// foreign are children that the program had before Adopt: not ours to end.
	foreign map[int]bool

	killOnce sync.Once
	killed   chan struct{} // closed by Kill

	// turn has a value in it while a process is started, or strays are looked
	// for: so that a child that is not in own yet is not taken for one. It is
	// taken before mu, and is not mu, since a start takes milliseconds: when many
	// jobs are due at once, the end of a run would wait for all their starts.
	turn chan struct{}

	// mu is a leaf lock.
	mu struct {
		sync.Mutex
		own      map[int]*child // started here and not waited for, by PID
		reaping  bool           // Adopt waits for all children
		reaped   int            // how many children were waited for that are not in own
		starting bool           // there may be a child that is not in own yet
	}
}

// child is a process that was started here.
type child struct {
	pid   int
	ended chan struct{} // closed when it has ended; then at and status are set

	at     time.Time
	status syscall.WaitStatus
	known  bool // false if another part of the program has waited for it
}

// New returns a Supervisor with the given grace.
func New(grace time.Duration) *Supervisor {
	s := &Supervisor{
		Grace: grace, killed: make(chan struct{}), foreign: make(map[int]bool), turn: make(chan struct{}, 1),
	}
	s.mu.own = make(map[int]*child)
	return s
}

// Kill ends the groups of all runs at once, without grace, those of runs to
// come, and what was adopted. It waits until nothing is left, but not for long,
// and not for Run to return: an Observer that is stuck does not stop it.
func (s *Supervisor) Kill() {
	s.killOnce.Do(func() { close(s.killed) })
	for deadline := time.Now().Add(despair); time.Now().Before(deadline); time.Sleep(lastLook) {
		left := s.killRuns()
		if !s.killStrays() && !left && s.childless() {
			return
		}
	}
}

// killRuns kills the groups of all runs, and reports whether there were any.
func (s *Supervisor) killRuns() bool {
	defer s.still()()
	for pid := range s.mu.own {
		killGroup(pid)
	}
	return len(s.mu.own) > 0
}

// still keeps processes from being started, and own as it is, until the function
// that it returns is called.
func (s *Supervisor) still() (release func()) {
	s.turn <- struct{}{}
	s.mu.Lock()
	return func() {
		s.mu.Unlock()
		<-s.turn
	}
}

func (s *Supervisor) isKilled() bool {
	select {
	case <-s.killed:
		return true
	default:
		return false
	}
}

// A Stray is a process that had left the group of its run, and was ended after
// all runs.
type Stray struct {
	PID  int
	Name string
}

// start starts cmd, which is that of c, as the leader of a new process group, when it is its turn, and
// returns it, the pipes to it, and the time of that. If ctx ends before, the error is that of ctx.
//
// The pipes are made then, too: of many commands that are due at once, those that wait would
// have thousands of files open, which each start copies and closes.
func (s *Supervisor) start(
	ctx context.Context, cmd *exec.Cmd, command Command,
) (c *child, p *pipes, began time.Time, err error) {
	cmd.SysProcAttr = newGroup()
	s.inside.put(cmd.SysProcAttr)
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, time.Time{}, ctx.Err()
	}
	defer func() { <-s.turn }()
	began = time.Now()
	if p, err = attach(cmd, command.Stdin); err != nil {
		return nil, nil, time.Time{}, explainLimit(err)
	}
	command.As.take(cmd.SysProcAttr)
	s.setStarting()
	err = cmd.Start()
	p.closeChildEnds()
	if err != nil {
		s.started(nil)
		p.close()
		return nil, nil, time.Time{}, explain(err, cmd, command.As)
	}
	c = &child{pid: cmd.Process.Pid, ended: make(chan struct{})}
	if s.started(c) {
		cmd.Process.Release()
	} else {
		go s.wait(cmd, c) // ends with the process; Run waits for it
	}
	return c, p, began, nil
}

func (s *Supervisor) setStarting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.starting = true
}

// started takes a child into own, unless it is nil, and reports whether the end of that will be seen by Adopt.
func (s *Supervisor) started(c *child) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.starting = false
	if c != nil {
		s.mu.own[c.pid] = c
	}
	if s.mu.reaping {
		s.reapLocked() // what could have been this child
	}
	return s.mu.reaping
}

// wait waits for cmd, where Adopt does not.
func (s *Supervisor) wait(cmd *exec.Cmd, c *child) {
	cmd.Wait() // the ProcessState has all that is in the error
	s.mu.Lock()
	defer s.mu.Unlock()
	if cmd.ProcessState != nil {
		c.status, c.known = cmd.ProcessState.Sys().(syscall.WaitStatus)
	}
	s.endLocked(c)
}

// endLocked notes that a child has ended, and was waited for.
func (s *Supervisor) endLocked(c *child) {
	c.at = time.Now()
	delete(s.mu.own, c.pid)
	close(c.ended)
}

// Run runs c to its end. When ctx ends before, or the timeout of c, it sends
// SIGTERM to the group of c, and after the grace SIGKILL.
func (s *Supervisor) Run(ctx context.Context, c Command, o Observer) Result {
	if err := ctx.Err(); err != nil {
		return notStarted(ctx)
	}
	cmd, err := c.prepare()
	if err != nil {
		return Result{Err: err}
	}
	child, pipes, began, err := s.start(ctx, cmd, c)
	if err != nil {
		if err == ctx.Err() {
			return notStarted(ctx)
		}
		return Result{Err: err}
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, began.Add(c.Timeout), ErrTimeout)
		defer cancel()
	}
	r := run{Supervisor: s, group: child.pid, Result: Result{Began: began}}
	observing := pipes.copy(c.Stdin, o, func() { o.Started(child.pid, began) })
	r.await(ctx, child.ended)
	r.Took = child.at.Sub(began)
	if !r.Stopped && s.isKilled() && signalOf(child.status) == "SIGKILL" {
		r.Stopped, r.Killed = true, true // by Kill, whose signal was quicker than the news of it
	}
	r.sweep(ctx)
	<-observing
	pipes.finish()

	if !child.known {
		return Result{Err: errors.New("how the command ended is not known: another part of the program has waited for it")}
	}
	r.Code = child.status.ExitStatus()
	if r.Signal = signalOf(child.status); r.Signal != "" {
		r.SignalNumber = int(child.status.Signal())
	}
	return r.Result
}

// notStarted is the result of a run whose context ended before its start.
func notStarted(ctx context.Context) Result {
	return Result{Err: context.Cause(ctx), Cause: context.Cause(ctx), Stopped: true}
}
