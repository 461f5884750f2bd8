package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable/admin"
)

// Setting is a setting of a job, by its key in a job file.
type Setting struct {
	Name, Value string
	Default     bool // the file does not say otherwise
}

// Settings returns all settings of a job but its schedule and command. Of variables and secrets it has the names, and of
// the standard input how long it is: all three may be secret.
func Settings(s *catalog.Spec) (all []Setting) {
	add := func(name, value, missing string) {
		if value == "" {
			value = missing
		}
		all = append(all, Setting{name, value, value == missing})
	}
	list := func(values []string) string { return strings.Join(values, ", ") }
	duration := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return admin.Span(d)
	}
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	add("timezone", s.Zone, "")
	add("from", s.From, "always")
	add("until", s.Until, "for ever")
	add("except", list(s.Except), "none")
	add("on", list(s.On.Values()), "any machine")
	add("user", s.User, "executord's own")
	add("dir", s.Dir, "executord's own")
	if s.User != "" && s.Dir == "" {
		all[len(all)-1].Value = "the home of " + s.User
	}
	add("shell", s.Shell, job.DefaultShell)
	add("env", list(names(s.Env)), "none")
	add("env_file", list(s.EnvFiles), "none")
	add("secret", list(names(s.Secrets)), "none")
	stdin := ""
	if n := len(s.Stdin); n > 0 {
		stdin = fmt.Sprint(n, " bytes")
	}
	add("stdin", stdin, "/dev/null")
	add("timeout", duration(s.Timeout), "no limit")
	codes := make([]string, len(s.SuccessCodes))
	for i, code := range s.SuccessCodes {
		codes[i] = strconv.Itoa(code)
	}
	add("success_codes", list(codes), "0")
	add("retries", number(s.Retry.Times), "0")
	if s.Retry.Times > 0 {
		add("retry_wait", duration(s.Retry.Wait), "10s")
		add("retry_factor", number(s.Retry.Factor), "2")
		add("retry_max_wait", duration(s.Retry.Most), "1h")
	}
	add("jitter", duration(s.Jitter), "0s")
	add("overlap", s.Overlap, "skip")
	add("misfire", s.Misfire, "once")
	group := s.Group
	if group != "" {
		group += ", " + strconv.Itoa(max(s.GroupLimit, 1)) + " at a time"
	}
	add("group", group, "none")
	add("after", list(s.After), "no job")
	if len(s.After) > 0 {
		add("after_on", s.AfterOn, "success")
	}
	add("priority", s.Priority, "normal")
	progress := ""
	if s.Progress {
		progress = "true"
	}
	add("progress", progress, "false")
	return all
}

// names returns the names of variables, each NAME=value.
func names(variables []string) []string {
	all := make([]string, len(variables))
	for i, one := range variables {
		all[i], _, _ = strings.Cut(one, "=")
	}
	return all
}
