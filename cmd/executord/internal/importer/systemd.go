package importer

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable/admin"
)

// readTimer reads a timer of systemd, and its service: what systemctl cat prints of both has the service in the same text,
// else it is in the file beside it.
func readTimer(name string, data []byte, beside func(string) ([]byte, error)) (found Found) {
	if shown := unitOfCat.FindSubmatch(data); shown != nil {
		name = string(shown[1])
	}
	base := strings.TrimSuffix(filepath.Base(name), ".timer")
	j := Job{Name: base}
	unit := base + ".service"
	var schedules, spans []string
	atStart, persistent := false, false
	sections := readINI(data)
	for _, s := range sections {
		if s.name != "Timer" {
			j.loseSection(s)
			continue
		}
		for _, k := range s.keys {
			switch k.Name {
			case "OnCalendar", "OnUnitActiveSec", "OnUnitInactiveSec", "OnBootSec", "OnStartupSec", "OnActiveSec":
				if k.Value == "" { // takes back all those above
					schedules, spans, atStart = nil, nil, false
					continue
				}
				switch k.Name {
				case "OnCalendar":
					schedules = append(schedules, k.Value)
					continue
				case "OnUnitActiveSec":
					spans = append(spans, k.Value)
					continue
				case "OnUnitInactiveSec":
					spans = append(spans, k.Value)
					j.lose("OnUnitInactiveSec counts from the end of a run; @every counts from when executord starts")
					continue
				}
				atStart = true
				j.lose("%s=%s: a job of @reboot starts with executord, and others wait for their next time", k.Name, k.Value)
			case "RandomizedDelaySec":
				var err error
				if j.Jitter, err = span(k.Value); err != nil {
					j.lose("RandomizedDelaySec=%s: %v", k.Value, err)
				}
			case "Unit":
				unit = k.Value
			case "Persistent":
				persistent = !slices.Contains([]string{"0", "no", "n", "false", "f", "off"}, strings.ToLower(k.Value))
			case "AccuracySec": // executord is on time
			default:
				j.lose("%s=%s", k.Name, k.Value)
			}
		}
	}
	if persistent {
		j.lose("Persistent: for times without a daemon run executord with --store")
	}
	if hasSection(sections, "Service") {
		readService(&j, sections)
	} else if text, err := beside(unit); err != nil {
		j.lose("%s: %v", unit, err)
	} else {
		readService(&j, readINI(text))
	}
	add := func(text, schedule, zone string, err error) {
		one := j
		one.Lost, one.Keys = slices.Clone(j.Lost), slices.Clone(j.Keys)
		if one.Schedule, one.Zone = schedule, zone; err != nil {
			one.lose("%s: %v", text, err)
		}
		if !persistent && schedule != "@reboot" {
			one.set("misfire", "skip")
		}
		found.Jobs = append(found.Jobs, one)
	}
	for _, text := range spans {
		every, err := span(text)
		schedule := ""
		if err == nil {
			schedule = "@every " + admin.Span(every)
		}
		add("OnUnitActiveSec="+text, schedule, "", err)
	}
	for _, text := range schedules {
		schedule, zone, err := calendar(text)
		add("OnCalendar="+text, schedule, zone, err)
	}
	if len(found.Jobs) == 0 && atStart {
		add("", "@reboot", "", nil)
	}
	if len(found.Jobs) == 0 {
		found.Jobs = append(found.Jobs, j)
	}
	return found
}

// unitOfCat is the line that systemctl cat prints above a timer.
var unitOfCat = regexp.MustCompile(`(?m)^# /\S+/([^/\s]+)\.timer$`)

// loseSection says what is lost of a section that executord does not need: a description means nothing to it, and whether
// a timer is started with the machine is not for its jobs.
func (j *Job) loseSection(s section) {
	switch s.name {
	case "Service":
		return // for readService
	case "Install":
		s.keys = slices.DeleteFunc(s.keys, func(k Variable) bool { return k.Name == "WantedBy" || k.Name == "RequiredBy" || k.Name == "Alias" })
	case "Unit":
		s.keys = slices.DeleteFunc(s.keys, func(k Variable) bool { return k.Name == "Description" || k.Name == "Documentation" })
	}
	for _, k := range s.keys {
		j.lose("[%s] %s=%s", s.name, k.Name, k.Value)
	}
}

// readService takes the command of a service, and what is around it.
func readService(j *Job, sections []section) {
	var commands, files []string
	var codes []int
	kind := "simple"
	limits := make(map[string]time.Duration)
	for _, s := range sections {
		if s.name != "Service" {
			if s.name != "Timer" && !hasSection(sections, "Timer") {
				j.loseSection(s)
			}
			continue
		}
		for _, k := range s.keys {
			if slices.Contains(expanded, k.Name) {
				if specifier.MatchString(strings.ReplaceAll(k.Value, "%%", "")) {
					j.lose("what systemd puts in place of %% in: %s=%s", k.Name, k.Value)
				}
				k.Value = strings.ReplaceAll(k.Value, "%%", "%")
			}
			switch k.Name {
			case "ExecStart":
				if k.Value == "" {
					commands = nil
				} else {
					commands = append(commands, k.Value)
				}
			case "Type":
				if kind = k.Value; kind != "oneshot" && kind != "simple" && kind != "exec" {
					j.lose("Type=%s", k.Value)
				}
			case "User":
				j.User = k.Value
			case "UMask":
				j.lose("UMask=%s: set it in the command: umask %[1]s; ...", k.Value)
			case "Nice":
				j.lose("Nice=%s: set it in the command: nice -n %[1]s ...", k.Value)
			case "SuccessExitStatus":
				if k.Value == "" {
					codes = nil
				}
				for word := range strings.FieldsSeq(k.Value) {
					if code, err := strconv.Atoi(word); err == nil && code >= 0 && code <= 255 {
						codes = append(codes, code)
					} else {
						j.lose("SuccessExitStatus=%s", word) // a name, or a signal
					}
				}
			case "EnvironmentFile":
				switch {
				case k.Value == "":
					files = nil
				case !strings.HasPrefix(k.Value, "/"): // with - it need not be there
					j.lose("EnvironmentFile=%s", k.Value)
				default:
					files = append(files, k.Value)
				}
			case "WorkingDirectory":
				if j.Dir = k.Value; strings.HasPrefix(k.Value, "-") || strings.HasPrefix(k.Value, "~") {
					j.lose("WorkingDirectory=%s", k.Value)
					j.Dir = ""
				}
			case "Environment":
				if k.Value == "" {
					j.Env = nil
				}
				list, ok := words(k.Value)
				if !ok {
					j.lose("Environment=%s", k.Value)
				}
				for _, word := range list {
					name, value, _ := strings.Cut(word, "=")
					j.setEnv(name, value)
				}
			case "RuntimeMaxSec", "TimeoutStartSec", "TimeoutSec":
				timeout, err := span(k.Value)
				if err != nil && k.Value != "infinity" {
					j.lose("%s=%s: %v", k.Name, k.Value, err)
				}
				limits[k.Name] = timeout
			default:
				j.lose("[Service] %s=%s", k.Name, k.Value)
			}
		}
	}
	// Of a command that systemd does not wait for when it starts it, RuntimeMaxSec limits the run, and of others the time
	// to start.
	if j.Timeout = limits["RuntimeMaxSec"]; kind == "oneshot" {
		j.Timeout = cmp.Or(limits["TimeoutStartSec"], limits["TimeoutSec"])
	}
	if len(codes) > 0 {
		j.set("success_codes", append([]int{0}, codes...))
	}
	switch {
	case len(files) == 1:
		j.set("env_file", files[0])
	case len(files) > 1:
		j.set("env_file", files)
	}
	if len(files) > 0 && len(j.Env) > 0 {
		j.lose("EnvironmentFile wins over Environment for systemd; here env wins over env_file")
	}
	j.commands(commands)
}

// expanded are the keys in which systemd puts something in place of a specifier, such as %h.
var expanded = []string{"ExecStart", "User", "EnvironmentFile", "WorkingDirectory", "Environment"}

var specifier = regexp.MustCompile(`%[a-zA-Z]`)

// commands sets the command to those of a service, which run one after the other. One without variables needs no shell.
func (j *Job) commands(lines []string) {
	var scripts []string
	for _, line := range lines {
		command := strings.TrimLeft(line, "-@:+!|")
		if prefix := line[:len(line)-len(command)]; prefix != "" {
			j.lose("the %s before ExecStart", prefix)
		}
		if cEscape.MatchString(command) {
			j.lose("the escape sequences in: %s", command)
		}
		args, ok := words(command)
		switch {
		case !ok:
			j.lose("the quotes in: %s", command)
			scripts = append(scripts, command)
		case len(lines) == 1 && !strings.Contains(command, "$") && !slices.Contains(args, ";"):
			j.Args = args
			return
		default:
			scripts = append(scripts, script(args, !strings.Contains(command, `\;`)))
		}
	}
	j.Script = strings.Join(scripts, " &&\n")
}

// cEscape is an escape sequence as in C, which systemd knows between quotes and outside.
var cEscape = regexp.MustCompile(`\\[a-z0-9]`)

// script returns the words of a command for a shell. As for systemd, $NAME alone is several words, ${NAME} is a part of
// one, $$ is a $, no other character is special, and a ; alone, if it is one, is between two commands.
func script(words []string, several bool) string {
	var b strings.Builder
	for i, word := range words {
		if several && word == ";" {
			b.WriteString(" &&\n")
			continue
		}
		if i > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte(' ')
		}
		switch name, found := strings.CutPrefix(word, "$"); {
		case found && variableName.MatchString(name):
			b.WriteString(word)
		case !reference.MatchString(strings.ReplaceAll(word, "$$", "")):
			b.WriteString(job.QuoteArgs([]string{strings.ReplaceAll(word, "$$", "$")}))
		default:
			b.WriteString(`"` + special.ReplaceAllStringFunc(word, func(part string) string {
				switch {
				case part == "$$":
					return `\$`
				case len(part) > 1:
					return part
				}
				return `\` + part
			}) + `"`)
		}
	}
	return b.String()
}

var (
	reference = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)
	special   = regexp.MustCompile(`\$\$|\$\{[A-Za-z_][A-Za-z0-9_]*\}|[$"\\` + "`" + `]`)
)

// setEnv sets a variable, if it can be one.
func (j *Job) setEnv(name, value string) {
	if !variableName.MatchString(name) || strings.Contains(value, "\x00") {
		j.lose("the variable %q", name)
		return
	}
	j.Env = append(j.Env, Variable{name, value})
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// span reads a length of time of systemd, as "1h 30min", "90" or "2 weeks".
func span(text string) (total time.Duration, err error) {
	rest := strings.TrimSpace(text)
	if rest == "" {
		return 0, errors.New("it is empty")
	}
	for rest != "" {
		m := spanPart.FindStringSubmatch(rest)
		if m == nil {
			return 0, fmt.Errorf("%q is not a length of time", text)
		}
		unit, ok := spanUnits[m[2]]
		n, err := strconv.ParseFloat(m[1], 64)
		if !ok || err != nil || n*float64(unit) > float64(100*365*24*time.Hour) {
			return 0, fmt.Errorf("%q is not a length of time", text)
		}
		total += time.Duration(n * float64(unit))
		rest = strings.TrimSpace(rest[len(m[0]):])
	}
	return total, nil
}

var spanPart = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)`)

const day = 24 * time.Hour

var spanUnits = map[string]time.Duration{
	"": time.Second, "s": time.Second, "sec": time.Second, "second": time.Second, "seconds": time.Second,
	"ms": time.Millisecond, "msec": time.Millisecond,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": day, "day": day, "days": day, "w": 7 * day, "week": 7 * day, "weeks": 7 * day,
}

// calendarWords are those of OnCalendar.
var calendarWords = map[string]string{
	"minutely": "* * * * *", "hourly": "@hourly", "daily": "@daily", "weekly": "0 0 * * 1", "monthly": "@monthly",
	"yearly": "@yearly", "annually": "@yearly", "quarterly": "0 0 1 1,4,7,10 *", "semiannually": "0 0 1 1,7 *",
}

// calendar returns the schedule that an OnCalendar is, and its zone.
func calendar(text string) (schedule, zone string, err error) {
	parts := strings.Fields(text)
	if n := len(parts); n > 1 {
		if zone = zoneName(parts[n-1]); zone != "" {
			parts = parts[:n-1]
		}
	}
	if len(parts) == 1 {
		if word, ok := calendarWords[strings.ToLower(parts[0])]; ok {
			return word, zone, nil
		}
	}
	week, date, clock := "*", "*-*-*", "00:00:00"
	for _, part := range parts {
		switch {
		case strings.Contains(part, ":"):
			clock = part
		case strings.ContainsAny(part[:1], "0123456789*"):
			date = part
		default:
			week = strings.ToLower(strings.Trim(part, ","))
		}
	}
	if week != "*" {
		if week, err = weekdays(week); err != nil {
			return "", "", err
		}
	}
	date = strings.ReplaceAll(date, "~", "-~")
	ymd := strings.Split(date, "-")
	if len(ymd) == 2 {
		ymd = append([]string{"*"}, ymd...)
	}
	hms := strings.Split(clock, ":")
	if len(hms) == 2 {
		hms = append(hms, "0")
	}
	if len(ymd) != 3 || len(hms) != 3 {
		return "", "", errors.New("its form is not supported")
	}
	var fields [6]string // second, minute, hour, day, month, year
	for i, part := range []string{hms[2], hms[1], hms[0], ymd[2], ymd[1], ymd[0]} {
		if fields[i], err = component(part, [...]int{0, 0, 0, 1, 1, 1970}[i], [...]int{59, 59, 23, 31, 12, 2099}[i]); err != nil {
			return "", "", err
		}
	}
	if week != "*" && fields[3] != "*" {
		week = "+" + week // both have to match
	}
	all := []string{fields[1], fields[2], fields[3], fields[4], week}
	extended := week[0] == '+' || strings.Contains(fields[3], "L")
	if fields[0] != "0" || fields[5] != "*" {
		all, extended = append([]string{fields[0]}, all...), true
	}
	if fields[5] != "*" {
		all = append(all, fields[5])
	}
	if extended {
		all = append([]string{"@extended"}, all...)
	}
	return strings.Join(all, " "), zone, nil
}

// zoneName returns the name of the time zone that a word is, "" if it is none.
func zoneName(word string) string {
	if strings.EqualFold(word, "UTC") { // the only one whose case does not matter to systemd
		return "UTC"
	}
	if loc, err := job.LoadZone(word); err != nil || loc == time.Local {
		return ""
	}
	return word
}

// weekdays returns the days of the week, as Mon..Fri, in cron's form.
func weekdays(text string) (string, error) {
	names := []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
	var days []string
	for part := range strings.SplitSeq(text, ",") {
		ends := strings.Split(strings.ReplaceAll(part, "-", ".."), "..") // the older form has -
		for i, end := range ends {
			day := slices.IndexFunc(names, func(name string) bool { return end == name || end == name[:3] })
			if day < 0 {
				return "", fmt.Errorf("%q is not a day of the week", end)
			}
			ends[i] = names[day][:3]
		}
		if len(ends) > 2 {
			return "", fmt.Errorf("%q is not a range of days", part)
		}
		at := func(short string) int {
			return slices.IndexFunc(names, func(name string) bool { return name[:3] == short })
		}
		if len(ends) == 2 && at(ends[0]) > at(ends[1]) && ends[1] != "sun" {
			days = append(days, ends[0]+"-sat", "sun-"+ends[1])
			continue
		}
		days = append(days, strings.Join(ends, "-"))
	}
	return strings.Join(days, ","), nil
}

// component returns one part of a date or a time in cron's form.
func component(text string, least, most int) (string, error) {
	if last, ok := strings.CutPrefix(text, "~"); ok { // days before the end of the month, from 1
		n, err := strconv.Atoi(last)
		if err != nil || n < 1 {
			return "", fmt.Errorf("%q has no counterpart", text)
		}
		if n == 1 {
			return "L", nil
		}
		return fmt.Sprintf("L-%d", n-1), nil
	}
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		value, step, stepped := strings.Cut(item, "/")
		value = strings.ReplaceAll(value, "..", "-")
		if strings.Trim(value, "0123456789-*") != "" || strings.Trim(step, "0123456789") != "" || value == "" || stepped && step == "" {
			return "", fmt.Errorf("%q has no counterpart", item) // a fraction of a second, too
		}
		if n, err := strconv.Atoi(value); err == nil {
			value = strconv.Itoa(n) // without zeros before it
		}
		switch {
		case !stepped:
		case value == strconv.Itoa(least) || value == "*":
			value = "*/" + step
		case strings.Contains(value, "-"):
			value += "/" + step
		default:
			value += fmt.Sprintf("-%d/%s", most, step) // which goes on to the end
		}
		items = append(items, value)
	}
	return strings.Join(items, ","), nil
}
