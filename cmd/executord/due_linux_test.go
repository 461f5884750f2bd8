package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkDueAtOnce has 10, 100 and 1,000 jobs become due at a minute, and reports the time from then until the last
// of their commands has started, the CPU that the daemon itself took for each run, and the most memory it had. With
// supercronic in the PATH (go install github.com/aptible/supercronic@v0.2.48) that is measured beside, and with
// EXECUTORD_AGAINST=/path another executord. An iteration takes up to a minute: use -benchtime 1x -count 5.
func BenchmarkDueAtOnce(b *testing.B) {
	ours := filepath.Join(b.TempDir(), "executord")
	if out, err := exec.Command("go", "build", "-o", ours, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	subjects := [][]string{{"executord", ours, "run"}}
	if other := os.Getenv("EXECUTORD_AGAINST"); other != "" {
		subjects = append(subjects, []string{"against", other, "run"})
	}
	if rival, err := exec.LookPath("supercronic"); err == nil {
		subjects = append(subjects, []string{"supercronic", rival})
	}
	for _, jobs := range []int{10, 100, 1000} {
		for _, s := range subjects {
			b.Run(fmt.Sprintf("%s/%d", s[0], jobs), func(b *testing.B) { measureDue(b, jobs, s[1:]) })
		}
	}
}

func measureDue(b *testing.B, jobs int, command []string) {
	dir := b.TempDir()
	fifo, tab := filepath.Join(dir, "started"), filepath.Join(dir, "tab")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		b.Fatal(err)
	}
	started, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer started.Close()
	lines := strings.Repeat("* * * * * printf x >>"+fifo+"\n", jobs)
	if err := os.WriteFile(tab, []byte(lines), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(command[0], append(command[1:], tab)...)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Signal(syscall.SIGTERM)
	if until := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); until < 5*time.Second {
		time.Sleep(until + 5*time.Second) // it has to load the file before
	} else {
		time.Sleep(5 * time.Second)
	}
	var last time.Duration
	before, buf := ownTime(b, cmd.Process.Pid), make([]byte, jobs)
	for b.Loop() {
		for n := 0; n < jobs; {
			k, err := started.Read(buf)
			if err != nil {
				b.Fatal(err)
			}
			n += k
		}
		last += time.Since(time.Now().Truncate(time.Minute))
		time.Sleep(2 * time.Second) // the ends of the runs
	}
	runs := float64(b.N * jobs)
	b.ReportMetric(last.Seconds()*1000/float64(b.N), "ms-to-last-start")
	b.ReportMetric((ownTime(b, cmd.Process.Pid)-before).Seconds()*1000/runs, "cpu-ms/run")
	b.ReportMetric(peakMB(b, cmd.Process.Pid), "peak-MB")
	b.ReportMetric(0, "ns/op") // it is the clock's
}

// BenchmarkDueAtOnceBare reports what BenchmarkDueAtOnce does of the least that can start so many commands: a loop that
// makes two pipes for each, forks, and then reads all pipes and waits for all. There is no daemon with less.
func BenchmarkDueAtOnceBare(b *testing.B) {
	const jobs = 1000
	own := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	attr := &syscall.ProcAttr{Env: os.Environ(), Sys: &syscall.SysProcAttr{Setpgid: true}}
	args := []string{"/bin/sh", "-c", "printf x >>/dev/null"}
	var last time.Duration
	before, buf := own(), make([]byte, 512)
	for b.Loop() {
		var pids, outputs []int
		began := time.Now()
		for range jobs {
			var out, err [2]int
			const flags = syscall.O_CLOEXEC
			if e := errors.Join(syscall.Pipe2(out[:], flags), syscall.Pipe2(err[:], flags)); e != nil {
				b.Fatal(e)
			}
			attr.Files = []uintptr{0, uintptr(out[1]), uintptr(err[1])}
			pid, e := syscall.ForkExec(args[0], args, attr)
			if e != nil {
				b.Fatal(e)
			}
			syscall.Close(out[1])
			syscall.Close(err[1])
			pids, outputs = append(pids, pid), append(outputs, out[0], err[0])
		}
		last += time.Since(began)
		for _, fd := range outputs {
			syscall.Read(fd, buf)
			syscall.Close(fd)
		}
		for _, pid := range pids {
			syscall.Wait4(pid, nil, 0, nil)
		}
	}
	b.ReportMetric(last.Seconds()*1000/float64(b.N), "ms-to-last-start")
	b.ReportMetric((own()-before).Seconds()*1000/float64(b.N*jobs), "cpu-ms/run")
	b.ReportMetric(0, "ns/op")
}

// ownTime returns the CPU time of a process without that of its children.
func ownTime(b *testing.B, pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, system, tick = 11, 12, 10 * time.Millisecond
	u, _ := strconv.Atoi(fields[user])
	s, _ := strconv.Atoi(fields[system])
	return time.Duration(u+s) * tick
}

// peakMB returns the most memory that a process has had.
func peakMB(b *testing.B, pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kB, _ := strconv.Atoi(strings.Fields(rest)[0])
	return float64(kB) / 1024
}
