package main

import (
	"fmt"
	"syscall"
	"testing"
)

// A daemon outlasts its database: it says that it is gone, goes on trying, and
// goes on with its jobs when it is back. The password is not in what it says.
func TestRunOutlivesRestartOfDatabase(t *testing.T) {
	t.Parallel()
	database(t) // skips, and says why
	own, err := startPostgres()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Stop)
	store := databaseURL(own)
	p := start(t, "# name: tick\n@every 200ms true\n# name: long\n@every 200ms echo up; exec sleep 1000\n", "--store", store, "--lease", "2s")
	p.until("up")
	p.until("run ended", "job", "tick", "run", 2)
	wantAnswer(t, store, 1, "executord: nobody: no such job in postgres://postgres@127.0.0.1:", "cancel", "nobody")
	own.Kill()
	p.until("durable: the store does not answer; retrying")
	begun := 0 // where the run began that the outage ends; a busy machine may have ended one before
	for i, l := range p.log {
		if l.is("run started", "job", "long") {
			begun = i
		}
	}
	p.after(begun, "run ended", "job", "long", "outcome", "lost") // another daemon could have it by now
	if err := own.Restart(); err != nil {
		t.Fatal(err)
	}
	p.until("durable: the store answers again")
	p.until("run started", "job", "long")
	p.until("run ended", "job", "tick")
	p.signal(syscall.SIGTERM)
	p.until("draining")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	hides(t, "the log", fmt.Sprint(p.log)+p.stderr.String())
}
