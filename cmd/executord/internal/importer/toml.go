package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable/admin"
)

// TOML returns a job file. What could not be brought is in comments. A job that does not run where it is from, or that
// executord could not run, is a comment as a whole, and counted in off.
func TOML(from string, found Found) (text string, off int) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Imported from %s. Lines that begin with \"not imported\" say what is lost.\n", job.Printable(from))
	tell := func(lost []string) {
		for _, text := range lost {
			fmt.Fprintf(&b, "# not imported: %s\n", oneLine(text))
		}
	}
	tell(found.Lost)
	used := make(map[string]bool)
	for _, j := range found.Jobs {
		j.Name = uniqueName(j.Name, used)
		b.WriteString("\n")
		tell(j.Lost)
		off++
		lead := "# "
		if err := j.check(); err != nil {
			fmt.Fprintf(&b, "# This job does not run yet: %s.\n", oneLine(err.Error()))
		} else if j.Off != "" {
			fmt.Fprintf(&b, "# This job did not run: %s.\n", oneLine(j.Off))
		} else {
			off--
			lead = ""
		}
		for line := range strings.Lines(j.table()) {
			b.WriteString(lead + line)
		}
	}
	return b.String(), off
}

func oneLine(text string) string { return job.Printable(strings.Join(strings.Fields(text), " ")) }

// table returns the [[job]] of a job.
func (j *Job) table() string {
	var b strings.Builder
	b.WriteString("[[job]]\n")
	set := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-8s = %s\n", key, quote(value))
		}
	}
	set("name", j.Name)
	set("schedule", j.Schedule)
	set("timezone", j.Zone)
	if len(j.Args) > 0 {
		fmt.Fprintf(&b, "command  = %s\n", list(j.Args))
	} else {
		set("command", strings.TrimRight(j.Script, "\n"))
	}
	if j.Timeout > 0 {
		set("timeout", admin.Span(j.Timeout))
	}
	if j.Jitter > 0 {
		set("jitter", admin.Span(j.Jitter))
	}
	for _, key := range j.Keys {
		fmt.Fprintf(&b, "%-8s = %s\n", key.Name, key.Value)
	}
	set("dir", j.Dir)
	set("user", j.User)
	if len(j.Env) > 0 {
		var pairs []string
		seen := make(map[string]bool)
		for _, v := range slices.Backward(j.Env) { // the last of a name counts
			if !seen[v.Name] {
				pairs = append(pairs, v.Name+" = "+basic(v.Value))
			}
			seen[v.Name] = true
		}
		slices.Reverse(pairs)
		fmt.Fprintf(&b, "env      = { %s }\n", strings.Join(pairs, ", "))
	}
	return b.String()
}

// uniqueName makes a name of a job of a text.
func uniqueName(text string, used map[string]bool) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("._-/", r) || job.ValidName(string(r)) {
			return r
		}
		return '-'
	}, job.CanonicalName(text))
	name = strings.Trim(name, "-")
	for len(name) > 60 {
		name = name[:strings.LastIndexFunc(name, func(rune) bool { return true })]
	}
	if !job.ValidName(name) {
		name = "job"
	}
	for base, n := name, 2; used[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	used[name] = true
	return name
}

// quote writes a text in TOML: several lines in three quotes, where that can be.
func quote(text string) string {
	if !strings.Contains(text, "\n") || strings.Contains(text, "'''") || job.Printable(strings.ReplaceAll(text, "\n", "")) != strings.ReplaceAll(text, "\n", "") {
		return basic(text)
	}
	return "'''\n" + text + "\n'''"
}

// list writes texts as a list.
func list(texts []string) string {
	items := make([]string, len(texts))
	for i, text := range texts {
		items[i] = basic(text)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// basic writes a text in double quotes, or in single ones where it has double ones or backslashes.
func basic(text string) string {
	if strings.ContainsAny(text, `"\`) && !strings.Contains(text, "'") && job.Printable(text) == text {
		return "'" + text + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
