package howto

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/durabletest"
)

// A sign-up adds one welcome, in an hour, also if the user signs up twice.
func TestSignUpAddsWelcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := durabletest.New(t)
		welcomes := newWelcomes(jobs, nil)
		for range 2 {
			if err := signUp(t.Context(), welcomes, "gopher"); err != nil {
				t.Fatal(err)
			}
		}
		w, job := durabletest.AddedOne[Welcome](t, jobs, "welcome") // fails if there is none, or another
		if w.User != "gopher" || time.Until(job.Due) != time.Hour {
			t.Errorf("added %+v, due %v", w, job.Due)
		}
	})
}

// A mail that the server refuses twice is sent in the third attempt, within half an hour after the first.
func TestWelcomeIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := durabletest.New(t)
		var tries []time.Time
		welcomes := newWelcomes(jobs, func(context.Context, string, string) error {
			if tries = append(tries, time.Now()); len(tries) < 3 {
				return errors.New("connection refused")
			}
			return nil
		})
		durabletest.Start(t, jobs)
		if err := signUp(t.Context(), welcomes, "gopher"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour) // passes at once
		synctest.Wait()
		if err := durabletest.Idle(t.Context(), jobs); err != nil {
			t.Fatal(err)
		}
		job, err := jobs.Find(t.Context(), "welcome/gopher")
		if err != nil || job.State != durable.Succeeded || len(tries) != 3 || tries[2].Sub(tries[0]) > 30*time.Minute {
			t.Errorf("%v after tries at %v, %v", job.State, tries, err)
		}
	})
}
