package main

// uiMutants break the pages.
var uiMutants = []mutant{
	{
		file: "ui/page/guard.go", what: "a page is answered by a name that was made to point to this machine",
		old: "	case !isLoopback(r.Host):\n",
		new: "	case r.Host == \"\":\n",
	},
	{
		file: "ui/page/guard.go", what: "another machine that says localhost is answered",
		old: "case !isLocal(r.RemoteAddr):",
		new: "case r.RemoteAddr == \"\":",
	},
	{
		file: "ui/page/guard.go", what: "a proxy that is not known is answered",
		old: `		if r.Header.Get(name) != "" {`,
		new: `		if r.Header.Get(name) == "-" {`,
	},
	{
		file: "ui/page/guard.go", what: "a form of another site is answered",
		old: "		if err := sites.Check(r); err != nil {\n",
		new: "		if err := error(nil); err != nil {\n",
	},
	{
		file: "ui/page/guard.go", what: "another site reads a page by a script",
		old: `	case "", "same-origin", "none":`,
		new: `	case "", "same-origin", "none", "cross-site":`,
	},
	{
		file: "ui/page/guard.go", what: "a page can be shown in a frame of another site",
		old: `; frame-ancestors 'none'")`,
		new: `")`,
	},
	{
		file: "ui/internal/act/act.go", what: "the reason of whoever made a link is taken for that of who follows it",
		old: "	if posted { // a reason",
		new: "	if false { // a reason",
	},
	{
		file: "ui/internal/act/act.go", what: "an action without a reason is done",
		old: `	case o.reason == "":`,
		new: `	case o.reason == "-":`,
	},
	{
		file: "ui/internal/act/action.go", what: "the audit log does not say who it was",
		old: "a.Who, a.Reason = by.who, by.reason",
		new: "a.Reason = by.reason",
	},
	{
		file: "ui/internal/act/act.go", what: "a page shows a job as before an action",
		old: "	e.Cache.Reset() // pages show",
		new: "	// pages show",
	},
	{
		file: "ui/internal/act/action.go", what: "the answer says yes to an action that was not done",
		old: "	case a.Done():\n		return http.StatusOK",
		new: "	case a.Done(), a.Outcome == durable.TooLate:\n		return http.StatusOK",
	},
	{
		file: "ui/page/result.go", what: "a page is answered with JSON",
		old: "json > 0 && json >= html",
		new: "json > 0 || html == 0",
	},
}
