package main

// scheduledMutants break time: the delay queue, its alarm, series, policies.
var scheduledMutants = []mutant{
	{
		file: "scheduled_queue.go", what: "of those that move only the first is told where it is",
		old: "place = places[i]",
		new: "place = places[0*i]",
	},
	{
		file: "scheduled_queue.go", what: "what has left the queue still has a place",
		old: "	b.core().place = unplaced\n",
		new: "",
	},
	{
		file: "scheduled_queue.go", what: "a task that is due at this very instant waits",
		old: "var most time.Duration = -1",
		new: "var most time.Duration = 0",
	},
	{
		file: "scheduled_queue.go", what: "tasks run before they are due",
		old: "var most time.Duration = -1",
		new: "var most time.Duration = -2",
	},
	{
		file: "scheduled_queue.go", what: "of two clocks the less overdue comes first",
		old: "over > most {",
		new: "over >= 0 && (best == nil || over < most) {",
	},
	{
		file: "scheduled_queue.go", what: "the wall clock is trusted for ever",
		old: "min(until(at, now.wall), recheck)",
		new: "min(until(at, now.wall), recheck*1e6)",
	},
	{
		file: "scheduled_queue.go", what: "a head on the wall clock sets no alarm",
		old: "!any || w < d {",
		new: "any && w < d {",
	},
	{
		file: "scheduled_worker.go", what: "an alarm that is set is not set for an earlier head",
		old: "if q.set != 0 && q.set <= at {",
		new: "if q.set != 0 {",
	},
	{
		file: "scheduled_worker.go", what: "an alarm that has gone off counts as set",
		old: "	p.mu.delay.set = 0\n\tif !w.parked {",
		new: "	if !w.parked {",
	},
	{
		file: "scheduled_worker.go", what: "an alarm heard by a worker that has just got a task is lost",
		old: "		p.spreadLocked(p.nowLocked())\n\t\tfresh := p.relieveLocked()",
		new: "		fresh := p.relieveLocked()",
	},
	{
		file: "scheduled_worker.go", what: "one worker takes what is due, one after the other",
		old: "for p.mu.idle.top != nil {",
		new: "for p.mu.idle.top != nil && p.mu.stage == StageStop {",
	},
	{
		file: "scheduled_worker.go", what: "a new head sets no alarm",
		old: "if p.mu.idle.top != nil && !p.mu.delay.covers(t) {",
		new: "if p.mu.idle.top != nil && p.mu.delay.covers(t) {",
	},
	{
		file: "scheduled_queue.go", what: "an alarm that is not set sees to what comes",
		old: "return q.set != 0 && q.set <= t.due",
		new: "return q.set <= t.due",
	},
	{
		file: "scheduled_queue.go", what: "an alarm that goes off too late sees to what comes",
		old: "return q.set != 0 && q.set <= t.due",
		new: "return q.set != 0",
	},
	{
		file: "scheduled_queue.go", what: "who is first on the wall clock is not seen to",
		old: "return first < t.due",
		new: "return first <= t.due",
	},
	{
		file: "scheduled_worker.go", what: "who takes a task sets no alarm for the next",
		old: "	p.armLocked(now)\n}\n\n// relieveLocked",
		new: "}\n\n// relieveLocked",
	},
	{
		file: "scheduled_worker.go", what: "more workers than Core are made to hear when a task is due",
		old: "p.mu.workers > p.mu.active || p.mu.workers >= p.mu.core ||",
		new: "p.mu.workers > p.mu.active ||",
	},
	{
		file: "scheduled_worker.go", what: "a worker is made for a task that another is about to take",
		old: "p.mu.workers > p.mu.active ||",
		new: "p.mu.idle.top != nil ||",
	},
	{
		file: "scheduled_worker.go", what: "a worker is made to hear that nothing is due",
		old: "p.mu.workers >= p.mu.core || p.mu.queue.len() == 0 {",
		new: "p.mu.workers >= p.mu.core {",
	},
	{
		file: "scheduled_worker.go", what: "a worker above Core stays for what waits",
		old: " && p.mu.workers <= p.mu.core && ",
		new: " && ",
	},
	{
		file: "scheduled_worker.go", what: "an idle worker stays for what waits, though there is another",
		old: "\treturn p.mu.delay != nil && p.mu.queue.len() > 0 && p.mu.workers <= p.mu.core && p.mu.workers-p.mu.active <= 1",
		new: "\treturn p.mu.delay != nil && p.mu.queue.len() > 0 && p.mu.workers <= p.mu.core",
	},
	{
		file: "scheduled_worker.go", what: "an idle worker stays where nothing waits",
		old: "p.mu.delay != nil && p.mu.queue.len() > 0 && p.mu.workers <=",
		new: "p.mu.delay != nil && p.mu.workers <=",
	},
	{
		file: "scheduled_worker.go", what: "Core zero: nobody waits for a scheduled task",
		old: "if p.mu.workers < p.mu.core || p.mu.workers == 0 {",
		new: "if p.mu.workers < p.mu.core {",
	},
	{
		file: "scheduled_worker.go", what: "the last task gone, the workers of a pool that is shut down stay",
		old: "		p.retireLocked() // nothing will come any more\n",
		new: "",
	},
	{
		file: "scheduled_worker.go", what: "a series goes on after Shutdown",
		old: "if p.mu.stage != StageRunning && (p.mu.stage != StageShutdown || p.mu.policies[periodic] != KeepAfterShutdown) {",
		new: "if p.mu.stage == StageStop {",
	},
	{
		file: "scheduled_worker.go", what: "a series goes on after ShutdownNow",
		old: "if p.mu.stage != StageRunning && (p.mu.stage != StageShutdown || p.mu.policies[periodic] != KeepAfterShutdown) {",
		new: "if p.mu.stage != StageRunning && p.mu.policies[periodic] != KeepAfterShutdown {",
	},
	{
		file: "scheduled_worker.go", what: "a new alarm is taken for one that is set",
		old: "q.alarm, q.set = nil, 0",
		new: "q.alarm = nil",
	},
	{
		file: "scheduled_control.go", what: "a task that is due at Shutdown is dropped",
		old: "case t.due <= now.on(t.has(wallClock)):",
		new: "case t.due < now.on(t.has(wallClock)):",
	},
	{
		file: "scheduled_control.go", what: "the policy for delayed tasks is asked for series",
		old: "return p.mu.policies[periodic] == DropAtShutdown",
		new: "return p.mu.policies[delayed] == DropAtShutdown",
	},
	{
		file: "scheduled_control.go", what: "what is dropped is not counted",
		old: "	p.mu.ended[canceledTask] += int64(len(dropped))\n",
		new: "",
	},
	{
		file: "scheduled_control.go", what: "a policy that changes after Shutdown has no effect",
		old: "	if a == DropAtShutdown && p.mu.stage == StageShutdown {\n",
		new: "	if a == DropAtShutdown && p.mu.stage == StageTerminated {\n",
	},
	{
		file: "scheduled_control.go", what: "a policy that keeps drops what is retained",
		old: "	if a == DropAtShutdown && p.mu.stage == StageShutdown {\n",
		new: "	if p.mu.stage == StageShutdown {\n",
	},
	{
		file: "scheduled_task.go", what: "fixed rate counts from the end of the run",
		old: "s.base = after(s.base, int64(s.period))\n\t\tif late",
		new: "s.base = after(now.mono, int64(s.period))\n\t\tif late",
	},
	{
		file: "scheduled_task.go", what: "fixed delay counts from when the run was due",
		old: "s.base = after(now.mono, int64(s.period))",
		new: "s.base = after(s.base, int64(s.period))",
	},
	{
		file: "scheduled_task.go", what: "SkipMissed leaves the grid one period early",
		old: "(int64(late) + int64(s.period) - 1) / int64(s.period)",
		new: "int64(late) / int64(s.period)",
	},
	{
		file: "scheduled_task.go", what: "a series runs once more than it may",
		old: "s.times > 0 && n >= s.times",
		new: "s.times > 0 && n > s.times",
	},
	{
		file: "scheduled_task.go", what: "a panic does not end a series",
		old: "	if run.abrupt {\n\t\treturn false, run\n\t}\n",
		new: "",
	},
	{
		file: "scheduled_task.go", what: "Done is a failure",
		old: "		return false, ending{}\n\tdefault:",
		new: "		return false, run\n\tdefault:",
	},
	{
		file: "scheduled_task.go", what: "a trigger's times that have passed come all the same",
		old: "			at, err = s.following(now.wall) // leave out what has passed\n",
		new: "			_ = now\n",
	},
	{
		file: "scheduled_task.go", what: "a trigger that does not get on is believed",
		old: "if !at.IsZero() && !at.After(t) {",
		new: "if !at.IsZero() && at.Before(t.Add(-1<<62)) {",
	},
	{
		file: "scheduled_task.go", what: "a run that is due at the very end is left out",
		old: "c.time(due, wall).After(s.end)",
		new: "!c.time(due, wall).Before(s.end)",
	},
	{
		file: "scheduled_task.go", what: "a decoration's time is asked for the first run only",
		old: "		s.next = clock.in(d.Next(), t.has(wallClock))\n",
		new: "		_ = d\n",
	},
	{
		file: "scheduled_task.go", what: "jitter is left out",
		old: "	s.next = after(s.base, jitter(s.jitter))",
		new: "	s.next = s.base",
	},
	{
		file: "scheduled_step.go", what: "a wall clock that is set back stops triggers",
		old: "if back >= int64(stepBack) {",
		new: "if back <= -int64(stepBack) {",
	},
	{
		file: "scheduled_step.go", what: "a wall clock that is set back runs triggers at once",
		old: "		t.series().stale = true\n",
		new: "",
	},
	{
		file: "scheduled_step.go", what: "a step of exactly three hours is a correction",
		old: "if back >= int64(stepBack) {",
		new: "if back > int64(stepBack) {",
	},
	{
		file: "clock.go", what: "a negative delay is in the past",
		old: "if d <= 0 {",
		new: "if d == 0 {",
	},
	{
		file: "clock.go", what: "a delay that is too long is in the past",
		old: "if sum := t + d; sum > t {",
		new: "if sum := t + d; sum != t {",
	},
	{
		file: "clock.go", what: "a difference wraps round",
		old: "if (a^b)&(a^d) >= 0 {",
		new: "if a^a >= 0 {",
	},
	{
		file: "clock.go", what: "a time beyond 2262 is in the past",
		old: "	case s > math.MaxInt64/1_000_000_000-1:\n\t\treturn never\n",
		new: "",
	},
	{
		file: "scheduled_queue.go", what: "an alarm is set for a task that is never due",
		old: "	any = any && due != never\n",
		new: "",
	},
	{
		file: "scheduled_queue.go", what: "the wall clock is looked at for a task that is never due",
		old: "ok && at != never {",
		new: "ok {",
	},
	{
		file: "scheduled.go", what: "a task whose decoration panics is never done",
		old: "ask(p.Pool, e, func() ScheduledTask { return p.decorate(f) }); d",
		new: "p.decorate(f); d",
	},
	{
		file: "scheduled.go", what: "a task whose decoration does not tell its time is never done",
		old: "ask(p.Pool, e, d.Next)",
		new: "d.Next()",
	},
	{
		file: "scheduled_task.go", what: "nobody waits for a body whose decoration has returned",
		old: "		<-l.back\n",
		new: "",
	},
}
