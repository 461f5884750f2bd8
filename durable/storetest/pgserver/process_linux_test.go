package pgserver_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/executor-go/executor/durable/storetest/pgserver"
)

// ownerVariable makes the test binary the owner of a server: it starts one, says
// with what error, stops it if that is the variable's value, and waits for the
// end of its input. What it starts has a pipe of which it has let go itself.
const ownerVariable = "PGSERVER_TEST_OWNER"

func TestMain(m *testing.M) {
	order := os.Getenv(ownerVariable)
	if order == "" {
		os.Exit(m.Run())
	}
	s, err := pgserver.Start("fsync=off")
	os.NewFile(3, "pipe").Close()
	fmt.Printf("%q\n", fmt.Sprint(err))
	if order == "stop" && err == nil {
		s.Stop()
	}
	io.Copy(io.Discard, os.Stdin)
}

// A server leaves no process and no file, whether it is stopped or its owner is
// killed.
func TestNothingIsLeft(t *testing.T) {
	for _, order := range []string{"stop", "be killed"} {
		t.Run(order, func(t *testing.T) {
			dir := home(t)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			owner := exec.Command(os.Args[0])
			owner.Env = append(os.Environ(), ownerVariable+"="+order)
			owner.ExtraFiles = []*os.File{w}
			owner.Stderr = os.Stderr
			input, err := owner.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			output, err := owner.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := owner.Start(); err != nil {
				t.Fatal(err)
			}
			defer owner.Wait()
			defer input.Close()
			w.Close()
			var failed string
			if _, err := fmt.Fscanf(output, "%q\n", &failed); err != nil {
				t.Fatal(err)
			}
			if failed == pgserver.ErrMissing.Error() && os.Getenv("CI") == "" {
				t.Skip(failed)
			}
			if failed != "<nil>" {
				t.Fatal(failed)
			}
			if order == "be killed" {
				owner.Process.Kill()
			}
			// The pipe ends when the last process that the owner started does.
			r.SetReadDeadline(time.Now().Add(time.Minute))
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Errorf("processes are left: %v", err)
			}
			if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
				t.Errorf("there are %v, %v", left, err)
			}
		})
	}
}
