package crontab

import (
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// CRON= says how many fields the schedules below have, and what these mean.
func TestParseLanguages(t *testing.T) {
	for _, test := range []struct{ text, schedule, script string }{
		{"CRON=extended\n0 4 L * * backup 5", "@extended 0 4 L * *", "backup 5"},
		{"CRON=extended\n0 4 * * 5 backup", "0 4 * * 5", "backup"},
		{"CRON=extended\n@daily backup", "@daily", "backup"},
		{"CRON=seconds\n*/10 * * * * * 5 x", "@extended */10 * * * * *", "5 x"},
		{"CRON=seconds\n0 30 4 * * mon-fri x", "30 4 * * mon-fri", "x"},
		{"CRON=supercronic\n30 4 * * * sleep 5", "30 4 * * *", "sleep 5"},
		{"CRON=supercronic\n30 4 * * * * sleep 5", "30 4 * * *", "sleep 5"},
		{"CRON=supercronic\n30 4 * * * 2027-2029 sleep 5", "@extended 0 30 4 * * * 2027-2029", "sleep 5"},
		{"CRON=supercronic\n0 30 4 * * * * sleep 5", "30 4 * * *", "sleep 5"},
		{"CRON=supercronic\n*/5 30 4 * * mon * sleep 5", "@extended */5 30 4 * * mon", "sleep 5"},
		{"CRON=quartz\n0 0 12 ? * 2 x y", "0 12 * * mon", "x y"},
		{"CRON=quartz\n0 0 12 1 1 ? 2030 x y", "@extended 0 0 12 1 1 * 2030", "x y"},
		{"CRON=quartz\nCRON=plain\n0 12 1 1 * x y", "0 12 1 1 *", "x y"},
		{"@extended 0 0 L * * /bin/x", "@extended 0 0 L * *", "/bin/x"},
		{"@extended\t30 0 0 1,15 * +fri /bin/x", "@extended 30 0 0 1,15 * +fri", "/bin/x"},
		{"CRON=quartz\n@extended 0 0 L * * /bin/x", "@extended 0 0 L * *", "/bin/x"},
	} {
		j := parse(t, test.text).Jobs[0]
		if j.Schedule.Text != test.schedule || j.Command.Script != test.script || len(j.Command.Env) > 0 {
			t.Errorf("%q: schedule %q, want %q; command %q, env %q", test.text, j.Schedule.Text, test.schedule, j.Command.Script, j.Command.Env)
		}
	}
}

// In another language, mistakes are those of its fields.
func TestParseLanguageMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"CRON=seconds\n0 4 * * x y z":  `tab:2: month "x": must be 1 to 12 or jan to dec`,
		"CRON=extended\n0 4 L * *":     "tab:2: the command is missing",
		"CRON=quartz\n61 0 12 ? * 2 x": `tab:2: second "61": must be 0 to 59`,
	} {
		_, err := Parse("tab", []byte(text))
		if err == nil {
			t.Errorf("no mistake in %q", text)
			continue
		}
		if got := err.(job.Mistakes)[0].Error(); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// A random value is the same at each reading, and another one for another name. Without a name, it is by the command.
func TestParseRandomValuesAreStable(t *testing.T) {
	text := func(tab string) string { return parse(t, tab).Jobs[0].Schedule.Text }
	for _, fields := range []string{"~ ~ * * *", "0~59 3~5 * * *"} {
		named := text("# name: a\n" + fields + " x")
		if again := text("A=1\n# name: a\n\n" + fields + " y"); again != named {
			t.Errorf("%s: %q, and %q for the same name", fields, named, again)
		}
		if other := text("# name: c\n" + fields + " x"); other == named {
			t.Errorf("%s: %q for two names", fields, named)
		}
		if text(fields+" x") == text(fields+" y") {
			t.Errorf("%s: the same for two commands", fields)
		}
	}
	if h := text("CRON=extended\n# name: a\nH H * * * x"); h == "H H * * *" || text("CRON=extended\n# name: a\nH H * * * x") != h {
		t.Errorf("H is %q", h)
	}
}

// RANDOM_DELAY is the jitter of the jobs below it, in minutes, but for those at the start.
func TestParseRandomDelay(t *testing.T) {
	f := parse(t, "@daily a\nRANDOM_DELAY=45\n@daily b\n@reboot c\nRANDOM_DELAY=0\n@daily d\n")
	for i, want := range []time.Duration{0, 45 * time.Minute, 0, 0} {
		if got := f.Jobs[i].Jitter; got != want {
			t.Errorf("%s: %v, want %v", f.Jobs[i].Name, got, want)
		}
	}
	if len(f.Notes) > 0 {
		t.Errorf("notes %v", f.Notes)
	}
}
