package durabletest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/durabletest"
)

// signUp is the code under test: it adds a job that sends a welcome in an hour.
func signUp(ctx context.Context, welcomes *durable.Kind[string, bool], user string) error {
	_, err := welcomes.AddAfter(ctx, time.Hour, user, durable.Key("welcome/"+user))
	return err
}

// testWelcome is the test. A program has it as func TestWelcome(t *testing.T).
func testWelcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := durabletest.New(t)
		var sent []string
		welcomes := durable.Handle(jobs, "welcome", func(_ context.Context, user string) (bool, error) {
			sent = append(sent, user)
			return true, nil
		})
		durabletest.Start(t, jobs)
		if err := signUp(t.Context(), welcomes, "gopher"); err != nil {
			t.Fatal(err)
		}
		if user, job := durabletest.AddedOne[string](t, jobs, "welcome"); user != "gopher" || time.Until(job.Due) != time.Hour {
			t.Errorf("added a welcome of %q, due %v", user, job.Due)
		}
		time.Sleep(time.Hour) // passes at once
		synctest.Wait()
		if err := durabletest.Idle(t.Context(), jobs); err != nil {
			t.Fatal(err)
		}
		if len(sent) != 1 || sent[0] != "gopher" {
			t.Errorf("sent %q, want one to the gopher", sent)
		}
	})
}

// A test of a program, in which an hour passes at once.
func Example() {
	var t *testing.T // of func TestWelcome(t *testing.T)
	testWelcome(t)
}
