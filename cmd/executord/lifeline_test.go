package main

import (
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A lifeline is a pipe to which nothing is written. The tests hold its one end as long as
// they live, each executord that they start has the other, which ends with them,
// also if they could not clean up, as when -timeout ends them. Rejected: the signal of
// Linux for the death of a parent, which is that of a thread, and is not inherited by
// what a shell starts.
var newLifeline = sync.OnceValues(func() (ends [2]*os.File, err error) {
	ends[0], ends[1], err = os.Pipe()
	return ends, err // both are kept for good: the finalizer of a file closes it
})

// lifelineFile is the descriptor of the lifeline in executord: that of the first of
// exec.Cmd.ExtraFiles. Tests add others behind it.
const lifelineFile = 3

// lifeline returns what an executord has to inherit so that it ends with the tests.
func lifeline(t *testing.T) []*os.File {
	if runtime.GOOS == "windows" { // which has no such files
		return nil
	}
	ends, err := newLifeline()
	if err != nil {
		t.Fatal(err)
	}
	return ends[:1:1]
}

// endWithTests has executord end when the tests that have started it do.
func endWithTests() {
	if os.Getenv("EXECUTORD_JOB") != "" {
		return // it is a run of a job, and ends with that executord
	}
	if runtime.GOOS != "windows" {
		syscall.CloseOnExec(lifelineFile) // no job is to have it
		go awaitEndOfTests(os.NewFile(lifelineFile, "lifeline"))
	}
}

// awaitEndOfTests is not among the goroutines that are left: it has no other end.
func awaitEndOfTests(line *os.File) {
	line.Read(make([]byte, 1))
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		for { // the third kills its jobs
			self.Signal(syscall.SIGTERM)
			time.Sleep(100 * time.Millisecond)
		}
	}
}
