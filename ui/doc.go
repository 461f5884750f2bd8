// Package ui has web pages that show the pools of an [executor.Observer] and the jobs of [durable.Jobs], live. On these
// pages authorized users can also change jobs, pools and schedules.
//
//	pages, err := ui.New(ui.Config{Observer: observer, Jobs: []ui.Source{{Jobs: jobs}}})
//	…
//	defer pages.Close()
//	http.Handle("/executor/", pages)
//
// A [UI] is an [http.Handler]. It may be mounted at any path that ends in a slash, with [http.StripPrefix] or without,
// because its links are relative and the last element of the path selects the page:
//
//	…/                     what needs attention, all pools with charts of a day, and how many jobs there are
//	…/pools, …/pool?id=3   pools; a pool: its charts of a day, workers, histograms, task names and events
//	…/schedules            the times of all periodic work, 24 hours back and ahead
//	…/jobs, …/job?id=…     jobs by state, kind, key, tags and errors; a job: its states, steps,
//	                       output, runs, and the jobs before and after it
//	…/runs                 the latest runs of all jobs, by outcome, kind and node
//	…/nodes                the nodes that are alive, which can be drained, and the jobs that this program's node holds
//	…/acts                 the audit log: actions on jobs, pools and schedules, with their reasons
//	…/dead                 dead jobs, grouped by their errors
//	…/output?id=…&run=3    what is kept of the output of a run, as text
//	…/act                  an action: a GET asks for a confirmation and a reason, a POST carries it out, and has the
//	                       status of what became of it, as page or JSON; only with Config.Actions
//	…/events               the live updates of the pages, as server-sent events
//
// The pages work without scripts, and load nothing from other servers.
//
// # Access
//
// By default a UI answers only requests from the machine that it runs on: the host of the request must be a loopback
// name or address, the peer's address must be loopback or the connection a Unix socket, and no proxy may have forwarded
// the request. Other requests are answered with status 403. Config.Hosts allows other hosts. Config.Authorize decides
// what each request may do, and is required for Config.Actions.
//
// A UI refuses requests that another web site makes with a user's browser. Unless Config.Actions is set, no request can
// change anything, and every method except GET and HEAD is answered with status 405.
//
// Everyone who may look at the pages sees the names of pools and tasks, the keys and kinds of jobs, the errors of their
// runs, and what runs write to [durable.Output] and report with [durable.Progress]. Payloads and results are shown only
// with Config.Payloads.
//
// # Cost
//
// A UI has no goroutine. It reads the pools when a request asks for them, at most once a second however many pages are
// open, and once a minute by a timer. Of each minute of the last day it remembers what the pools did, in 35 KB for all
// pools together, and as much for each of the first 100. It reads each view of a database at most once in 2 s. If that
// takes more than a tenth of a second, the UI waits for 20 times as long as it took. For each [Source] it makes
// one such request to the database at a time. The pages say how old a view is. At most 100 pages get live updates at a
// time.
package ui
