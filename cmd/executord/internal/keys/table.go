package keys

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable"
)

// All is the table, in the order of the manual.
var All = []*Key{
	{Name: "name", Kind: Text, Place: Needed, Example: "backup", Doc: "required and unique: letters of any script with their marks, digits and `.` `_` `-` `/`, at most 64 bytes of UTF-8. It is normalized to NFC"},
	{Name: "schedule", Kind: Text, Place: Needed, Example: "30 2 * * *", Doc: "required; as in a crontab"},
	{Name: "command", Kind: Command, Example: "backup --all", Doc: "text for the shell, or a list of a program and its arguments, run without a shell. `%` is not special. A job has either `command` or `url`"},
	{Name: "url", Kind: Text, Example: "https://shop.example/refresh", Doc: "instead of a command: an [HTTP request](#requests-over-http)"},
	{Name: "method", Kind: Text, Example: "PUT", Doc: "of the request; the default is `GET`, or `POST` if there is a body"},
	{Name: "headers", Kind: Headers, Doc: "of the request, a table"},
	{Name: "body", Kind: Text, Example: "{}", Doc: "of the request"},
	{Name: "expect", Kind: Text, Example: "200-299,404", Doc: "the status codes that count as success; the default is `\"200-299\"`"},
	{Name: "stdin", Kind: Text, Example: "text", Doc: "text for standard input; the default is `/dev/null`"},
	{Name: "progress", Kind: Truth, Place: Comment, Example: "true", Doc: "with `true`, lines of standard output such as `::progress 42/100 photos` set a progress bar, on the page and in `jobs`, and are left out of the log; the default is `false`",
		set: truth(func(s *Settings) *bool { return &s.Job.Progress })},
	{Name: "timezone", Kind: Text, Place: Above | Comment, Example: "Europe/Berlin", Doc: "the zone of the schedule; `\"\"` is executord's own",
		set: setZone},
	{Name: "cron", Kind: Text, Place: Above | Comment, Values: job.Languages, Example: "extended", Doc: "the [language](#other-languages-of-schedules) of the schedule; the default is `\"plain\"`",
		set: text(func(s *Settings) *string { return &s.Language })},
	{Name: "from", Kind: Text, Place: Above | Comment, Example: "2027-01-01", Doc: "the first day of the job, `\"2027-01-01\"`, or a time, `\"2027-01-01 08:00\"`, in the zone of the schedule",
		set: moment("from", func(s *Settings) *string { return &s.Job.Season.From })},
	{Name: "until", Kind: Text, Place: Above | Comment, Example: "2027-12-31", Doc: "the last day of the job, or a time",
		set: moment("until", func(s *Settings) *string { return &s.Job.Season.Until })},
	{Name: "except", Kind: List, Place: Above | Comment, Example: "12-25", Doc: "[when it does not run](#exceptions): one text, or a list; in a crontab with commas between them",
		set: setExcept},
	{Name: "timeout", Kind: Duration, Place: Above | Comment, Example: "90s", Doc: "a run that takes longer is ended; the default, `\"0s\"`, means no limit",
		set: duration("timeout", func(s *Settings) *time.Duration { return &s.Job.Timeout })},
	{Name: "success_codes", Kind: Numbers, Place: Above | Comment, Example: "0, 3", Doc: "the exit codes that count as success, such as `[0, 3]`; the default is 0 alone. A list without 0 makes 0 a failure",
		set: setSuccessCodes},
	{Name: "retries", Kind: Number, Place: Above | Comment, Example: "3", Doc: "how often a run that fails, times out or cannot be started is [retried](#retries), at most 100; the default is 0",
		set: number("retries", job.MaxRetries, func(s *Settings) *int { return &s.Job.Retry.Times })},
	{Name: "retry_wait", Kind: Duration, Place: Above | Comment, Example: "30s", Doc: "the wait before the second attempt; the default is `\"10s\"`",
		set: setRetryWait},
	{Name: "retry_factor", Kind: Number, Place: Above | Comment, Example: "2", Doc: "the factor from each wait to the next, a whole number; the default is 2; 1 keeps all waits the same",
		set: setRetryFactor},
	{Name: "retry_max_wait", Kind: Duration, Place: Above | Comment, Example: "10m", Doc: "the longest wait; the default is `\"1h\"`",
		set: setRetryMost},
	{Name: "overlap", Kind: Text, Place: Above | Comment, Example: "queue", Doc: "what happens at a due time [during a run](#overlap): `\"skip\"`, `\"queue\"`, `\"replace\"` or `\"allow 3\"`; the default is `\"skip\"`",
		set: setOverlap},
	{Name: "misfire", Kind: Text, Place: Above | Comment, Example: "skip", Doc: "what happens to due times at which [no daemon](#missed-times) was running: `\"once\"`, `\"skip\"`, `\"all\"` or a duration; the default is `\"once\"`",
		set: setMisfire},
	{Name: "group", Kind: Text, Place: Comment, Example: "db", Doc: "the [group](#groups) of the job, which limits how many of its jobs run at a time",
		set: setGroup},
	{Name: "after", Kind: List, Place: Comment, Example: "extract", Doc: "the job, or list of jobs, [after](#after-other-jobs) which this job is due",
		set: setAfter},
	{Name: "after_on", Kind: Text, Place: Comment, Values: job.AfterOn, Example: "success", Doc: "which outcomes of those count: `\"success\"`, `\"failure\"` or `\"either\"`; the default is `\"success\"`",
		set: text(func(s *Settings) *string { return &s.Job.AfterOn })},
	{Name: "jitter", Kind: Duration, Place: Above | Comment, Example: "90s", Doc: "delays each start by a random time below this; the default is `\"0s\"`. The due time does not change. Has no effect on `@reboot` and `run-now`",
		set: duration("jitter", func(s *Settings) *time.Duration { return &s.Job.Jitter })},
	{Name: "shell", Kind: Text, Place: Above | Comment, Example: "/bin/bash", Doc: "an absolute path; the default is `/bin/sh`",
		set: setShell},
	{Name: "dir", Kind: Text, Place: Above | Comment, Example: "/srv/shop", Doc: "the working directory; the default is executord's own, or the home of `user`",
		set: text(func(s *Settings) *string { return &s.Job.Command.Dir })},
	{Name: "user", Kind: Text, Place: Above | Comment, Example: "www-data", Doc: "the user that the command is run [as](#environment), which requires root if it is not executord's own; the default is executord's own, with its environment",
		set: text(func(s *Settings) *string { return &s.Job.Command.User })},
	{Name: "priority", Kind: Text, Place: Above | Comment, Values: job.Priorities, Example: "high", Doc: "`\"high\"`, `\"normal\"` or `\"low\"`: which of the due jobs starts first if not all can; the default is `\"normal\"`",
		set: text(func(s *Settings) *string { return &s.Job.Priority })},
	{Name: "notify", Kind: List, Place: Comment, Example: "ops", Doc: "the [channels](#notifications) for this job, instead of the channels for all jobs; `\"none\"` means no channel",
		set: setNotify},
	{Name: "on", Kind: List, Place: Above | Comment, Example: "gpu", Doc: "the machines that run the job, by their [names or labels](#choosing-machines): one, or a list, of which one machine runs it; `\"all gpu\"` for each of them; the default is any machine; in a crontab with commas between them",
		set: setOn},
	{Name: "tags", Kind: List, Place: Above | Comment, Example: "nightly", Doc: "labels by which to [find](#commands-on-a-store) the job, such as `\"nightly\"` or `\"team=shop\"`: one, or a list of up to 32; in a crontab with commas between them",
		set: setTags},
	{Name: "parameters", Kind: Parameters, Doc: "[values](#parameters) that can differ from run to run, by `run-now --set` for example: a table of variables with their defaults"},
	{Name: "env", Kind: Variables, Place: Above, Doc: "a table of environment variables; a job's are added to those above"},
	{Name: "env_file", Kind: List, Place: Above | Comment, Example: "/etc/shop.env", Doc: "a file with [variables](#environment), `NAME=value` in each line, or a list of several",
		set: setEnvFile},
	{Name: "secret", Kind: Files, Place: Above | Comment, Example: "DB_PASSWORD=/run/secrets/db", Doc: "variables whose values are in files, such as `secret.DB_PASSWORD = \"/run/secrets/db\"`; a job's are added to those above. In a crontab `# secret: DB_PASSWORD=/run/secrets/db`",
		set: setSecret},
}

// Gone has the keys of earlier versions, each with what the command of the job does instead. A file that has one is
// refused: a job must not run otherwise than its file says.
var Gone = map[string]string{
	"sql": `run the client of the database, as in: command = 'psql -X -c "vacuum analyze" shop', or sqlite3`,
	"dsn": "name the database in the command, as an argument of psql or sqlite3; a password belongs into secret.PGPASSWORD",

	"umask":  "set it in the command: umask 027; backup --all",
	"nice":   "set it in the command: nice -n 10 backup --all",
	"ionice": "set it in the command: ionice -c 3 backup --all",
	"rlimit": "set them in the command: ulimit -n 1024; backup --all",
}

// unknown returns what is wrong with a value that is none of those that a key may have.
func (k *Key) unknown(value string) *Wrong {
	what := fmt.Sprintf("%s %q is not one of %s", k.Name, value, strings.Join(k.Values, ", "))
	if near := job.Closest(value, k.Values); near != "" {
		return &Wrong{What: what, Hint: "did you mean", Like: near}
	}
	return &Wrong{What: what, Hint: "choose one of them", Like: k.Example}
}

// text returns the function that sets a text.
func text(field func(*Settings) *string) func(*Settings, []string) *Wrong {
	return func(s *Settings, values []string) *Wrong {
		*field(s) = values[0]
		return nil
	}
}

// truth returns the function that sets what is true or false.
func truth(field func(*Settings) *bool) func(*Settings, []string) *Wrong {
	return func(s *Settings, values []string) *Wrong {
		*field(s) = values[0] == "true"
		return nil
	}
}

// duration returns the function that sets a length of time. Zero is allowed: it takes back, for one job, what stands
// above all.
func duration(name string, field func(*Settings) *time.Duration) func(*Settings, []string) *Wrong {
	return func(s *Settings, values []string) *Wrong {
		length, err := time.ParseDuration(values[0])
		switch {
		case err != nil && isNumber(values[0]):
			return &Wrong{What: name + " is a number without a unit", Hint: "write it with its unit", Like: values[0] + "s"}
		case err != nil:
			return &Wrong{What: fmt.Sprintf("%s %q is not a duration", name, values[0]), Hint: "write numbers with the units h, m, s or ms", Like: "1h30m"}
		case length < 0:
			return &Wrong{What: fmt.Sprintf("%s %q is negative", name, values[0]), Hint: "write a positive duration, or for no " + name, Like: "0s"}
		}
		*field(s) = length
		return nil
	}
}

// number returns the function that sets a number of at most so much.
func number(name string, most int, field func(*Settings) *int) func(*Settings, []string) *Wrong {
	return func(s *Settings, values []string) *Wrong {
		n, err := strconv.Atoi(values[0])
		if err != nil || n > most {
			return &Wrong{What: fmt.Sprintf("%s %s is too large", name, values[0]), Hint: fmt.Sprintf("write a number up to %d", most), Like: strconv.Itoa(most)}
		}
		*field(s) = n
		return nil
	}
}

func setOverlap(s *Settings, values []string) *Wrong {
	overlap, err := job.ParseOverlap(values[0])
	if err != nil {
		like := job.Closest(values[0], []string{"skip", "queue", "replace"})
		if strings.HasPrefix(values[0], string(job.AllowOverlap)) {
			like = "allow 3"
		}
		return &Wrong{What: err.Error(), Hint: "choose one of them", Like: cmp.Or(like, "queue")}
	}
	s.Job.Overlap = overlap.String()
	return nil
}

func setMisfire(s *Settings, values []string) *Wrong {
	misfire, err := job.ParseMisfire(values[0])
	if err != nil {
		return &Wrong{What: err.Error(), Hint: "write once, skip or all, or how long ago a missed time may be", Like: cmp.Or(job.Closest(values[0], []string{"once", "skip"}), "2h")}
	}
	s.Job.Misfire = misfire.String()
	return nil
}

func setGroup(s *Settings, values []string) *Wrong {
	s.Job.Group = job.CanonicalName(values[0])
	if !job.ValidName(s.Job.Group) {
		return &Wrong{What: fmt.Sprintf("%q cannot be the name of a group", values[0]), Hint: "write one word", Like: "db"}
	}
	return nil
}

// setAfter sets the names of jobs. That there are such is known when all files are read.
func setAfter(s *Settings, values []string) *Wrong {
	s.Job.After = nil
	for _, name := range values {
		name = job.CanonicalName(name)
		switch {
		case !job.ValidName(name):
			return &Wrong{What: fmt.Sprintf("%q cannot be the name of a job", name), Hint: "write the name of one", Like: "extract"}
		case slices.Contains(s.Job.After, name):
			return &Wrong{What: fmt.Sprintf("%s is listed twice", name), Hint: "remove one of the two"}
		}
		s.Job.After = append(s.Job.After, name)
	}
	return nil
}

func setRetryWait(s *Settings, values []string) *Wrong {
	wrong := duration("retry_wait", func(s *Settings) *time.Duration { return &s.Job.Retry.Wait })(s, values)
	if wrong == nil && s.Job.Retry.Wait == 0 {
		s.Job.Retry.Wait = -1 // none; 0 stands for the default
	}
	return wrong
}

func setRetryFactor(s *Settings, values []string) *Wrong {
	wrong := number("retry_factor", 100, func(s *Settings) *int { return &s.Job.Retry.Factor })(s, values)
	if wrong == nil && s.Job.Retry.Factor == 0 {
		return &Wrong{What: "retry_factor is 0", Hint: "for equal waits, write", Like: "1"}
	}
	return wrong
}

func setRetryMost(s *Settings, values []string) *Wrong {
	wrong := duration("retry_max_wait", func(s *Settings) *time.Duration { return &s.Job.Retry.Most })(s, values)
	if wrong == nil && s.Job.Retry.Most == 0 {
		return &Wrong{What: "retry_max_wait is 0s", Hint: "set retry_wait to 0s for no wait, or write the longest wait", Like: "10m"}
	}
	return wrong
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// moment returns the function that sets a day or a time. An empty one takes back what stands above all jobs.
func moment(name string, field func(*Settings) *string) func(*Settings, []string) *Wrong {
	return func(s *Settings, values []string) *Wrong {
		if _, _, err := job.ParseMoment(values[0], time.UTC); err != nil && values[0] != "" {
			return &Wrong{What: name + ": " + err.Error(), Hint: "write a day, 2027-12-31, or a time", Like: "2027-12-31 18:00"}
		}
		*field(s) = values[0]
		return nil
	}
}

func setSuccessCodes(s *Settings, values []string) *Wrong {
	s.Job.SuccessCodes = nil
	for _, value := range values {
		code, err := strconv.Atoi(value)
		if err != nil || code > 255 {
			return &Wrong{What: fmt.Sprintf("%s is not an exit code", value), Hint: "write numbers from 0 to 255", Like: "0, 3"}
		}
		s.Job.SuccessCodes = append(s.Job.SuccessCodes, code)
	}
	return nil
}

func setEnvFile(s *Settings, values []string) *Wrong {
	for _, value := range values {
		if !job.IsAbs(value) {
			return &Wrong{What: fmt.Sprintf("env_file %q is not an absolute path", value), Hint: "write the whole path", Like: "/etc/shop.env"}
		}
	}
	s.Job.Command.EnvFiles = values
	return nil
}

// setSecret adds to what stands above all jobs, in a list of its own.
func setSecret(s *Settings, values []string) *Wrong {
	secrets := slices.Clone(s.Job.Command.Secrets)
	for _, value := range values {
		const like = "DB_PASSWORD=/run/secrets/db"
		switch name, file, _ := strings.Cut(value, "="); {
		case !job.ValidVariable(name):
			return &Wrong{What: fmt.Sprintf("%q cannot be the name of a variable", name), Hint: "use letters, digits and _ only, and no digit first", Like: like}
		case !job.IsAbs(file):
			return &Wrong{What: fmt.Sprintf("the file of secret %s is %q, which is not an absolute path", name, file), Hint: "write the path of a file with the value", Like: like}
		default:
			secrets = append(secrets, name+"="+file)
		}
	}
	s.Job.Command.Secrets = secrets
	return nil
}

func setExcept(s *Settings, values []string) *Wrong {
	for _, value := range values {
		if _, err := job.ParseException(value); err != nil {
			return &Wrong{What: "except: " + err.Error(), Hint: job.ExceptionHint}
		}
	}
	s.Job.Season.Except = values
	return nil
}

func setOn(s *Settings, values []string) *Wrong {
	on, err := job.ParseWhere(values)
	if err != nil {
		return &Wrong{What: "on: " + err.Error(), Hint: "write names and labels of machines, of letters, digits and . _ - = : alone, with * for any characters", Like: "gpu"}
	}
	s.Job.On = on
	return nil
}

// setTags sets the tags of a job, which are what a store takes.
func setTags(s *Settings, values []string) *Wrong {
	for _, tag := range values {
		if tag == "" || len(tag) > durable.MaxTag || !utf8.ValidString(tag) || strings.ContainsFunc(tag, unicode.IsControl) {
			return &Wrong{What: fmt.Sprintf("%.40q cannot be a tag", tag), Hint: fmt.Sprintf("write 1 to %d bytes of text, such as", durable.MaxTag), Like: "team=shop"}
		}
	}
	tags := slices.Compact(slices.Sorted(slices.Values(values)))
	if len(tags) > durable.MaxTags {
		return &Wrong{What: fmt.Sprintf("%d tags are more than the limit of %d", len(tags), durable.MaxTags), Hint: "remove some"}
	}
	s.Job.Tags = tags
	return nil
}

// setNotify sets the names of channels. That there are such is known when all files are read.
func setNotify(s *Settings, values []string) *Wrong {
	s.Job.Notify = []string{}
	for _, name := range values {
		name = job.CanonicalName(name)
		switch {
		case name == "none" && len(values) == 1:
		case !job.ValidName(name) || name == "none":
			return &Wrong{What: fmt.Sprintf("%q cannot be the name of a channel", name), Hint: "write the NAME of a [notify.NAME]", Like: "ops"}
		default:
			s.Job.Notify = append(s.Job.Notify, name)
		}
	}
	return nil
}

func setZone(s *Settings, values []string) *Wrong {
	loc, err := job.LoadZone(values[0])
	if err != nil {
		return &Wrong{What: err.Error(), Hint: job.ZoneHint}
	}
	s.Zone = loc
	return nil
}

func setShell(s *Settings, values []string) *Wrong {
	shell := values[0]
	switch s.Job.Command.Shell = shell; {
	case !job.IsAbs(shell):
		return &Wrong{What: fmt.Sprintf("the shell %q is not an absolute path", shell), Hint: "write the whole path", Like: "/bin/bash"}
	case !job.TakesC(shell):
		return &Wrong{What: fmt.Sprintf("the shell %q takes no command after -c", shell), Hint: job.ShellHint}
	}
	return nil
}

// ParameterKeys are those of a table in parameters.
var ParameterKeys = []struct{ Name, Doc string }{
	{"default", "The value in runs that set no other one. The default is empty."},
	{"values", "The only values that are allowed."},
	{"pattern", "A regular expression that the whole value matches."},
	{"description", "What it is for, on the page that asks for it."},
}
