// Package jdk runs the workloads on the JDK: the program Bench.java, by the java on the
// PATH.
package jdk

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/executor-go/executor/bench/workload"
)

//go:embed Bench.java
var source []byte

// Java is a JDK with the program.
type Java struct {
	path    string // of java
	dir     string // holds the program; removed by Close
	program []string
	Version string
}

var quoted = regexp.MustCompile(`"([^"]+)"`)

// Find looks for java on the PATH.
func Find() (*Java, error) {
	path, err := exec.LookPath("java")
	if err != nil {
		return nil, err
	}
	out, err := exec.Command(path, "-version").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("java -version: %w", err)
	}
	version := "unknown"
	if m := quoted.FindSubmatch(out); m != nil {
		version = string(m[1])
	}
	dir, err := os.MkdirTemp("", "bench-jdk")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "Bench.java")
	if err := os.WriteFile(file, source, 0o644); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	j := &Java{path, dir, []string{file}, version}
	// The compiled program starts a second sooner each time. If the compiler of the same
	// JDK is missing, java compiles the source at each start.
	if home, err := filepath.EvalSymlinks(path); err == nil {
		if exec.Command(filepath.Join(filepath.Dir(home), "javac"), "-d", dir, file).Run() == nil {
			j.program = []string{"-cp", dir, "Bench"}
		}
	}
	return j, nil
}

// Close removes the files of the program.
func (j *Java) Close() { os.RemoveAll(j.dir) }

// Command returns the command that repeats a workload for warmup, then runs it and prints
// its result.
func (j *Java) Command(kind workload.Kind, p workload.Params, warmup time.Duration) []string {
	busy := 0
	if p.Busy {
		busy = 1
	}
	command := append([]string{j.path, fmt.Sprintf("-Dwarmup=%d", warmup.Milliseconds())}, j.program...)
	command = append(command, string(kind))
	for _, arg := range []struct {
		name  string
		value int64
	}{
		{"tasks", int64(p.Tasks)}, {"workers", int64(p.Workers)}, {"submitters", int64(p.Submitters)},
		{"pending", int64(p.Pending)}, {"period", int64(p.Period)}, {"length", int64(p.Length)}, {"busy", int64(busy)},
	} {
		command = append(command, fmt.Sprintf("%s=%d", arg.name, arg.value))
	}
	return command
}
