package importer_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/importer"
	"github.com/executor-go/executor/cmd/executord/internal/tomlfile"
)

var update = flag.Bool("update", false, "write testdata/*.toml")

func beside(name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		return nil, errors.New("it is not beside the file")
	}
	return data, nil
}

// What is made of a file of each kind is as testdata has it, and a job file without mistakes and notes.
func TestReadEachKind(t *testing.T) {
	for _, name := range []string{"backup.timer", "compose.yml", "ofelia.ini", "cron.yaml", "dkron.json", "cronicle.txt", "wf.yml"} {
		data, err := beside(name)
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := importer.Read("", name, data, beside)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, off := importer.TOML(name, jobs)
		golden := filepath.Join("testdata", name+".toml")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
		file, err := tomlfile.Parse(name, []byte(got))
		if err != nil || len(file.Notes) > 0 || len(file.Jobs) != len(jobs)-off {
			t.Errorf("%s: %d jobs of %d, notes %v, mistakes %v", name, len(file.Jobs), len(jobs), file.Notes, err)
		}
	}
}

// An OnCalendar is the schedule with the same times, and one without counterpart is none.
func TestReadCalendars(t *testing.T) {
	for text, want := range map[string]string{
		"daily":                          "@daily",
		"weekly":                         "0 0 * * 1",
		"quarterly":                      "0 0 1 1,4,7,10 *",
		"Mon..Fri 10:00":                 "0 10 * * mon-fri",
		"Sat,Sun 10:00:30":               "@extended 30 0 10 * * sat,sun",
		"Fri..Mon 10:00":                 "0 10 * * fri-sat,sun-mon",
		"Monday *-*-* 00:00:00":          "0 0 * * mon",
		"Mon-Fri 10:00":                  "0 10 * * mon-fri",
		"Mon,Wed-Friday 10:00":           "0 10 * * mon,wed-fri",
		"Monk 10:00":                     "",
		"*-*-* *:00/10:00":               "*/10 * * * *",
		"*-*-* 6..22/2:05:00":            "5 6-22/2 * * *",
		"*-*-* 5/6:00":                   "0 5-23/6 * * *",
		"*-01,07-15 03:00":               "0 3 15 1,7 *",
		"12-24 18:00":                    "0 18 24 12 *",
		"*-*~03 12:00":                   "@extended 0 12 L-2 * *",
		"Fri *-*-13 09:00":               "@extended 0 9 13 * +fri",
		"2027-*-01 00:00:00":             "@extended 0 0 0 1 * * 2027",
		"*-*-* 02:30:00 America/Chicago": "30 2 * * *",
		"*-*-* 02:30:00 CET":             "30 2 * * *",
		"daily UTC":                      "@daily",
		"daily utc":                      "@daily",
		"Mon EST":                        "0 0 * * mon",
		"*-*-* 02:30:00 Middle/Earth":    "",
		"*-*-* 02:30:00 Local":           "",
		"*-*-* 02:30:00.5":               "",
		"someday":                        "",
		"1:2:3:4":                        "",
	} {
		jobs, err := importer.Read("systemd", "x.timer", []byte("[Timer]\nOnCalendar="+text+"\n"), beside)
		if err != nil || len(jobs) != 1 || jobs[0].Schedule != want {
			t.Errorf("%s: %+v, %v; want %q", text, jobs, err, want)
			continue
		}
		zone := text[strings.LastIndexByte(text, ' ')+1:]
		if strings.EqualFold(zone, "UTC") {
			zone = "UTC"
		} else if want == "" || !slices.Contains([]string{"America/Chicago", "CET", "EST"}, zone) {
			zone = ""
		}
		if jobs[0].Zone != zone {
			t.Errorf("%s: zone %q, want %q", text, jobs[0].Zone, zone)
		}
		if lost := strings.Join(jobs[0].Lost, "; "); strings.Contains(lost, "OnCalendar="+text) != (want == "") {
			t.Errorf("%s: lost %s", text, lost)
		}
	}
}

// A schedule of the library robfig/cron is the one with the same times: with six fields the first has seconds, and a day
// has to match either field of days unless one of them is a star without a step.
func TestReadSchedulesOfRobfig(t *testing.T) {
	for text, want := range map[string]string{
		"0 30 2 * * 1":                 "30 2 * * 1",
		"15 30 2 ? * 1":                "@extended 15 30 2 * * 1",
		"30 2 ? * 1":                   "30 2 * * 1",
		"0 0 0 */2 * 1":                "0 0 1-31/2 * 1",
		"0 0 13 * */2":                 "0 0 13 * 0-6/2",
		"5 0 0 */2 * */3":              "@extended 5 0 0 1-31/2 * 0-6/3",
		"0 0 */2 * *":                  "0 0 */2 * *",
		"0 0 */1 * 1":                  "0 0 */1 * 1",
		"TZ=Asia/Tokyo 0 0 0 */2 * 1":  "TZ=Asia/Tokyo 0 0 1-31/2 * 1",
		"TZ=Asia/Tokyo 30 0 0 */2 * *": "TZ=Asia/Tokyo @extended 30 0 0 */2 * *",
		"@every 1h30m":                 "@every 1h30m",
	} {
		dkron := `{"name": "a", "schedule": "` + text + `", "executor": "shell", "executor_config": {"command": "x"}}`
		jobs, err := importer.Read("dkron", "x.json", []byte(dkron), beside)
		if err != nil || len(jobs) != 1 || jobs[0].Schedule != want {
			t.Errorf("%s: %+v, %v; want %q", text, jobs, err, want)
			continue
		}
		if made, off := importer.TOML("x.json", jobs); off != 0 {
			t.Errorf("%s: the job does not run: %s", text, made)
		}
	}
}

// What a CronJob does not say is as Kubernetes has it: runs may overlap.
func TestReadDefaultsOfKubernetes(t *testing.T) {
	const text = "kind: CronJob\nmetadata: {name: a}\nspec:\n  schedule: 0 0 */2 * 1\n" +
		"  jobTemplate: {spec: {template: {spec: {containers: [{image: i, command: [x]}]}}}}\n"
	jobs, err := importer.Read("kubernetes", "x.yaml", []byte(text), beside)
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	made, _ := importer.TOML("x.yaml", jobs)
	for _, want := range []string{`schedule = "0 0 1-31/2 * 1"`, `timezone = "UTC"`, `overlap  = "allow 100"`, `retries  = 6`} {
		if !strings.Contains(made, want) {
			t.Errorf("no %s in %s", want, made)
		}
	}
}

// $(NAME) is the value of a variable of the container, as Kubernetes has it before the shell. Where the value is not in
// the file, that is told, and what names no variable stays.
func TestReadExpandsVariablesOfContainer(t *testing.T) {
	const head = "kind: CronJob\nmetadata: {name: a}\nspec:\n  schedule: 0 0 * * *\n" +
		"  jobTemplate: {spec: {template: {spec: {containers: [{image: i, env: [{name: DAY, value: mon}, {name: DIR, value: /data/$(DAY)}," +
		" {name: PASSWORD, valueFrom: {secretKeyRef: {name: db, key: p}}}, {name: URL, value: 'db://$(PASSWORD)@db'}], "
	for _, test := range []struct{ rest, want, lost string }{
		{`command: [/bin/sh, -c, 'report "$(DAY)" $(date) $$(DAY) $$$$ $('], envFrom: []`, `command  = 'report "mon" $(date) $(DAY) $$ $('`, ""},
		{`command: [/bin/sh, -c, ls $(DIR)]`, `command  = "ls /data/mon"`, ""},
		{`command: [ls], args: [$(DIR), $$(DIR), $(NONE)]`, `command  = ["ls", "/data/mon", "$(DIR)", "$(NONE)"]`, ""},
		{`command: [/bin/sh, -c, "login $(PASSWORD)"]`, "", "the variable PASSWORD in login $(PASSWORD)"},
		{`command: [login, $(PASSWORD)]`, "", "the variable PASSWORD in $(PASSWORD)"},
		{`command: [/bin/sh, -c, ls $(HOME_OF)], envFrom: [{configMapRef: {name: more}}]`, "", "the variable HOME_OF in ls $(HOME_OF), if envFrom has it"},
		{`command: [curl, $(SHOP_SERVICE_HOST)]`, "", "the variable SHOP_SERVICE_HOST in $(SHOP_SERVICE_HOST)"},
	} {
		jobs, err := importer.Read("kubernetes", "x.yaml", []byte(head+test.rest+"}]}}}}\n"), beside)
		if err != nil || len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		made, _ := importer.TOML("x.yaml", jobs)
		if test.want != "" && !strings.Contains(made, test.want+"\n") {
			t.Errorf("%s: got\n%swant %s", test.rest, made, test.want)
		}
		lost := slices.DeleteFunc(jobs[0].Lost, func(lost string) bool {
			return strings.HasPrefix(lost, "the variable PASSWORD, from ") || strings.HasPrefix(lost, "the image ") ||
				lost == "the variable PASSWORD in URL=db://$(PASSWORD)@db" || strings.HasPrefix(lost, "envFrom = ")
		})
		if got := strings.Join(lost, "; "); got != test.lost {
			t.Errorf("%s: lost %q, want %q", test.rest, got, test.lost)
		}
	}
}

// What a workflow sets for all of its jobs, and cannot be brought, is told.
func TestReadTellsDefaultsOfWorkflow(t *testing.T) {
	const text = "on: {schedule: [{cron: 0 0 * * *}]}\ndefaults: {run: {working-directory: shop}}\n" +
		"concurrency: nightly\njobs: {a: {steps: [{run: x}]}}\n"
	jobs, err := importer.Read("github", "wf.yml", []byte(text), beside)
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	lost := strings.Join(jobs[0].Lost, "; ")
	for _, want := range []string{"concurrency of the workflow = nightly", "defaults of the workflow = run: working-directory: shop"} {
		if !strings.Contains(lost, want) {
			t.Errorf("no %q in %s", want, lost)
		}
	}
}

// That a timer makes up for missed times is told, however it says so.
func TestReadTellsPersistent(t *testing.T) {
	for value, told := range map[string]bool{"true": true, "1": true, "on": true, "Yes": true, "false": false, "0": false, "off": false} {
		jobs, err := importer.Read("systemd", "x.timer", []byte("[Timer]\nOnCalendar=daily\nPersistent="+value+"\n"), beside)
		if err != nil || len(jobs) != 1 || strings.Contains(strings.Join(jobs[0].Lost, "; "), "Persistent") != told {
			t.Errorf("%s: %+v, %v", value, jobs, err)
		}
	}
}

// What a service says of its command runs as systemd runs it, also where a shell does that, and what is not brought is
// told.
func TestReadServices(t *testing.T) {
	for _, test := range []struct{ service, want, lost string }{
		{"ExecStart=/bin/x 'a b' c|d >e ;x", `command  = ["/bin/x", "a b", "c|d", ">e", ";x"]`, ""},
		{"ExecStart=/bin/x $A '*.log' a$B \"${C} d\" $$E c|d", "command  = \"/bin/x $A '*.log' 'a$B' \\\"${C} d\\\" '$E' 'c|d'\"", ""},
		{"ExecStart=/bin/x '${C}$$\"`$D'", "command  = '/bin/x \"${C}\\$\\\"\\`\\$D\"'", ""},
		{"ExecStart=/bin/x ; /bin/y a", "command  = '''\n/bin/x &&\n/bin/y a\n'''", ""},
		{`ExecStart=/bin/find /a -exec ls {} \; -print $A`, `command  = "/bin/find /a -exec ls '{}' ';' -print $A"`, ""},
		{"ExecStart=/bin/x\nExecStart=/bin/y *", "command  = '''\n/bin/x &&\n/bin/y '*'\n'''", ""},
		{`ExecStart=/bin/x a\x20b`, "", `the escape sequences in: /bin/x a\x20b`},
		{"ExecStart=/bin/x 'a", `command  = "/bin/x 'a"`, "the quotes in: /bin/x 'a"},
		{"ExecStart=/bin/x %%a %h", `command  = ["/bin/x", "%a", "%h"]`, "what systemd puts in place of % in: ExecStart=/bin/x %%a %h"},
		{"ExecStart=/bin/x\nEnvironment=A=%h/x", "", "what systemd puts in place of % in: Environment=A=%h/x"},
		{"ExecStart=/bin/x\nUMask=022\nUMask=027\nNice=1\nNice=2", "umask    = \"027\"\nnice     = 2", ""},
		{"ExecStart=/bin/x\nEnvironment=A=1\nEnvironment=\nEnvironment=B=2", `env      = { B = "2" }`, ""},
		{"ExecStart=/bin/x\nEnvironmentFile=/c\nEnvironmentFile=\nEnvironmentFile=/a\nEnvironmentFile=/b", `env_file = ["/a", "/b"]`, ""},
		{"ExecStart=/bin/x\nEnvironmentFile=/a\nEnvironment=B=2", `env_file = "/a"`,
			"EnvironmentFile wins over Environment for systemd; here env wins over env_file"},
	} {
		jobs, err := importer.Read("systemd", "x.timer", []byte("[Timer]\nOnCalendar=daily\n"), func(string) ([]byte, error) {
			return []byte("[Service]\n" + test.service), nil
		})
		if err != nil || len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		made, off := importer.TOML("x.timer", jobs)
		if off > 0 || !strings.Contains(made, test.want) {
			t.Errorf("%s: got\n%swant\n%s", test.service, made, test.want)
		}
		if lost := strings.Join(jobs[0].Lost, "; "); lost != test.lost {
			t.Errorf("%s: lost %q, want %q", test.service, lost, test.lost)
		}
	}
}

// A timer that counts is @every, and one that only waits for the boot is @reboot.
func TestReadSpans(t *testing.T) {
	for text, want := range map[string]string{
		"OnBootSec=15min\nOnUnitActiveSec=1w 2d": "@every 216h",
		"OnUnitActiveSec=90":                     "@every 1m30s",
		"OnUnitInactiveSec=1h 30min":             "@every 1h30m",
		"OnBootSec=5min":                         "@reboot",
		"OnUnitActiveSec=1 fortnight":            "",
	} {
		jobs, err := importer.Read("systemd", "x.timer", []byte("[Timer]\n"+text+"\n"), beside)
		if err != nil || len(jobs) != 1 || jobs[0].Schedule != want {
			t.Errorf("%s: %+v, %v; want %q", text, jobs, err, want)
		}
	}
}

// A file that does not show whose it is, or is none of the kind, is an error that says what to do.
func TestReadRefusesFiles(t *testing.T) {
	for _, test := range []struct{ kind, name, text, want string }{
		{"", "x.yml", "a: 1\n", "the scheduler of the file was not recognized; set --kind systemd|ofelia|"},
		{"", "x.service", "[Service]\n", "name the .timer"},
		{"", "x.yml", "a: [\n", "yaml: "},
		{"systemd", "x.timer", "[Unit]\n", "it has no [Timer]"},
		{"github", "x.yml", "on: push\njobs: {a: {}}\n", "the workflow has no schedule"},
		{"at", "x", "", `unknown kind "at"`},
	} {
		if _, err := importer.Read(test.kind, test.name, []byte(test.text), beside); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s %s: %v, want %s", test.kind, test.text, err, test.want)
		}
	}
}

// Whatever is read, what is made of it has no mistakes, and as many jobs as are not comments.
func FuzzReadMakesJobFiles(f *testing.F) {
	for _, name := range []string{"backup.timer", "compose.yml", "ofelia.ini", "cron.yaml", "dkron.json", "cronicle.txt", "wf.yml"} {
		data, err := beside(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(name, data)
	}
	f.Add("x.timer", []byte("[Timer]\nOnUnitActiveSec=1\n[Timer]\nOnCalendar=*:0/0\n"))
	f.Add("x.json", []byte(`[{"name":"a\u0000'''\"\\","schedule":"@every 1h","executor":"shell","executor_config":{"command":"a\nb'''\u001b","shell":"true","env":"A=\u0000,1=2","cwd":"\u0000"}}]`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		jobs, err := importer.Read("", name, data, beside)
		if err != nil || len(data) > 4096 || len(jobs) > 100 {
			return
		}
		text, off := importer.TOML(name, jobs)
		file, err := tomlfile.Parse(name, []byte(text))
		if err != nil || len(file.Jobs) != len(jobs)-off {
			t.Errorf("%d jobs of %d, %d off: %v\n%s", len(file.Jobs), len(jobs), off, err, text)
		}
	})
}
