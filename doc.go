// Package executor runs tasks on pools of goroutines, now or at given times: the executor framework of
// java.util.concurrent, for Go.
//
// Go's own tools are often enough: a go statement for fire-and-forget work, errgroup for a handful of calls that
// succeed or fail together. This package is for programs that need more: work that waits in a bounded queue, outcomes
// with many waiters, schedules, and a shutdown that loses nothing.
//
// # Tasks
//
// A task is a function that gets a context and returns an error, with a value or without.
// [Submit] submits one to a pool and returns its [Future]. [Pool.Go] is for tasks without a
// future; [Pool.Execute] takes any [Runnable], a [Task] among them.
//
// [All] runs several functions and waits for all of them, [Any] waits for the first that succeeds, and [Completed]
// returns futures in the order in which they are done. A [Group] is for functions that are not known at once, [Map] for
// a sequence of values.
//
// Options apply to a single task: [Named] names it, [Timeout] bounds its runs, and [Priority] puts it before others.
//
// # Sizes
//
// A [Pool] starts its workers on demand. It keeps up to Workers of them, and has up
// to Max of them if its queue is full. A task is admitted in four steps, which
// are one atomic act:
//
//  1. fewer than Workers: a new worker takes it
//  2. else it goes to an idle worker, or into the queue if there is room
//  3. else below Max workers: a new worker takes it
//  4. else the rejection policy decides
//
// Workers above Workers leave when they have been idle for KeepAlive, and all workers if KeepNone is set.
// [Pool.Reconfigure] changes these settings in one step while the pool runs, and [Pool.Settings] returns them.
// [Pool.Prestart] starts workers ahead of tasks. [Pool.Pause] has tasks wait until [Pool.Resume].
//
// [New] makes a pool from a [Config]. [Fixed], [Cached], [Single] and [PerTask] make the most common pools.
//
// # Queues
//
// [Unbounded] holds any number of tasks, and a pool that has it never grows beyond Workers.
// [Bounded] holds n tasks; when it is full the pool grows, and then rejects. [Handoff]
// holds none: a task goes straight to a worker or is rejected. [Prioritized] returns the
// task with the least [Priority] first. Package queue has the same queues for goroutines
// that wait on each other without a pool.
//
// [Pool.Waiting] lists the tasks that wait, and [Pool.Remove] and [Future.Cancel] take a task out of the queue.
//
// # Rejection
//
// A task is rejected if the pool is shut down, or has neither room nor a worker to spare. The goroutine that submits
// then calls the [RejectPolicy] of the pool, once, with no lock held. [Abort], the default, returns an error;
// [CallerRuns] runs the task in that goroutine; [Discard] drops the task, and [DiscardOldest] the task that would have
// run next; [Block] waits for room until the submitter's context ends, and [BlockFor] for a limited time; [RejectFunc]
// calls a function of yours. The future of a rejected or dropped task fails with a [*RejectedError], or with the error
// of a RejectFunc. A RejectFunc that stores a task for later returns [ErrKept].
//
// # Futures
//
// A [Future] is one outcome for any number of waiters. [Future.Get] waits for it within a context, Done returns a
// channel to select on, [Future.Result] and Err do not wait. A future always resolves, exactly once: with the body's
// value or error, a [*PanicError], [ErrGoexit], a [*CanceledError] or a [*RejectedError].
//
// [Future.Cancel] completes a task as canceled, takes it out of its queue, and ends the context of a body that is
// running; [Future.Abandon] leaves such a body undisturbed. Either way Get returns at once, while the body may go on:
// Join waits until the body has returned. A [Promise] is completed by the code that made it; the waiters get its
// Future.
//
// # Contexts
//
// The context given to Submit, Go or SubmitAfter bounds the wait for admission, if there is one, and is the parent of the
// context that the body gets: the body sees its values and its deadline. When the submitter's context ends, a task that
// waits is canceled and never runs, and the context of a body that runs ends, too. For a task whose work must outlive
// the request that submits it, pass [context.WithoutCancel] of the request's context. [context.Background] costs
// nothing, another context two allocations. All functions that submit or run a task panic if the context is nil. The
// methods of a context of your own must not panic.
//
// The context of a body ends when the body has returned, as that of an HTTP request does. So if a body submits a task
// and does not wait for it, such as the next step of a pipeline, pass the context that came from outside: with the
// body's own context the task may be canceled before it runs, with the cause [ErrReturned].
//
// [context.Cause] returns why the context of a body ended: [ErrCanceled], [ErrTimeout],
// [ErrShutdown], or the cause of the submitter's context. A body that is running decides
// its outcome itself, unless Cancel, Abandon, Complete or Fail have decided it: a body
// that finishes in spite of its context has succeeded. One that returns the error of its
// context has failed, with an error that matches [ErrTimeout] after a timeout; after
// ShutdownNow it is canceled, with an error that matches [ErrShutdown].
//
// # Schedules
//
// A [ScheduledPool] runs tasks at given times. Once: [SubmitAfter] after a delay, [SubmitAt] at a time of day, and
// [ScheduledPool.GoAfter] and [ScheduledPool.GoAt] for a function without a result. Again and again, as a [Series]: [ScheduledPool.AtFixedRate] at
// equal intervals, [ScheduledPool.WithFixedDelay] with a pause between runs, [ScheduledPool.On] at the times of a
// [Trigger]. Package cron has triggers for crontab times. Runs of one series do not overlap, unless [Overlap] is given.
// [Times] and [Until] end a series, [Jitter] delays its runs at random, [CatchUp] bounds how many missed runs are made
// up for, and a body that returns [ErrStop] ends its series. [Due] returns when a body was due. [Series.Pause],
// [Series.RunNow] and [Series.Reschedule] manage a series, and [ScheduledPool.Schedules] lists all series.
//
// Delays and rates are kept on the monotonic clock; SubmitAt, GoAt and On follow the wall
// clock, also when it is set or the machine sleeps, within 30 seconds.
//
// # Shutdown
//
// [Pool.Shutdown] stops the admission of tasks and runs the waiting ones; in a scheduled pool, policies decide which:
// by default periodic work ends, and the tasks of SubmitAfter, SubmitAt and the like stay until they are due, however late that is.
// [Pool.ShutdownNow] ends the contexts of the bodies that run and returns the tasks that never ran, for use elsewhere.
// [Pool.AwaitTermination] waits for the end within a context. [Pool.Close] calls Shutdown and waits without a bound.
// [Pool.Drain] does so until a deadline, and then calls ShutdownNow. A pool that is not shut down keeps its
// workers, and is not garbage collected while it has workers.
//
// A task must not wait for its own pool to terminate, nor, in a pool without a worker to
// spare, for a task that waits behind it. It may wait for tasks that it has submitted
// itself with its context: [Future.Get], [Group.Wait], [All] and the functions like them
// run the tasks that no worker has begun, so that tasks may fork and join in a pool of
// any size.
//
// # Panics and errors
//
// A panic in a body becomes a [*PanicError], with its value and stack, in the future; so do errors. Where no future
// shows them (Go, Execute of a plain Runnable, periodic work), an error is logged, and a panic with its stack. A task
// that was accepted and never ran is logged, too, such as a task whose context ended while it waited. In these cases
// Hooks.OnPanic, AfterTask and Dropped are also called. The worker goes on.
//
// In periodic work an error is recorded and the schedule goes on; a panic ends it, unless
// [ContinueAfterPanic] is given.
// A body that calls [runtime.Goexit], as a failing test does, has failed with
// [ErrGoexit], and its worker is replaced. If a task that waits runs such a body itself,
// that task ends with it, and has failed with ErrGoexit, too. Hooks, policies, triggers and
// functions of OnDone must not call runtime.Goexit.
//
// # Counters
//
// [Pool.Stats] is one consistent snapshot, in which the numbers add up:
//
//	Submitted = Queued + Active + Succeeded + Failed + Canceled + Rejected
//	Workers   = Active + Idle
//
// Config.Name is the pprof label "executor" of the pool's workers, and [Named] sets the
// label "task" while the task runs. A body has these labels, and none of its submitter's; it
// calls [pprof.Do] for more. [Hooks] are called before and after each run and at the end of
// the pool.
//
// # Guarantees
//
// Exactly once: a task that was accepted runs once. It does not run at all if it is canceled or completed by hand
// before it begins, evicted by DiscardOldest, or dropped or given back by a shutdown. A future is completed once.
//
// Order: tasks leave a first-in, first-out queue in the order of their admission, and
// scheduled tasks in the order of their times, with equal times in the order of their
// submission. So with one worker they run in that order.
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
