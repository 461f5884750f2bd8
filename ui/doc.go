// Package ui shows the pools of an [executor.Observer] and the jobs of [durable.Jobs] as
// live pages, on which authorized users can change jobs, pools and their schedules.
//
//	pages, err := ui.New(ui.Config{Observer: observer, Jobs: []ui.Source{{Jobs: jobs}}})
//	…
//	defer pages.Close()
//	http.Handle("/executor/", pages)
//
// A [UI] is an http.Handler. It may be mounted at any path that ends in a slash, with [http.StripPrefix] or without,
// since links are relative and the last element of a path says what is asked for:
//
//	…/                     what needs attention, all pools, and how many jobs there are
//	…/pools, …/pool?id=3   pools; a pool: its workers, histograms, task names and events
//	…/schedules            the times of all periodic work, 24 hours back and ahead
//	…/jobs, …/job?id=…     jobs by state, kind, key, tags and errors; a job: its states, steps,
//	                       output, runs, and the jobs before and after it
//	…/runs                 the latest runs of all jobs, by outcome, kind and node
//	…/nodes                the nodes that are alive, and the jobs that this program's node holds
//	…/acts                 the audit log: actions on jobs, pools and schedules, with their reasons
//	…/dead                 dead jobs, grouped by their errors
//	…/output?id=…&run=3    what is kept of the output of a run, as text
//	…/act                  an action: asks for a confirmation and a reason; only with Config.Actions
//	…/events               the live updates of the pages, as server-sent events
//
// The pages are complete without scripts, and load nothing from elsewhere.
//
// # Access
//
// By default a UI answers only requests of this machine: the peer's address and the requested host must both be
// loopback, or the connection a Unix socket, and no proxy may have forwarded the request. Config.Hosts names other
// hosts. Config.Authorize decides what each request may do, and must be set for Config.Actions.
//
// Requests from other sites, such as a script in a browser might make, are refused. Without Actions no request can
// change anything, and every method except GET and HEAD is answered with 405.
//
// The names of pools and tasks, the keys and kinds of jobs and the errors of their runs are shown to everyone who may
// look; payloads and results only with Config.Payloads. The pages also show what runs write to [durable.Output] and
// report by [durable.Progress].
//
// # Cost
//
// A UI has no goroutine. It reads the pools on request, at most once a second, however many pages are open, so its
// history has gaps while no page is open. It reads each view of a database at most every 2 s, or every 20 times as long
// as the reading takes, and by one request at a time for each [Source]. The pages say how old a view is.
package ui
