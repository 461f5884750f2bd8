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
	{Name: "name", Kind: Text, Place: Needed, Example: "backup", Doc: "The name of the job, which is unique in the file: letters, digits and . _ - /, at most 64 bytes."},
	{Name: "schedule", Kind: Text, Place: Needed, Example: "30 2 * * *", Doc: "When the job is due: five fields, @daily and the like, @every 15m, @reboot, or @after, which is due only after other jobs."},
	{Name: "command", Kind: Command, Example: "backup --all", Doc: "Text for the shell, or a list of a program and its arguments, which are run without a shell."},
	{Name: "url", Kind: Text, Example: "https://shop.example/refresh", Doc: "Instead of a command: an HTTP request. $NAME is a variable of the environment."},
	{Name: "method", Kind: Text, Example: "PUT", Doc: "The method of the request. The default is GET, or POST if there is a body."},
	{Name: "headers", Kind: Headers, Doc: "The headers of the request. $NAME is a variable of the environment."},
	{Name: "body", Kind: Text, Example: "{}", Doc: "The body of the request."},
	{Name: "expect", Kind: Text, Example: "200-299,404", Doc: "The status codes that count as success. The default is 200-299."},
	{Name: "stdin", Kind: Text, Example: "text", Doc: "Text for the standard input of the command. The default is /dev/null."},
	{Name: "progress", Kind: Truth, Place: Comment, Example: "true", Doc: "With true, lines of output such as ::progress 42/100 photos set a progress bar. The default is false.",
		set: truth(func(s *Settings) *bool { return &s.Job.Progress })},
	{Name: "timezone", Kind: Text, Place: Above | Comment, Example: "Europe/Berlin", Doc: "The zone of the schedule; empty for executord's own.",
		set: setZone},
	{Name: "cron", Kind: Text, Place: Above | Comment, Values: job.Languages, Example: "extended", Doc: "The language of the schedule.",
		set: text(func(s *Settings) *string { return &s.Language })},
	{Name: "from", Kind: Text, Place: Above | Comment, Example: "2027-01-01", Doc: "The first day or time of the job, in the zone of the schedule.",
		set: moment("from", func(s *Settings) *string { return &s.Job.Season.From })},
	{Name: "until", Kind: Text, Place: Above | Comment, Example: "2027-12-31", Doc: "The last day or time of the job, in the zone of the schedule.",
		set: moment("until", func(s *Settings) *string { return &s.Job.Season.Until })},
	{Name: "except", Kind: List, Place: Above | Comment, Example: "12-25", Doc: "Days and hours at which the job does not run: 2027-12-25, 12-25 for each year, 12-24..01-02, sat-sun, 22:00-06:00, fri 18:00-24:00, or a file with one of these on each line.",
		set: setExcept},
	{Name: "timeout", Kind: Duration, Place: Above | Comment, Example: "90s", Doc: "A run that takes longer is ended. The default, 0s, means no limit.",
		set: duration("timeout", func(s *Settings) *time.Duration { return &s.Job.Timeout })},
	{Name: "success_codes", Kind: Numbers, Place: Above | Comment, Example: "0, 3", Doc: "The exit codes that count as success. The default is 0 alone.",
		set: setSuccessCodes},
	{Name: "retries", Kind: Number, Place: Above | Comment, Example: "3", Doc: "How often a run that fails is tried again, at most. The default is 0.",
		set: number("retries", job.MaxRetries, func(s *Settings) *int { return &s.Job.Retry.Times })},
	{Name: "retry_wait", Kind: Duration, Place: Above | Comment, Example: "30s", Doc: "The wait before the second attempt of a run. The default is 10s.",
		set: setRetryWait},
	{Name: "retry_factor", Kind: Number, Place: Above | Comment, Example: "2", Doc: "The factor from each wait between attempts to the next. The default is 2; 1 keeps all waits the same.",
		set: setRetryFactor},
	{Name: "retry_max_wait", Kind: Duration, Place: Above | Comment, Example: "10m", Doc: "The longest wait between two attempts. The default is 1h.",
		set: setRetryMost},
	{Name: "overlap", Kind: Text, Place: Above | Comment, Example: "queue", Doc: "What happens at a due time while a run is in progress: skip, queue (one run follows), replace (the run is ended), or allow with the number of runs at a time, as in allow 3. The default is skip.",
		set: setOverlap},
	{Name: "misfire", Kind: Text, Place: Above | Comment, Example: "skip", Doc: "What happens to due times at which no daemon was running: once (one catch-up run), skip, all, which needs overlap queue, or a duration such as 2h (one catch-up run if the last of them is at most that long ago). The default is once.",
		set: setMisfire},
	{Name: "group", Kind: Text, Place: Comment, Example: "db", Doc: "The group of the job. Its table [group.NAME] limits how many of its jobs run at a time; without a table the limit is 1.",
		set: setGroup},
	{Name: "after", Kind: List, Place: Comment, Example: "extract", Doc: "The job, or list of jobs, after which this job is due.",
		set: setAfter},
	{Name: "after_on", Kind: Text, Place: Comment, Values: job.AfterOn, Example: "success", Doc: "Which outcomes of those runs count. The default is success.",
		set: text(func(s *Settings) *string { return &s.Job.AfterOn })},
	{Name: "jitter", Kind: Duration, Place: Above | Comment, Example: "90s", Doc: "Delays each start by a random time below this. The default is 0s.",
		set: duration("jitter", func(s *Settings) *time.Duration { return &s.Job.Jitter })},
	{Name: "shell", Kind: Text, Place: Above | Comment, Example: "/bin/bash", Doc: "The absolute path of the shell that runs a text command. The default is /bin/sh.",
		set: setShell},
	{Name: "dir", Kind: Text, Place: Above | Comment, Example: "/srv/shop", Doc: "The working directory. The default is executord's own.",
		set: text(func(s *Settings) *string { return &s.Job.Command.Dir })},
	{Name: "user", Kind: Text, Place: Above | Comment, Example: "www-data", Doc: "The user to run the command as; executord must be root. The default is executord's own user.",
		set: text(func(s *Settings) *string { return &s.Job.Command.User })},
	{Name: "priority", Kind: Text, Place: Above | Comment, Values: job.Priorities, Example: "high", Doc: "Which of the due jobs starts first if not all can. The default is normal.",
		set: text(func(s *Settings) *string { return &s.Job.Priority })},
	{Name: "notify", Kind: List, Place: Comment, Example: "ops", Doc: "The channels for this job, instead of those for all jobs; none for no channel.",
		set: setNotify},
	{Name: "on", Kind: List, Place: Above | Comment, Example: "gpu", Doc: "The machine that runs the job, by its name or a label: one of those in a list. Both of db+eu must be there; * stands for any characters. With all before them, as in all gpu, the job runs on each of them; all alone is every machine. The default is any machine.",
		set: setOn},
	{Name: "tags", Kind: List, Place: Above | Comment, Example: "nightly", Doc: "Labels by which to find the job, such as nightly or team=shop: at most 32, each of at most 128 bytes.",
		set: setTags},
	{Name: "parameters", Kind: Parameters, Doc: "Values that can differ from run to run, by executord run-now --set for example: variables of the command, each with its default, or with a table."},
	{Name: "env", Kind: Variables, Place: Above, Doc: "Variables of the command; a job's are added to those above all jobs."},
	{Name: "env_file", Kind: List, Place: Above | Comment, Example: "/etc/shop.env", Doc: "A file with variables of the command, NAME=value on each line, or a list of files. Those of env win.",
		set: setEnvFile},
	{Name: "secret", Kind: Files, Place: Above | Comment, Example: "DB_PASSWORD=/run/secrets/db", Doc: "Variables of the command whose values are in files; a job's are added to those above all jobs.",
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
