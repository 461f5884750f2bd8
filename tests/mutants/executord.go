package main

// policies are the tests of what becomes of due times.
const policies = "TestPlan|TestOverlap|TestMisfire|TestDaemonGoesOn|TestAsked"

// executordMutants break the daemon.
var executordMutants = []mutant{
	{
		file: "cmd/executord/internal/daemon/plan.go", what: "a due time that a killed daemon has given a run is told as missed",
		old: "d.Later, d.LeftOut, late = 0, \"\", 0",
		new: "d.Later, d.LeftOut = 0, \"\"",
		by:  "./cmd/executord/internal/daemon", test: policies,
	},
	{
		file: "cmd/executord/internal/daemon/plan.go", what: "one due time for which a later run makes up is told nowhere",
		old: "if n := p.counts.n - 1; n > 0 {",
		new: "if n := p.counts.n - 1; n > 1 {",
		by:  "./cmd/executord/internal/daemon", test: policies,
	},
	{
		file: "cmd/executord/internal/daemon/plan.go", what: "a run forgets which times it has had skipped when another is",
		old: "e.StateAfter(f.Occurrence, e.Skipped+p.skipped.n)",
		new: "e.StateAfter(f.Occurrence, p.skipped.n)",
		by:  "./cmd/executord/internal/daemon", test: policies,
	},
	{
		file: "cmd/executord/internal/daemon/plan.go", what: "a run that had begun, and waits to go on, is told as skipped when it is replaced",
		old: "!run.State.Granted() && run.Runs == 0 {",
		new: "!run.State.Granted() {",
		by:  "./cmd/executord/internal/daemon", test: policies,
	},
	{
		file: "cmd/executord/internal/daemon/plan.go", what: "a run that somebody asks for is missed, or has a jitter",
		old: "case e.Spec.Jitter == 0, asked:",
		new: "case e.Spec.Jitter == 0:",
		by:  "./cmd/executord/internal/daemon", test: policies,
	},
	{
		file: "cmd/executord/internal/catalog/place.go", what: "one run more than overlap allows begins",
		old: "d.Need, d.Delay = n-most+1, early",
		new: "d.Need, d.Delay = n-most, early",
		by:  "./cmd/executord/internal/daemon", test: policies,
	},
	{
		file: "cmd/executord/internal/catalog/place.go", what: "a run that somebody asks for is skipped beside another",
		old: "case overlap.Do == job.SkipOverlap && !asked:",
		new: "case overlap.Do == job.SkipOverlap:",
		by:  "./cmd/executord/internal/daemon", test: policies,
	},
	{
		file: "cmd/executord/internal/catalog/place.go", what: "a run that replaces another waits for its time anew when the clock is set back",
		old: "d.After, d.Delay = d.Cancel, early",
		new: "d.After = d.Cancel",
		by:  "./cmd/executord/internal/daemon", test: policies,
	},
	{
		file: "cmd/executord/internal/catalog/place.go", what: "so many runs wait that each missed time has, whatever its misfire",
		old: "	room := 1 // for runs that wait\n",
		new: "	room := 10\n",
		by:  "./cmd/executord/internal/daemon", test: policies,
	},
	{
		file: "durable/fire.go", what: "a run that a lost node has added is left out after all",
		old: "d.LeftOut, d.Later, f.run = \"\", 0, f.Run",
		new: "f.run = f.Run\n\t\t\tif d.LeftOut != \"\" {\n\t\t\t\tf.run = Job{}\n\t\t\t\treturn d, nil\n\t\t\t}",
		by:  "./durable", test: "TestFiring|TestOnFire|TestOverlap",
	},
	{
		file: "cmd/executord/internal/process/run.go", what: "what a command leaves behind is let live",
		old: "			if patience = nil; !r.asked {\n\t\t\t\tr.Leftover = true\n",
		new: "			if patience = nil; !r.asked {\n\t\t\t\treturn\n",
	},
	{
		file: "cmd/executord/internal/environ/environ.go", what: "commands get the name of the store, with its password",
		old:  "return process.IsVariable(variable, StoreVariable)",
		new:  "return process.IsVariable(variable, StoreVariable) && false",
		test: "TestRunIsTold",
	},
	{
		file: "cmd/executord/internal/web/guard.go", what: "a token for looking acts on jobs",
		old: "s.Act != nil && asks(r).Role == roles.Operate",
		new: "s.Act != nil",
	},
	{
		file: "cmd/executord/internal/web/guard.go", what: "a stream goes on when the role of its token changes",
		old: "return ok && now == asks(r)",
		new: "return ok && now.Name == asks(r).Name",
	},
	{
		file: "cmd/executord/internal/web/guard.go", what: "a session goes on when its token is no more",
		old: "	return tokens.BySum(sum)\n}\n\n// identify",
		new: "	return roles.Token{Role: roles.Operate, Sum: sum}, true\n}\n\n// identify",
	},
	{
		file: "cmd/executord/internal/web/guard.go", what: "the login leads to another site",
		old: ` || strings.HasPrefix(to, "//") ||`,
		new: ` ||`,
	},
	{
		file: "cmd/executord/internal/web/guard.go", what: "wrong tokens of the login page are not counted",
		old: "		s.wrong(r)\n		s.alone(",
		new: "		s.alone(",
	},
	{
		file: "cmd/executord/internal/web/sessions.go", what: "a logout ends the cookie alone",
		old: "	delete(s.all, roles.SumOf(value))\n",
		new: "",
	},
	{
		file: "cmd/executord/internal/web/wrong.go", what: "wrong tokens are answered at once, however many there are",
		old: "if hold = now.Sub(w.since) < wrongEvery; !hold {",
		new: "if hold = false; !hold {",
	},
	{
		file: "cmd/executord/internal/roles/roles.go", what: "a word that is no role is taken for one",
		old: "case !slices.Contains(All, string(t.Role)):",
		new: "case t.Role == \"\":",
	},
	{
		file: "cmd/executord/internal/notify/gather.go", what: "a message is lost if its daemon is killed before it is sent",
		old:  "	case n.shared == nil, g.channel.pings(),",
		new:  "	case true, g.channel.pings(),",
		test: "TestNotifier",
	},
	{
		file: "cmd/executord/internal/notify/gather.go", what: "what was told with a message that has begun is told again with the next",
		old:  "		g.begin(got.Last)\n",
		new:  "		g.begin(g.start - 1)\n",
		test: "TestNotifier",
	},
	{
		file: "cmd/executord/internal/notify/gather.go", what: "what is told just before a digest is sent is lost",
		old:  "			g.begin(l.Last)\n			n.signal()\n",
		new:  "			g.begin(g.last)\n			n.signal()\n",
		test: "TestNotifier",
	},
	{
		file: "cmd/executord/internal/notify/send.go", what: "the limit of a channel forgets what was given up",
		old:  "States: []durable.State{durable.Succeeded, durable.Dead}",
		new:  "States: []durable.State{durable.Succeeded}",
		test: "TestNotifierLimit",
	},
	{
		file: "cmd/executord/internal/notify/send.go", what: "daemons that send at the same time go beyond the limit of a channel",
		old:  "				durable.GlobalLimit(1), ",
		new:  "				",
		test: "TestNotifier",
	},
	{
		file: "cmd/executord/internal/notify/send.go", what: "a message to a server that is busy is tried again too soon",
		old: "durable.RetryAfter(reason, min(later.after, longPause))",
		new: "durable.RetryAfter(reason, 0)",
	},
	{
		file: "durable/store/transition/transition.go", what: "a job that has begun gets what is gathered for it a second time",
		old: "n.Untried && (granted || j.Attempt > 0)",
		new: "n.Untried && j.Attempt > 0",
	},
	{
		file: "cmd/executord/internal/notify/http.go", what: "a redirection gets the token of a webhook",
		old: "	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },\n",
		new: "",
	},
	{
		file: "cmd/executord/internal/notify/ping.go", what: "a monitor is told of a failure as of a success",
		old: "			u = u.JoinPath(\"fail\")\n",
		new: "",
	},
	{
		file: "cmd/executord/internal/notify/ping.go", what: "the end of a run has another ID than its start",
		old: "e.Run, e.Job, e.Due.UnixMicro()",
		new: "e.Run, e.Job, e.At.UnixMicro()",
	},
	{
		file: "cmd/executord/internal/request/request.go", what: "another host gets the body of a request",
		old: "	if req.ContentLength != 0 {\n",
		new: "	if req.ContentLength < 0 {\n",
	},
	{
		file: "cmd/executord/internal/request/expand.go", what: "a parameter chooses the server",
		old: "case len(begin) < authority:",
		new: "case len(begin) < 0:",
	},
	{
		file: "cmd/executord/internal/variables/variables.go", what: "a secret is shown where a long line is cut",
		old: "		end := l.Veil.begun(piece)\n",
		new: "		end := len(piece)\n",
	},
	{
		file: "cmd/executord/internal/foreground/foreground.go", what: "a run by hand shows secrets",
		old: "text := lines[from].Hide(line, more)",
		new: "text := line\n\t\t_ = lines[from].Hide(line, more)",
		by:  "./cmd/executord", test: "TestRunOnce",
	},
	{
		file: "cmd/executord/internal/foreground/foreground.go", what: "a run by hand leaves processes behind that have left its group",
		old: "	ended, survivors := supervisor.EndStrays()\n",
		new: "	var ended, survivors []process.Stray\n",
		by:  "./cmd/executord", test: "TestRunOnce",
	},
	{
		file: "cmd/executord/inuse.go", what: "a daemon that drains locks its files again",
		old: "	u.files, u.over = nil, true\n",
		new: "	u.files, u.over = nil, false\n",
		by:  "./cmd/executord", test: "TestInUse",
	},
	{
		file: "cmd/executord/wait.go", what: "run-now --wait takes the run before for the one that was asked for",
		old: "bool { return r.Run != w.number })",
		new: "bool { return r.Run > w.number })",
		by:  "./cmd/executord", test: "TestActionsOfStoreAndDaemon",
	},
	{
		file: "cmd/executord/internal/exposure/exposure_unix.go", what: "a group that is not the user's may write to a job file unseen",
		old: "case bits&byGroup != 0 && !slices.Contains(",
		new: "case bits&byGroup != 0 && slices.Contains(",
	},
	{
		file: "cmd/executord/internal/exposure/exposure_unix.go", what: "a log that somebody has put beside a store is taken for a part of it",
		old: "case ok && !slices.Contains(owners, stat.Uid):",
		new: "case ok && slices.Contains(owners, 4710):",
		by:  "./cmd/executord/internal/stores", test: "TestOpen",
	},
	{
		file: "cmd/executord/internal/stores/file.go", what: "a store is made where a link of somebody else points to",
		old:  "os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600",
		new:  "os.O_RDWR|os.O_CREATE, 0o600",
		test: "TestOpen",
	},
	{
		file: "cmd/executord/internal/stores/open.go", what: "a mistyped URL of a database is shown with its password",
		old:  "	case isAlmostURL(name):",
		new:  "	case isAlmostURL(name) && false:",
		test: "TestOpen",
	},
	{
		file: "cmd/executord/internal/stores/postgres.go", what: "the part of a torn URL that belongs to a password is shown",
		old:  "err != nil || torn(name) {",
		new:  "err != nil {",
		test: "TestOpen",
	},
	{
		file: "cmd/executord/internal/notify/mail.go", what: "mail goes in the clear to a server that speaks TLS from the begin on",
		old:  "			if m.TLS == \"tls\" {\n",
		new:  "			if m.TLS == \"\" {\n",
		test: "TestMailBySMTP",
	},
	{
		file: "cmd/executord/internal/notify/mail.go", what: "the certificate of a mail server is not checked",
		old:  "secure := &tls.Config{ServerName: m.host,",
		new:  "secure := &tls.Config{InsecureSkipVerify: true, ServerName: m.host,",
		test: "TestMailBySMTP",
	},
	{
		file: "cmd/executord/internal/daemon/tell.go", what: "a monitor is not told that a run has started",
		old: "	e.tell(event)\n	if late -= jitter",
		new: "	if late -= jitter",
		by:  "./cmd/executord/internal/daemon", test: "TestDaemonTellsMonitorOfRuns",
	},
	{
		file: "cmd/executord/internal/client/names.go", what: "a job is not found whose accents are typed as characters of their own",
		old: "		name = job.CanonicalName(name)\n",
		new: "",
	},
	{
		file: "cmd/executord/internal/daemon/attempt.go", what: "how far a run has come is not in the store",
		old:  "		durable.Progress(ctx, p.Done, p.Total, p.Note)\n",
		new:  "",
		test: "TestRunTellsProgress",
	},
	{
		file: "cmd/executord/internal/daemon/attempt.go", what: "lines that look like progress are missing in the output of any job",
		old:  "	if !r.job.Progress {\n",
		new:  "	if false {\n",
		test: "TestRunTellsProgress",
	},
	{
		file: "cmd/executord/internal/stores/node.go", what: "a daemon that starts takes the runs of those that are alive",
		old: "	if filelock.Alone(s.list) != nil {",
		new: "	if filelock.Alone(s.list) != nil && false {",
		by:  "./cmd/executord/internal/stores", test: "TestOpenForNode",
	},
	{
		file: "cmd/executord/listen.go", what: "all users of a machine may act on jobs",
		old: "	if o.actions && o.tokenFile == \"\" {\n",
		new: "	if false {\n",
		by:  "./cmd/executord", test: "TestListenOptions",
	},
	{
		file: "cmd/executord/listen.go", what: "a daemon takes the place of another program's socket",
		old: "		case !errors.Is(err, refused):\n",
		new: "		case errors.Is(err, os.ErrNotExist):\n",
		by:  "./cmd/executord", test: "TestListenOptions",
	},
	{
		file: "cmd/executord/inuse.go", what: "daemons that share jobs in a store warn of each other",
		old: "	if !u.shared {\n",
		new: "	if true {\n",
		by:  "./cmd/executord", test: "TestInUse",
	},
}
