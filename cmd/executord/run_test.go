//go:build unix

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A run logs one line at its start, one for each line it writes, and one at its
// end, with what there is to know.
func TestRunIsLogged(t *testing.T) {
	p := start(t, "# name: talk\n@reboot echo out; echo err >&2; printf last; exit 3\n")
	end := p.until("run ended", "job", "talk")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p.want(1, "job scheduled", "job", "talk", "schedule", "@reboot")
	p.want(1, "run started", "job", "talk", "run", 1)
	p.want(1, "out", "job", "talk", "run", 1, "stream", "stdout")
	p.want(1, "err", "job", "talk", "run", 1, "stream", "stderr")
	p.want(1, "last", "job", "talk", "run", 1, "stream", "stdout")
	p.want(1, "draining", "reason", "SIGTERM")
	p.want(1, "job summary", "job", "talk", "runs", 1, "failed", 1, "skipped", 0, "missed", 0)
	p.want(1, "executord ended", "runs", 1, "failed", 1, "exit", 0)
	if end["level"] != "ERROR" || end["outcome"] != "failed" || end["exit"] != 3.0 {
		t.Errorf("end %v", end)
	}
	for _, key := range []string{"took", "late"} {
		if seconds, ok := end[key].(float64); !ok || seconds <= 0 || seconds > patience.Seconds() {
			t.Errorf("%s is %v, want seconds", key, end[key])
		}
	}
}

// The first signal lets what runs end, and starts nothing more, although times pass
// meanwhile at which jobs would be due.
func TestRunDrains(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "GO="+fifo+"\n# name: slow\n@reboot echo up; read word <$GO; sleep 0.3; echo $word\n# name: often\n@every 100ms true\n")
	p.until("up")
	p.until("run ended", "job", "often")
	p.signal(syscall.SIGTERM)
	drained := instant(t, p.until("draining"), "time")
	if err := os.WriteFile(fifo, []byte("done\n"), 0); err != nil { // the job goes on only now
		t.Fatal(err)
	}
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p.want(1, "done", "job", "slow")
	p.want(1, "run ended", "job", "slow", "outcome", "ok")
	for _, l := range p.log {
		if l["due"] != nil && instant(t, l, "due").After(drained) {
			t.Errorf("due after the drain began at %s: %v", drained, l)
		}
	}
}

// stubborn ignores SIGTERM, has children and theirs that do so too, and one
// that has left its group; it says when all are there.
const stubborn = `trap '' TERM; (sleep 1000; sleep 1000) & setsid sh -c 'echo escaped; sleep 1000' & sh -c '(sleep 1000; sleep 1000) & echo up; wait'; echo never`

// The second signal ends what runs, whatever it does against that, children
// and grandchildren too.
func TestRunSecondSignalStops(t *testing.T) {
	t.Parallel()
	p := start(t, "# name: stubborn\n@reboot "+stubborn+"\n# name: obedient\n@reboot echo ready; exec sleep 1000\n", "--kill-after", "100ms")
	for _, msg := range []string{"up", "escaped", "ready"} {
		p.after(0, msg)
	}
	p.signal(syscall.SIGTERM)
	p.until("draining", "running", 2)
	p.signal(syscall.SIGINT)
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	p.want(1, "stopping", "reason", "second SIGINT") // one of the two may have ended by then
	p.want(1, "run ended", "job", "stubborn", "outcome", "stopped", "signal", "SIGKILL")
	p.want(1, "run ended", "job", "obedient", "outcome", "stopped", "signal", "SIGTERM")
	p.want(0, "never")
	p.want(1, "executord ended", "interrupted", 2, "failed", 2, "exit", exitInterrupted)
}

// The third signal does not wait for the grace.
func TestRunThirdSignalKills(t *testing.T) {
	p := start(t, "# name: stubborn\n@reboot "+stubborn+"\n", "--kill-after", "1h")
	p.until("up")
	p.signal(syscall.SIGTERM)
	p.until("draining", "running", 1)
	p.signal(syscall.SIGTERM)
	p.until("stopping", "running", 1)
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	p.want(1, "run ended", "job", "stubborn", "signal", "SIGKILL")
}

// A drain that takes too long ends what runs, as a second signal does.
func TestRunDrainTimeout(t *testing.T) {
	p := start(t, "@reboot echo up; exec sleep 1000\n", "--drain-timeout", "50ms")
	p.until("up")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	p.want(1, "stopping", "reason", "the drain took longer than --drain-timeout")
	p.want(1, "run ended", "outcome", "stopped", "signal", "SIGTERM")
}

// A job that is due while it runs is skipped, which is in the log at once, and the
// others are not held up.
func TestRunSkipsOverlap(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "GO="+fifo+"\n# name: slow\n@every 100ms echo run $EXECUTORD_RUN; read x <$GO\n# name: other\n@every 100ms true\n")
	p.until("run 1")
	p.until("runs skipped", "job", "slow", "running", 1)
	for range 3 {
		p.until("run ended", "job", "other", "outcome", "ok")
	}
	if err := os.WriteFile(fifo, []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	p.until("run ended", "job", "slow", "run", 1)
	p.until("run 2")
	p.signal(syscall.SIGTERM)
	p.until("draining")
	if err := os.WriteFile(fifo, []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for run := 1; run <= 2; run++ {
		if end, skipped := p.after(0, "run ended", "job", "slow", "run", run), p.counted("runs skipped", "job",
			"slow", "running", run); end["skipped"] != float64(skipped) || run == 1 && skipped < 2 {
			t.Errorf("%v, but the log has %d that were skipped", end, skipped)
		}
	}
	p.want(1, "job summary", "job", "slow", "runs", 2, "skipped", p.counted("runs skipped", "job", "slow"))
}

// A run that takes longer than its timeout is ended with all its processes, also
// those that do not want to, and the job goes on to its next.
func TestRunTimeout(t *testing.T) {
	t.Parallel()
	p := startTOML(t, `
[[job]]
name = "slow"
schedule = "@every 200ms"
timeout = "150ms"
command = "`+"trap '' TERM; echo stubborn; sleep 1000 & sleep 1000; true"+`"
`, "--kill-after", "50ms")
	for range 2 { // a timeout that is over before the trap is set does not count
		run := p.until("stubborn", "job", "slow")["run"]
		p.until("run ended", "job", "slow", "run", run, "outcome", "timeout", "signal", "SIGKILL")
	}
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d: a timeout is no reason for it", code)
	}
}

// Jitter delays a run, and not the time at which it is due: that stays on the
// grid of the schedule, in the log and for the command.
func TestRunJitterLeavesDue(t *testing.T) {
	t.Parallel()
	p := startTOML(t, "[[job]]\nname = \"late\"\nschedule = \"@every 100ms\"\njitter = \"90ms\"\ncommand = \"echo $EXECUTORD_DUE\"\n")
	for range 4 {
		p.until(p.until("run started")["due"].(string))
	}
	p.signal(syscall.SIGTERM)
	p.wait()
	starts := p.starts("late")
	for i, at := range starts[1:] {
		if d := at.Sub(starts[i]); d <= 0 || d%(100*time.Millisecond) != 0 {
			t.Errorf("run %d was due %v after the one before", i+2, d)
		}
	}
}

// Jitter delays runs by any time below it: a job is not started when it is due.
func TestRunJitterDelays(t *testing.T) {
	t.Parallel()
	p := startTOML(t, "[[job]]\nname = \"late\"\nschedule = \"@every 100ms\"\njitter = \"10000h\"\ncommand = \"true\"\n[[job]]\nname = \"soon\"\nschedule = \"@every 100ms\"\ncommand = \"true\"\n")
	p.until("run ended", "job", "soon", "run", 3)
	p.signal(syscall.SIGTERM)
	p.wait()
	p.want(0, "run started", "job", "late")
}

// What a command writes can't disturb a terminal that shows the log, and is cut into parts that
// are marked if it has no lines.
func TestRunOutputIsPrintable(t *testing.T) {
	t.Parallel()
	p := start(t, "# name: wild\n@reboot printf '\\033[31m\\377\\n'; head -c 20000 /dev/zero | tr '\\0' x\n")
	p.until(`\x1b[31m\xff`, "job", "wild")
	p.until("run ended", "job", "wild", "outcome", "ok")
	p.signal(syscall.SIGTERM)
	p.wait()
	p.want(1, strings.Repeat("x", 16<<10), "more", true)
	p.want(1, strings.Repeat("x", 20000-16<<10))
}

// Due times are in the zone of the job, in the log and to the command.
func TestRunDueIsInZoneOfJob(t *testing.T) {
	t.Parallel()
	p := start(t, "CRON_TZ=Asia/Tokyo\n# name: far\n@every 100ms echo $EXECUTORD_DUE\n")
	due, _ := p.until("run started")["due"].(string)
	p.until(due)
	p.signal(syscall.SIGTERM)
	p.wait()
	if !strings.HasSuffix(due, "+09:00") {
		t.Errorf("due %s", due)
	}
}

// A job that cannot start says why, each time, and the others go on.
func TestRunCannotStart(t *testing.T) {
	t.Parallel()
	p := startTOML(t, `
[[job]]
name = "dir"
schedule = "@every 100ms"
dir = "/no/such/place"
command = "true"

[[job]]
name = "program"
schedule = "@reboot"
command = ["no-such-program"]

[[job]]
name = "shell"
schedule = "@reboot"
shell = "/no/such/shell"
command = "true"

[[job]]
name = "fine"
schedule = "@every 100ms"
command = "echo fine"
`)
	for _, run := range []int{1, 2} {
		p.until("run not started", "job", "dir", "run", run, "reason", "the directory /no/such/place does not exist")
	}
	p.until("fine")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p.want(1, "run not started", "job", "shell", "reason", "program /no/such/shell does not exist")
	p.want(1, "job summary", "job", "program", "runs", 1, "failed", 1)
	p.want(0, "run started", "job", "dir")
}

// A command gets its input, its environment and what it may know of its run.
func TestRunSurroundings(t *testing.T) {
	p := start(t, "A=1\n# name: envy\n@reboot cat; echo $A $SHELL $EXECUTORD_JOB $EXECUTORD_RUN $EXECUTORD_DUE%first%sec\\%ond\n")
	due := p.until("run started")["due"].(string)
	p.until("first")
	p.until("sec%ond")
	p.until("1 /bin/sh envy 1 " + due)
	p.signal(syscall.SIGTERM)
	p.wait()
}

// Background processes do not outlive the run, and it says so.
func TestRunEndsLeftover(t *testing.T) {
	t.Parallel()
	p := start(t, "# name: bg\n@reboot sleep 1000 & echo up\n")
	end := p.until("run ended", "job", "bg", "outcome", "ok", "exit", 0)
	if note, _ := end["note"].(string); !strings.HasPrefix(note, "background processes") {
		t.Errorf("note %q", note)
	}
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// With a mistake in the file nothing is started.
func TestRunStartsNothingWithMistake(t *testing.T) {
	file := write(t, "tab", "@reboot echo started\n61 * * * * x\n@daily\n")
	stdout, stderr, code := output(t, "", "run", file)
	want := file + ":2: minute \"61\": must be 0 to 59\n    61 * * * * x\n" +
		file + ":3: the command is missing\n    @daily\n    hint: write the command after the schedule\n" +
		"executord: 2 mistakes in " + file + "\n"
	if stdout != "" || stderr != want || code != exitMistake {
		t.Errorf("exit code %d, stdout %q, stderr:\n%s\nwant:\n%s", code, stdout, stderr, want)
	}
}

// Each time of a job in the log is in the job's zone, the next one as well.
func TestRunLogsTimesInZoneOfJob(t *testing.T) {
	p := startTOML(t, "timezone = \"Asia/Tokyo\"\n[[job]]\nname = \"pulse\"\nschedule = \"@every 100ms\"\ncommand = \"true\"\n[[job]]\nname = \"daily\"\nschedule = \"@daily\"\ncommand = \"true\"\n")
	for _, l := range []struct{ job, msg, key string }{{"pulse", "job scheduled", "next"}, {"daily", "job scheduled", "next"}, {"pulse", "run started", "due"}} {
		if at := p.after(0, l.msg, "job", l.job)[l.key]; !strings.HasSuffix(at.(string), "+09:00") {
			t.Errorf("%s of %s: %s=%v", l.msg, l.job, l.key, at)
		}
	}
	p.signal(syscall.SIGTERM)
	p.wait()
}

// A run that writes more than it may is logged up to there. Its other lines are counted, and it goes on.
func TestRunMaxOutput(t *testing.T) {
	t.Parallel()
	p := start(t, "# name: loud\n@reboot seq 20000; echo done\n# name: quiet\n@reboot echo heard\n", "--max-output", "1")
	end := p.until("run ended", "job", "loud", "outcome", "ok")
	p.after(0, "heard")
	p.signal(syscall.SIGTERM)
	p.wait()
	logged := 0
	for _, l := range p.log {
		if l["job"] == "loud" && l["stream"] != nil {
			logged++
		}
	}
	p.want(1, "rest of the output not logged", "job", "loud")
	if unlogged, _ := end["unlogged"].(float64); logged+int(unlogged) != 20001 || logged < 5000 || logged > 15000 {
		t.Errorf("%d lines are logged, and %v are not, want 20001", logged, end["unlogged"])
	}
}

// A command has the three standard streams, and none of the files that executord was started with.
func TestRunInheritsNoFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it is for Linux")
	}
	t.Parallel()
	secret, err := os.Open("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	cmd := executord(t, "run", write(t, "tab", "# name: list\n@reboot for f in /proc/$$/fd/*; do readlink $f; done; echo end\n"))
	cmd.ExtraFiles = append(cmd.ExtraFiles, secret)
	p := startCommand(t, cmd)
	p.until("end")
	p.signal(syscall.SIGTERM)
	p.wait()
	p.want(0, "/etc/passwd")
	p.want(1, "/dev/null")
}
