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
	"os/exec"
	"sync"
	"time"
)

// Command is what to run.
type Command struct {
	Args  []string // program and arguments; the program is looked for in the PATH of Env
	Env   []string // the whole environment; of two values for a name the later one wins
	Dir   string   // working directory; "" means the caller's own
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

	Cause    error // why the context ended or ErrTimeout, if Stopped; nil after Kill
	Stopped  bool  // the context ended before the command did, and its group got SIGTERM
	Killed   bool  // part of the group did not end within the grace, and was killed
	Leftover bool  // processes of the group outlived the command, and had to be ended
	Survived bool  // processes of the group could not even be killed
}

// OK reports whether the command did what it should.
func (r Result) OK() bool { return r.Err == nil && r.Code == 0 && !r.Stopped }

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

	// reaped gets a value, without waiting, when a process of ours was waited for:
	// an orphan may have been hidden behind it.
	reaped chan struct{}

	// turn has a value in it while a process is started, or orphans are looked
	// for: so that a child that is not in own yet is not taken for an orphan. It is
	// taken before mu, and is not mu, since a start takes milliseconds: when many
	// jobs are due at once, the end of a run would wait for all their starts.
	turn chan struct{}

	// mu is a leaf lock.
	mu struct {
		sync.Mutex
		own map[int]struct{} // started here and not waited for
	}
}

// New returns a Supervisor with the given grace.
func New(grace time.Duration) *Supervisor {
	s := &Supervisor{
		Grace: grace, killed: make(chan struct{}), reaped: make(chan struct{}, 1), foreign: make(map[int]bool),
		turn: make(chan struct{}, 1),
	}
	s.mu.own = make(map[int]struct{})
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

// start starts cmd as the leader of a new process group, when it is its turn, and
// returns the time of that. If ctx ends before, the error is that of ctx.
func (s *Supervisor) start(ctx context.Context, cmd *exec.Cmd) (began time.Time, err error) {
	cmd.SysProcAttr = newGroup()
	s.inside.put(cmd.SysProcAttr)
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
	defer func() { <-s.turn }()
	began = time.Now()
	if err := cmd.Start(); err != nil {
		return time.Time{}, explain(err, cmd)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.own[cmd.Process.Pid] = struct{}{}
	return began, nil
}

// wait waits for cmd, which start has started, and returns the time of its end.
func (s *Supervisor) wait(cmd *exec.Cmd) (ended time.Time) {
	cmd.Wait() // the ProcessState has all that is in the error
	ended = time.Now()
	s.mu.Lock()
	delete(s.mu.own, cmd.Process.Pid)
	s.mu.Unlock()
	select {
	case s.reaped <- struct{}{}:
	default:
	}
	return ended
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
	pipes, err := attach(cmd, c.Stdin)
	if err != nil {
		return Result{Err: err}
	}
	began, err := s.start(ctx, cmd)
	pipes.closeChildEnds()
	if err != nil {
		pipes.close()
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
	r := run{Supervisor: s, group: cmd.Process.Pid, Result: Result{Began: began}}
	exited := make(chan struct{})
	go func() { // owned by Run, which does not return before it has ended
		r.Took = s.wait(cmd).Sub(began)
		close(exited)
	}()
	var observing sync.WaitGroup // an observer that is stuck must not keep the run from being ended
	observing.Go(func() {
		o.Started(cmd.Process.Pid, began)
		pipes.copy(o.Output, c.Stdin)
	})
	r.await(ctx, exited)
	r.sweep(ctx)
	observing.Wait()
	pipes.finish()

	if cmd.ProcessState == nil {
		return Result{Err: errors.New("it is not known how the command ended: another part of the program has waited for it")}
	}
	r.Code = cmd.ProcessState.ExitCode()
	r.Signal = signalOf(cmd.ProcessState)
	return r.Result
}

// notStarted is the result of a run whose context ended before its start.
func notStarted(ctx context.Context) Result {
	return Result{Err: context.Cause(ctx), Cause: context.Cause(ctx), Stopped: true}
}
