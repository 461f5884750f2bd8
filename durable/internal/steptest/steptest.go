// Package steptest kills programs between the steps of their jobs, and judges what they have done by a ledger that is
// in no database.
package steptest

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// Env is the variable of a child's environment that names its ledger.
const Env = "EXECUTOR_TEST_STEPS"

const (
	kind  = "steps"
	steps = 5
)

// Child runs jobs on a store until the process is killed, if this process is a child. It reports false if it is none.
func Child(open func() (durable.Store, error)) bool {
	name := os.Getenv(Env)
	if name == "" {
		return false
	}
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	ledger, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	fail(err)
	store, err := open()
	fail(err)
	jobs, err := durable.New(durable.Config{Store: store, Lease: 500 * time.Millisecond, Poll: 50 * time.Millisecond})
	fail(err)
	durable.Handle(jobs, kind, func(ctx context.Context, _ string) (string, error) {
		j, _ := durable.Current(ctx)
		all := ""
		for i := range steps {
			v, err := durable.Step(ctx, fmt.Sprint("step ", i), func(context.Context) (string, error) {
				fmt.Fprintf(ledger, "begin %s %d\n", j.ID, i)
				time.Sleep(rand.N(10 * time.Millisecond))
				return fmt.Sprint(j.Epoch), nil
			})
			if err != nil {
				return "", err
			}
			fmt.Fprintf(ledger, "kept %s %d\n", j.ID, i)
			all += v + " "
		}
		return all, nil
	}, durable.WithBackoff(executor.Backoff(time.Millisecond, time.Millisecond)))
	fail(jobs.Run(context.Background()))
	return true
}

// Kill runs jobs of several steps in children that it kills at random, and checks that no step was begun whose result
// was kept. command returns a child: a command in which Child is called for the same store.
func Kill(t *testing.T, store durable.Store, command func() *exec.Cmd) {
	const kills, jobsEach = 6, 40
	ledger := filepath.Join(t.TempDir(), "ledger")
	if err := os.WriteFile(ledger, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *exec.Cmd {
		cmd := command()
		cmd.Env = append(os.Environ(), append(cmd.Env, Env+"="+ledger)...)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	end := func(cmd *exec.Cmd) {
		cmd.Process.Kill()
		cmd.Wait()
	}
	pool := executor.Scheduled(1)
	defer pool.Close()
	jobs, err := durable.New(durable.Config{Store: store, Executor: pool})
	if err != nil {
		t.Fatal(err)
	}
	client := durable.KindOf[string, string](jobs, kind)
	var ids []durable.ID
	for range kills {
		cmd := start()
		more, err := client.AddAll(t.Context(), 0, make([]string, jobsEach), durable.Attempts(1000))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, more...)
		kept := count(t, ledger)
		want := kept + rand.IntN(jobsEach*steps/2)
		for begun := time.Now(); count(t, ledger) <= want && time.Since(begun) < 30*time.Second; {
			time.Sleep(time.Millisecond)
		}
		end(cmd)
	}
	last := start()
	defer end(last)
	for _, id := range ids {
		result, err := client.Await(t.Context(), id)
		if err != nil || len(strings.Fields(result)) != steps {
			t.Errorf("job %s: %q, %v", id, result, err)
		}
	}
	kept, begun := map[string]bool{}, map[string]int{}
	for _, line := range lines(t, ledger) {
		what, step, _ := strings.Cut(line, " ")
		switch {
		case what == "kept":
			kept[step] = true
		case kept[step]:
			t.Errorf("step %s was begun when its result was kept", step)
		default:
			begun[step]++
		}
	}
	again := 0
	for _, n := range begun {
		if n > 1 {
			again++
		}
	}
	if len(begun) != len(ids)*steps {
		t.Errorf("%d steps were begun, want %d", len(begun), len(ids)*steps)
	}
	t.Logf("%d steps; %d were begun again, as their results were not kept", len(begun), again)
}

// count returns how many results of steps are known to be kept.
func count(t *testing.T, ledger string) (n int) {
	for _, line := range lines(t, ledger) {
		if strings.HasPrefix(line, "kept") {
			n++
		}
	}
	return n
}

// lines returns those of the ledger.
func lines(t *testing.T, ledger string) (all []string) {
	f, err := os.Open(ledger)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		all = append(all, s.Text())
	}
	return all
}
