package crontab

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/job/jobtest"
)

// write writes jobs as a crontab, each with all the settings it needs.
func write(jobs []job.Job) string {
	var b strings.Builder
	percent := func(s string) string { return strings.ReplaceAll(s, "%", `\%`) }
	for _, j := range jobs {
		if !strings.Contains(j.Name, ":") {
			fmt.Fprintf(&b, "# name: %s\n", j.Name)
		}
		for _, variable := range j.Command.Env {
			name, value, _ := strings.Cut(variable, "=")
			quote := `"`
			if strings.Contains(value, quote) {
				quote = "'"
			}
			if strings.Contains(value, "'") && strings.Contains(value, `"`) {
				quote = ""
			}
			fmt.Fprintf(&b, "%s=%s%s%s\n", name, quote, value, quote)
		}
		if zone := j.Schedule.Location().String(); zone != "Local" && !j.Schedule.AtStart {
			fmt.Fprintf(&b, "CRON_TZ=%s\n", zone)
		} else {
			fmt.Fprint(&b, "CRON_TZ=\n")
		}
		fmt.Fprintf(&b, "SHELL=%s\n%s %s", j.Command.Shell, j.Schedule.Text, percent(j.Command.Script))
		if in := j.Command.Stdin; in != "" {
			if !strings.HasSuffix("\n"+in, "\n\n") && !strings.HasSuffix(in, "\r\n") {
				in = strings.TrimSuffix(in, "\n") // Parse adds it
			}
			b.WriteString("%" + strings.ReplaceAll(percent(in), "\n", "%"))
		}
		if strings.HasSuffix(j.Command.Script, "\r") && j.Command.Stdin == "" {
			b.WriteString("%") // or it would be part of the line's end
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Of any input Parse returns either mistakes or jobs that can run, and what is
// read can be written and read again with the same result.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"*/5 * * * * echo hi\n", "@daily x\n@daily x\n",
		"CRON_TZ=Asia/Tokyo\n# name: a\nA=\"b c\"\n@every 1h30m cat%a\\%b%c\r\n",
		"SHELL=/bin/bash\n@reboot x\n@daily y # z\n",
		"MAILTO=me\n0 0 1 1 * root x \\\n",
		"61 * * * * x\nexport A=1\nA='\n@every\n\"A\" = 'b'\n",
		"\ufeff\x00", "\xff\xfe", "@", "#", "''=", "=", "* * * * * %",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > jobtest.MaxInput {
			return
		}
		file, err := Parse("tab", data)
		if wrong := jobtest.CheckRead(data, file, err); wrong != nil {
			t.Fatal(wrong)
		}
		if err != nil {
			return
		}
		for _, j := range file.Jobs {
			if j.Command.Script == "" {
				t.Errorf("job without a script: %+v", j)
			}
		}
		again, err := Parse("tab", []byte(write(file.Jobs)))
		if err != nil {
			t.Fatalf("written:\n%s\n%v", write(file.Jobs), err)
		}
		for i := range file.Jobs {
			a, b := file.Jobs[i], again.Jobs[i]
			a.Line, b.Line = 0, 0
			if strings.Contains(a.Name, ":") {
				a.Name, b.Name = "", "" // it has the line
			}
			// The written file repeats settings; the last of a name counts.
			a.Command.Env, b.Command.Env = effective(a.Command), effective(b.Command)
			a.Schedule, b.Schedule = comparable(a.Schedule), comparable(b.Schedule)
			if !reflect.DeepEqual(a, b) {
				t.Errorf("read  %+v\nagain %+v\nwritten:\n%s", a, b, write(file.Jobs))
			}
		}
	})
}

// comparable leaves of a schedule what is in its text.
func comparable(s job.Schedule) job.Schedule { return job.Schedule{Text: s.Text, AtStart: s.AtStart} }

// effective returns the variables that a command sees.
func effective(c job.Command) []string {
	values := map[string]string{"SHELL": c.Shell}
	for _, variable := range c.Env {
		name, value, _ := strings.Cut(variable, "=")
		values[name] = value
	}
	var all []string
	for name, value := range values {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return all
}
