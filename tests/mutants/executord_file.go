package main

// executordFileMutants break how executord reads job files, and what it makes of
// their names, texts and times.
var executordFileMutants = []mutant{
	{
		file: "cmd/executord/internal/crontab/fields.go", what: "an escaped percent sign ends the command",
		old: `if text[i] == '\\' && i+1 < len(text) {`,
		new: `if false {`,
	},
	{
		file: "cmd/executord/internal/crontab/fields.go", what: "the input of a command is one line",
		old: `b.WriteByte('\n')`,
		new: `b.WriteByte(' ')`,
	},
	{
		file: "cmd/executord/internal/crontab/fields.go", what: "the last line of the input has no end",
		old: `!strings.HasSuffix(stdin, "\n")`,
		new: `false`,
	},
	{
		file: "cmd/executord/internal/crontab/setting.go", what: "SHELL in a crontab is not heeded",
		old: "		p.shell = value\n",
		new: "",
	},
	{
		file: "cmd/executord/internal/crontab/setting.go", what: "CRON_TZ in a crontab is not heeded",
		old: "		p.zone = loc\n",
		new: "		_ = loc\n",
	},
	{
		file: "cmd/executord/internal/crontab/setting.go", what: "the quotes of a value are a part of it",
		old: "return value[1:end], true",
		new: "return value, true",
	},
	{
		file: "cmd/executord/internal/crontab/crontab.go", what: "a name is that of all jobs below it",
		old: "		p.job(n, text)\n\t\tp.pending = \"\"\n",
		new: "		p.job(n, text)\n",
	},
	{
		file: "cmd/executord/internal/crontab/crontab.go", what: "a byte order mark is a part of the first line",
		old: `	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))` + "\n",
		new: "",
	},
	{
		file: "cmd/executord/internal/tomlfile/values.go", what: "the timezone of a TOML file is not heeded",
		old: "			s.zone = loc\n",
		new: "			_ = loc\n",
	},
	{
		file: "cmd/executord/internal/tomlfile/values.go", what: "a timeout may be negative",
		old: "	case length < 0:\n",
		new: "	case false:\n",
	},
	{
		file: "cmd/executord/internal/tomlfile/values.go", what: "two jobs may have one name",
		old: "if before, taken := d.named[name]; taken {",
		new: "if before, taken := d.named[name]; taken && false {",
	},
	{
		file: "cmd/executord/internal/tomlfile/tomlfile.go", what: "timeout and jitter change places",
		old: "j.Timeout, j.Jitter = own.timeout, own.jitter",
		new: "j.Timeout, j.Jitter = own.jitter, own.timeout",
	},
	{
		file: "cmd/executord/internal/job/mistake.go", what: "what is right in a file with mistakes is run",
		old: "return r.notes, r.mistakes",
		new: "return r.notes, nil",
	},
	{
		file: "cmd/executord/internal/job/mistake.go", what: "what is in a file reaches the terminal as it is",
		old: "visible(shorten(text))",
		new: "shorten(text)",
	},
	{
		file: "cmd/executord/internal/job/text.go", what: "control characters count as printable",
		old: `case r == '\t' || shown(r):`,
		new: `case r >= 0:`,
	},
	{
		file: "cmd/executord/internal/job/text.go", what: "an empty argument is not shown",
		old: `if arg == "" || `,
		new: `if `,
	},
	{
		file: "cmd/executord/internal/job/names.go", what: "the name of a job may be as long as it likes",
		old: " && len(name) <= 64 &&",
		new: " &&",
	},
	{
		file: "cmd/executord/internal/job/schedule.go", what: "@every may be as short as it likes",
		old: "if s.every < Shortest {",
		new: "if s.every < 0 {",
	},
	{
		file: "cmd/executord/internal/job/schedule.go", what: "the next time of @every is the one asked about",
		old: "if !next.After(after) {",
		new: "if next.Before(after) {",
	},
	{
		file: "cmd/executord/internal/job/schedule.go", what: "the grid of @every leaves out a time before its start",
		old: "	passed := after.Sub(g.Start)",
		new: "	passed := max(after.Sub(g.Start), 0)",
	},
	{
		file: "cmd/executord/internal/job/schedule.go", what: "the times of @every have all the digits of the start",
		old: "start.Round(0).Truncate(time.Millisecond)",
		new: "start.Round(0)",
	},
	{
		file: "cmd/executord/internal/job/zone.go", what: "a zone is named although it has another clock",
		old: "if err != nil || !sameClock(loc) {",
		new: "if err != nil {",
	},
}
