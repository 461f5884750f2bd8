package main

// durableLeaseMutants break leases and the clock of the store as nodes know it.
var durableLeaseMutants = []mutant{
	{
		file: "durable/beat.go", what: "a lease is renewed from when the answer came",
		old: "int64(sent.Sub(n.clock.base))",
		new: "int64(time.Since(n.clock.base))",
	},
	{
		file: "durable/beat.go", what: "a node relies on its lease to the very end",
		old: "n.jobs.cfg.Lease*5/6 - since",
		new: "n.jobs.cfg.Lease - since",
	},
	{
		file: "durable/beat.go", what: "what a node gave up when it was cut off stays its own in the store",
		old: "		n.mu.orphans++ // what fence gave up is still this node's in the database\n",
		new: "",
	},
	{
		file: "durable/beat.go", what: "a node that was cut off goes on when it looks next",
		old: "	if was {\n\t\tn.wake()\n\t}\n",
		new: "",
	},
	{
		file: "durable/beat.go", what: "a node that is cut off leaves its handlers alone",
		old: "	n.fenceLocked()\n\tn.mu.Unlock()",
		new: "	n.mu.fenced = true\n\tn.dropWaitingLocked(all)\n\tn.mu.Unlock()",
	},
	{
		file: "durable/beat.go", what: "a node that was declared dead leaves its handlers alone",
		old: "	n.fenceLocked()\n\tfor",
		new: "	n.mu.fenced = true\n\tfor",
	},
	{
		file: "durable/beat.go", what: "a node that was declared dead does not join again",
		old: "			if !n.join(ctx) {\n\t\t\t\treturn\n\t\t\t}\n",
		new: "",
	},
	{
		file: "durable/beat.go", what: "a node does not heed whom its beat names to be canceled",
		old: "		n.cancelWanted(pulse.Canceled)\n",
		new: "",
	},
	{
		file: "durable/beat.go", what: "the jobs of the dead wait for the next look",
		old: "			n.wake()\n\t\t}\n\t\tswitch {",
		new: "		}\n\t\tswitch {",
	},
	{
		file: "durable/beat.go", what: "a beat waits for the names of the dead",
		old: "aside.Go(func() { n.mourn(ctx, pulse.Dead) })",
		new: "n.mourn(ctx, pulse.Dead)",
	},
	{
		file: "durable/beat.go", what: "a beat that finds nothing spares no look",
		old: "		case !far && !pulse.Due && len(watch.Kinds) > 0:",
		new: "		case false:",
	},
	{
		file: "durable/beat.go", what: "what a beat finds waits for a look that is far",
		old: "		case pulse.Due && (far || n.jobs.cfg.Poll > 2*n.beatPause()):",
		new: "		case false:",
	},
	{
		file: "durable/poll.go", what: "a beat that finds nothing is a look also during an outage",
		old: "		case quiet = <-n.quiet:\n\t\t\tclaim = outage.failed > 0",
		new: "		case quiet = <-n.quiet:\n\t\t\tclaim = false",
	},
	{
		file: "durable/node.go", what: "a node signs off while a confirm is under way",
		old: "	stop()\n	wg.Wait()\n	if joined {",
		new: "	defer wg.Wait()\n	defer stop()\n	if joined {",
	},
	{
		file: "durable/settle.go", what: "a confirm that is under way is broken off when the node signs off",
		old: "s.n.opContext(context.WithoutCancel(ctx)) //",
		new: "s.n.opContext(ctx) //",
	},
	{
		file: "durable/clock.go", what: "the slowest answer is taken for the clock",
		old: "c.mu.offset = max(c.mu.offset, c.mu.samples[i].low)",
		new: "c.mu.offset = min(c.mu.offset, c.mu.samples[i].low)",
	},
	{
		file: "durable/clock.go", what: "it is not noticed that the store's clock was put forward",
		old: "		moved = b.low - c.mu.offset\n		jumped = slices.ContainsFunc(samples, func(s bounds) bool { return b.low > s.high+clockJump })\n",
		new: "		_, _ = slices.Contains[[]int, int], samples\n",
	},
	{
		file: "durable/clock.go", what: "it is not noticed that the store's clock was put back",
		old: "		moved, jumped = b.high-c.mu.offset, true\n",
		new: "",
	},
	{
		file: "durable/run.go", what: "what is far away since the store's clock was put back keeps its place",
		old: "	if left > n.ahead() {",
		new: "	if false {",
	},
	{
		file: "durable/clock.go", what: "a quick answer after slow ones is taken for a jump of the store's clock",
		old: "		jumped = slices.ContainsFunc(samples, func(s bounds) bool { return b.low > s.high+clockJump })\n",
		new: "		_, jumped = slices.Contains[[]int, int], true\n",
	},
	{
		file: "durable/clock.go", what: "an answer from before a jump of the store's clock undoes what a later one told",
		old: "	if q.era != c.mu.era {\n",
		new: "	if false {\n",
	},
	{
		file: "durable/clock.go", what: "an answer from before a jump is one, if it comes after the first",
		old: "		c.mu.era++\n\tcase",
		new: "	case",
	},
	{
		file: "durable/clock.go", what: "answers from before a small step back count on",
		old: "			c.mu.samples[i] = b\n",
		new: "			_ = i\n",
	},
	{
		file: "durable/node.go", what: "a jump of the store's clock moves nothing that waits",
		old: "		n.rekey()\n",
		new: "",
	},
	{
		file: "durable/outage.go", what: "calls that fail are not spaced out",
		old: "	sleep(ctx, o.delay())\n",
		new: "	sleep(ctx, 0)\n",
	},
}
