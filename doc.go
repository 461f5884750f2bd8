// Package executor runs tasks on pools of goroutines, now or at given times: the executor framework of
// java.util.concurrent, for Go.
//
// Go's own tools are often enough: a go statement for fire-and-forget work, errgroup for a handful of calls that
// succeed or fail together. This package is for programs that need more: work that waits in a bounded queue, outcomes
// with many waiters, schedules, and a shutdown that loses nothing.
//
// # Tasks and pools
//
// A task is a function that gets a context and returns an error, with a value or without. [Submit] gives one to a pool
// and returns its [Future], by which any number of waiters get its outcome, or cancel it. [Pool.Go] is for a task whose
// outcome nobody waits for. [All], [Any], [Group] and [Map] run several tasks and wait for them. An [Option] applies to
// a single task: it has a name, a [Timeout], a [Priority], or a [Retry].
//
// [Fixed] makes a pool of some workers, [New] any other. A task that comes is admitted in one atomic act:
//
//  1. fewer than Workers: a new worker takes it
//  2. else it goes to an idle worker, or into the queue if there is room
//  3. else below Max workers: a new worker takes it
//  4. else the rejection policy decides
//
// The [Queue] is [Unbounded] by default. [Bounded] has a limit, beyond which the [RejectPolicy] fails the submission
// ([Abort], the default), waits for room ([Block]), or does as another policy says. [Pool.Share] makes a part of a pool
// with limits of its own, [NewKeyed] runs tasks by key.
//
// # Schedules
//
// A [ScheduledPool] also runs tasks once, by [SubmitAfter] and [SubmitAt], and again and again, as a [Series]:
// [ScheduledPool.AtFixedRate] at equal intervals, [ScheduledPool.WithFixedDelay] with a pause between runs,
// [ScheduledPool.On] at the times of a [Trigger], such as the crontab times of package cron. Runs of one series do not
// overlap, unless [Overlap] is given. Delays and rates are kept on the monotonic clock; SubmitAt, GoAt and On follow
// the wall clock, also when it is set or the machine sleeps, within 30 seconds.
//
// # Contexts
//
// The context that a task is submitted with bounds the wait for admission, and is the parent of the context that the
// body gets. When it ends, a task that waits never runs, and the context of a body that runs ends, too. For a task
// whose work must outlive the request that submits it, pass [context.WithoutCancel] of the request's context. A nil
// context panics. The methods of a context of your own must not panic.
//
// The context of a body ends when the body has returned, as that of an HTTP request does. So if a body submits a task
// and does not wait for it, such as the next step of a pipeline, pass the context that came from outside: with the
// body's own context the task may be canceled before it runs, with the cause [ErrReturned].
//
// [context.Cause] returns why the context of a body ended: [ErrCanceled], [ErrTimeout], [ErrShutdown], or the cause of
// the submitter's context. The outcome is the body's own, unless a method of its future has decided it: a body that
// finishes in spite of its context has succeeded. After ShutdownNow one that returns the error of its context is
// canceled.
//
// A task that waits for others with its own context lends its place to them, and may wait for tasks in pools of any
// size; see [Future.Get]. It must not wait for its own pool to terminate.
//
// # Shutdown
//
// [Pool.Close] stops the admission of tasks, runs those that wait, and waits for the end; [Pool.Drain] does so until a
// deadline. [Pool.ShutdownNow] ends the contexts of the bodies that run and returns the tasks that never ran. A pool
// that is not shut down keeps its workers, and is not garbage collected while it has workers.
//
// # Panics and errors
//
// A panic in a body becomes a [*PanicError], with its value and stack, in the future; so do errors. Where no future
// shows them (Go, Execute of a plain Runnable, periodic work), they are logged, and so is a task that was accepted and
// never ran; [Hooks] are called, too. The worker goes on.
//
// In periodic work an error is recorded and the schedule goes on; a panic ends it, unless [ContinueAfterPanic] is
// given. A body that calls [runtime.Goexit], as a failing test does, has failed with [ErrGoexit], and its worker is
// replaced. If a task that waits runs such a body itself, that task ends with it. Hooks, policies, triggers and
// functions of OnDone must not call runtime.Goexit.
//
// # Numbers
//
// [Pool.Stats] is one consistent snapshot, in which the numbers add up; an [Observer] measures some of the tasks:
//
//	Submitted = Queued + Active + Succeeded + Failed + Canceled + Rejected
//	Workers   = Active + Idle
//
// Config.Name is the pprof label "executor" of the pool's workers, and [Named] sets the label "task" while the task
// runs. A body has these labels, and none of its submitter's; it calls [pprof.Do] for more.
//
// # Guarantees
//
// Exactly once: a task that was accepted runs once. It does not run at all if it is canceled or completed by hand
// before it begins, evicted by a rejection policy, or dropped or given back by a shutdown. A future is completed once.
//
// Order: tasks leave a first-in, first-out queue in the order of their admission, and scheduled tasks in the order of
// their times, with equal times in the order of their submission. So with one worker they run in that order.
//
// Memory, in the terms of the Go memory model: what a goroutine does before it submits a task synchronizes before the
// body. What the body does synchronizes before the return of any method that reports its outcome, before its AfterTask
// hook, and before the return of AwaitTermination and Close. What one run of periodic work does synchronizes before the
// next run.
//
// No lock is held while user code is called: bodies, hooks, policies, triggers, loggers, methods of contexts. Importing
// this package starts no goroutine. When a pool is terminated, its goroutines have only to return.
//
// Everything works in a bubble of [testing/synctest]: use one to test code that schedules.
package executor
