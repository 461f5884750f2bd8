package main

import (
	"syscall"
	"testing"
)

// A job has the umask that its file says, as the whole program starts it.
func TestRunUmaskOfJob(t *testing.T) {
	p := start(t, "# name: a\n# umask: 0123\n@reboot umask\n")
	p.until("0123", "job", "a", "stream", "stdout")
	p.until("run ended", "job", "a", "outcome", "ok")
	p.signal(syscall.SIGTERM)
	p.wait()
}

// The file of a secret is read at each run, and its value is shown nowhere.
func TestRunSecretOfJob(t *testing.T) {
	file := write(t, "secret", "hunter2hunter2\n")
	p := start(t, "# name: a\n# secret: PASSWORD="+file+"\n@reboot echo $PASSWORD; test $PASSWORD = hunter2hunter2\n")
	p.until("***", "job", "a", "stream", "stdout")
	p.until("run ended", "job", "a", "outcome", "ok")
	p.signal(syscall.SIGTERM)
	p.wait()
}
