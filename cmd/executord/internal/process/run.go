package process

import (
	"context"
	"time"
)

const (
	// linger is how long what a command leaves behind may go on before it gets
	// SIGTERM: the last stage of a pipe often needs a moment to write what
	// it has read.
	linger = time.Second

	// firstLook and lastLook bound the waits between two looks whether a
	// group is empty. There is no event to wait for: the members are not all
	// children of ours.
	firstLook = 500 * time.Microsecond
	lastLook  = 20 * time.Millisecond

	// despair is how long after SIGKILL a group is waited for. What is alive
	// then belongs to another user, or hangs in the kernel.
	despair = 5 * time.Second
)

// run is one run while it goes on. Its steps are taken by one goroutine:
//
//	await   command running -> command has exited
//	sweep   group may have members -> group is empty
type run struct {
	*Supervisor
	Result
	group   int
	asked   bool             // SIGTERM was sent
	overdue <-chan time.Time // ends the grace, once SIGTERM was sent
}

// terminate asks the group to end, once.
func (r *run) terminate() {
	if r.asked {
		return
	}
	r.asked = true
	r.overdue = time.After(r.Grace)
	terminateGroup(r.group)
}

// kill sends SIGKILL to the group. It can be repeated.
func (r *run) kill() {
	r.Killed = true
	killGroup(r.group)
}

// hasEnded reports whether the command has ended, by what closes exited. One whose end is just being noted has.
func (r *run) hasEnded(exited <-chan struct{}) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-exited:
		return true
	default:
		return false
	}
}

// await waits for the command, and ends it when ctx ends.
func (r *run) await(ctx context.Context, exited <-chan struct{}) {
	done, killed := ctx.Done(), r.killed
	for {
		select {
		case <-exited:
			return
		case <-done:
			if done = nil; r.hasEnded(exited) { // by itself, though that is noticed late
				return
			}
			r.Stopped, r.Cause = true, context.Cause(ctx)
			r.terminate()
		case <-r.overdue:
			r.overdue = nil
			r.kill()
		case <-killed:
			if killed = nil; r.hasEnded(exited) {
				return
			}
			r.Stopped = true
			r.kill()
		}
	}
}

// sweep waits until the group is empty, and ends what does not end by itself.
//
// The command has been waited for, so that the group's number would be free
// for a new process once the last member is gone. A look at most lastLook later
// cannot meet that: the system uses all other numbers first.
//
// Zombies count as members until the linger has passed: most are waited for by
// then, and to distinguish them takes a look at all processes.
func (r *run) sweep(ctx context.Context) {
	if !groupAlive(r.group) {
		return
	}
	if r.Killed {
		r.kill() // what was forked while the group was killed
	} else if r.Stopped {
		r.terminate()
	}
	var wait time.Duration
	var giveUp <-chan time.Time
	done, killed, patience := ctx.Done(), r.killed, time.After(linger)
	for groupAlive(r.group) {
		wait = min(max(2*wait, firstLook), lastLook)
		select {
		case <-time.After(wait):
		case <-patience:
			if groupDead(r.group) {
				return
			}
			if patience = nil; !r.asked {
				r.Leftover = true
				r.terminate()
			}
		case <-done:
			if done = nil; !r.asked {
				r.Leftover = true
				r.terminate()
			}
		case <-r.overdue:
			if groupDead(r.group) {
				return
			}
			r.overdue = nil
			r.kill()
		case <-killed:
			killed = nil
			r.kill()
		case <-giveUp:
			r.Survived = !groupDead(r.group)
			return
		}
		if r.Killed && giveUp == nil {
			giveUp = time.After(despair)
		}
	}
}
