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

// examples are files of each kind, in testdata.
var examples = []string{"backup.timer", "cat.txt", "compose.yml", "ofelia.ini"}

var update = flag.Bool("update", false, "write testdata/*.toml")

func beside(name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		return nil, errors.New("it is not beside the file")
	}
	return data, nil
}

// read returns the jobs of a timer.
func read(t *testing.T, timer string, beside func(string) ([]byte, error)) []importer.Job {
	t.Helper()
	found, err := importer.Read("x.timer", []byte(timer), beside)
	if err != nil || len(found.Lost) > 0 {
		t.Fatalf("%s: %+v, %v", timer, found, err)
	}
	return found.Jobs
}

// What is made of a file of each kind is as testdata has it, and a job file without mistakes and notes.
func TestReadEachKind(t *testing.T) {
	for _, name := range examples {
		data, err := beside(name)
		if err != nil {
			t.Fatal(err)
		}
		found, err := importer.Read(name, data, beside)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, off := importer.TOML(name, found)
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
		if err != nil || len(file.Notes) > 0 || len(file.Jobs) != len(found.Jobs)-off {
			t.Errorf("%s: %d jobs of %d, notes %v, mistakes %v", name, len(file.Jobs), len(found.Jobs), file.Notes, err)
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
		jobs := read(t, "[Timer]\nOnCalendar="+text+"\n", beside)
		if len(jobs) != 1 || jobs[0].Schedule != want {
			t.Errorf("%s: %+v; want %q", text, jobs, want)
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
		found, err := importer.Read("x.ini", []byte("[job-local \"a\"]\nschedule = "+text+"\ncommand = x\n"), beside)
		if err != nil || len(found.Jobs) != 1 || found.Jobs[0].Schedule != want {
			t.Errorf("%s: %+v, %v; want %q", text, found, err, want)
			continue
		}
		if made, off := importer.TOML("x.ini", found); off != 0 {
			t.Errorf("%s: the job does not run: %s", text, made)
		}
	}
}

// A timer makes up for missed times if it says so, which is told, and otherwise does not, with a store either.
func TestReadPersistent(t *testing.T) {
	for line, persistent := range map[string]bool{
		"Persistent=true": true, "Persistent=1": true, "Persistent=on": true, "Persistent=Yes": true,
		"Persistent=false": false, "Persistent=0": false, "Persistent=off": false, "": false,
	} {
		jobs := read(t, "[Timer]\nOnCalendar=daily\n"+line+"\n", beside)
		made, _ := importer.TOML("x.timer", importer.Found{Jobs: jobs})
		if strings.Contains(made, "# not imported: Persistent") != persistent || strings.Contains(made, `misfire  = "skip"`) == persistent {
			t.Errorf("%s: %s", line, made)
		}
	}
}

// An empty value takes back all times above it, of whatever kind.
func TestReadTakesTimesBack(t *testing.T) {
	jobs := read(t, "[Timer]\nOnBootSec=1min\nOnUnitActiveSec=1h\nOnCalendar=daily\nOnUnitActiveSec=\nOnCalendar=weekly\n", beside)
	if len(jobs) != 1 || jobs[0].Schedule != "0 0 * * 1" {
		t.Errorf("%+v", jobs)
	}
}

// What stands in other sections of a timer and of its service is told, but what does not change a run.
func TestReadTellsSections(t *testing.T) {
	jobs := read(t, "[Unit]\nDescription=a\nConditionACPower=true\n[Timer]\nOnCalendar=daily\n[Install]\nWantedBy=timers.target\nAlso=b\n",
		func(string) ([]byte, error) {
			return []byte("[Unit]\nDocumentation=man:x\nOnFailure=mail@%n\n[Service]\nExecStart=/bin/x\n[X-Own]\nA=1\n"), nil
		})
	want := []string{"[Unit] ConditionACPower=true", "[Install] Also=b", "[Unit] OnFailure=mail@%n", "[X-Own] A=1"}
	if len(jobs) != 1 || !slices.Equal(jobs[0].Lost, want) {
		t.Errorf("lost %q, want %q", jobs[0].Lost, want)
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
		{"ExecStart=/bin/x\nSuccessExitStatus=1\nSuccessExitStatus=\nSuccessExitStatus=3 TEMPFAIL 75", `success_codes = [0, 3, 75]`, "SuccessExitStatus=TEMPFAIL"},
		{"ExecStart=/bin/x\nType=oneshot\nTimeoutStartSec=1h\nRuntimeMaxSec=5", `timeout  = "1h"`, ""},
		{"ExecStart=/bin/x\nTimeoutStartSec=1h\nRuntimeMaxSec=5", `timeout  = "5s"`, ""},
		{"ExecStart=/bin/x\nUMask=027\nNice=1", "", "UMask=027: set it in the command: umask 027; ...; Nice=1: set it in the command: nice -n 1 ..."},
		{"ExecStart=/bin/x\nEnvironment=A=1\nEnvironment=\nEnvironment=B=2", `env      = { B = "2" }`, ""},
		{"ExecStart=/bin/x\nEnvironmentFile=/c\nEnvironmentFile=\nEnvironmentFile=/a\nEnvironmentFile=/b", `env_file = ["/a", "/b"]`, ""},
		{"ExecStart=/bin/x\nEnvironmentFile=/a\nEnvironment=B=2", `env_file = "/a"`,
			"EnvironmentFile wins over Environment for systemd; here env wins over env_file"},
	} {
		jobs := read(t, "[Timer]\nOnCalendar=daily\n", func(string) ([]byte, error) {
			return []byte("[Service]\n" + test.service), nil
		})
		if len(jobs) != 1 {
			t.Fatal(jobs)
		}
		made, off := importer.TOML("x.timer", importer.Found{Jobs: jobs})
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
		if jobs := read(t, "[Timer]\n"+text+"\n", beside); len(jobs) != 1 || jobs[0].Schedule != want {
			t.Errorf("%s: %+v; want %q", text, jobs, want)
		}
	}
}

// compose reads a compose file with one service of a name, and one that runs ofelia.
func compose(t *testing.T, service, scheduler string) importer.Found {
	t.Helper()
	found, err := importer.Read("c.yml", []byte("services:\n  web: {"+service+"}\n  cron: {image: 'mcuadros/ofelia:0.3'"+scheduler+"}\n"), beside)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The zone of all jobs is that of the container in which ofelia runs, UTC unless it sets another one.
func TestReadZoneOfCompose(t *testing.T) {
	const job = "container_name: w, labels: {ofelia.enabled: 'true', ofelia.job-exec.a.schedule: '0 30 2 * * *', ofelia.job-exec.a.command: x}"
	for scheduler, want := range map[string]struct{ zone, lost string }{
		"":                                {"UTC", ""},
		", environment: {TZ: Asia/Tokyo}": {"Asia/Tokyo", ""},
		", environment: [A=b, TZ=CET]":    {"CET", ""},
		", environment: {TZ: '${TZ}'}":    {"", "the zone of the times, TZ=${TZ} of cron: set timezone"},
		", env_file: e":                   {"UTC", "the zone of the times, if env_file of cron sets TZ: set timezone"},
		", volumes: ['/etc/localtime:/etc/localtime:ro']": {"", ""},
	} {
		found := compose(t, job, scheduler)
		if lost := strings.Join(found.Lost, "; "); len(found.Jobs) != 1 || found.Jobs[0].Zone != want.zone || lost != want.lost {
			t.Errorf("%s: zone %q, lost %q; want %+v", scheduler, found.Jobs[0].Zone, lost, want)
		}
	}
}

// In labels $$ is a $, lists are JSON, and what Compose takes from its own environment is told.
func TestReadValuesOfCompose(t *testing.T) {
	found := compose(t, "container_name: '$NAME', labels: ['ofelia.enabled=true', 'ofelia.job-exec.a.schedule=@every 1h', 'ofelia.job-exec.a.command=x $$(date) ${DIR:-/}',"+
		"'ofelia.job-exec.a.environment=[\"A=1\", \"B=$$2\"]', 'ofelia.job-exec.a.no-overlap=true']", "")
	want := []string{"docker", "exec", "--user", "root", "--env", "A=1", "--env", "B=$2", "$NAME", "x", "$(date)", "${DIR:-/}"}
	if len(found.Jobs) != 1 || !slices.Equal(found.Jobs[0].Args, want) || found.Jobs[0].Zone != "" {
		t.Errorf("%+v", found.Jobs)
	}
	lost := []string{"the value of ${DIR:-/}, which Compose takes from its own environment", "the value of $NAME, which Compose takes from its own environment"}
	if !slices.Equal(found.Jobs[0].Lost, lost) {
		t.Errorf("lost %q", found.Jobs[0].Lost)
	}
}

// Jobs that ofelia does not run are comments that say why, and what it has for all jobs is told.
func TestReadTellsWhatOfeliaIgnores(t *testing.T) {
	found := compose(t, "labels: {ofelia.job-exec.a.schedule: '@daily', ofelia.job-exec.a.command: x, ofelia.job-local.b.schedule: '@daily', ofelia.job-local.b.command: y}",
		", labels: {ofelia.smtp-host: mail, ofelia.job-foo.a.b: c, ofelia.job-run.r.schedule: '@daily', ofelia.job-run.r.image: i}")
	made, off := importer.TOML("c.yml", found)
	if off != 2 || len(found.Jobs) != 3 {
		t.Errorf("%d of %d are comments", off, len(found.Jobs))
	}
	for _, want := range []string{
		"# not imported: the label ofelia.job-foo.a.b of cron = c\n# not imported: the label ofelia.smtp-host of cron = mail\n",
		"# This job did not run: its container has no label ofelia.enabled=true.\n",
		"# This job did not run: ofelia has a job-local from the labels of its own container alone.\n",
		`command  = ["docker", "run", "--rm", "--user", "root", "i"]`,
	} {
		if !strings.Contains(made, want) {
			t.Errorf("no %s in\n%s", want, made)
		}
	}
}

// A file that is none of the kinds is an error that says what to do.
func TestReadRefusesFiles(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"x.yml", "a: 1\n", importer.ErrUnknown.Error()},
		{"x.yml", "a: [\n", importer.ErrUnknown.Error() + ": yaml: "},
		{"x.service", "[Service]\n", "name the .timer"},
		{"x.ini", "[Unit]\n", importer.ErrUnknown.Error()},
	} {
		if _, err := importer.Read(test.name, []byte(test.text), beside); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.text, err, test.want)
		}
	}
}

// Whatever is read, what is made of it has no mistakes, and as many jobs as are not comments.
func FuzzReadMakesJobFiles(f *testing.F) {
	for _, name := range examples {
		data, err := beside(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(name, data)
	}
	f.Add("x.timer", []byte("[Timer]\nOnUnitActiveSec=1\n[Timer]\nOnCalendar=*:0/0\n"))
	f.Add("x.json", []byte(`{"services":{"a":{"labels":{"ofelia.service":"true","ofelia.job-local.a\u0000'''\"\\.schedule":"@every 1h","ofelia.job-local.a\u0000'''\"\\.command":"a\nb'''\u001b"}}}}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		found, err := importer.Read(name, data, beside)
		if err != nil || len(data) > 4096 || len(found.Jobs) > 100 {
			return
		}
		text, off := importer.TOML(name, found)
		file, err := tomlfile.Parse(name, []byte(text))
		if err != nil || len(file.Jobs) != len(found.Jobs)-off {
			t.Errorf("%d jobs of %d, %d off: %v\n%s", len(file.Jobs), len(found.Jobs), off, err, text)
		}
	})
}
