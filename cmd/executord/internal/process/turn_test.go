//go:build unix

package process

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// What a command waits for others to be started belongs neither to its timeout nor
// to the time it takes.
func TestRunTimeoutBeginsWithStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(time.Second)
		due := time.Now()
		s.turn <- struct{}{} // another one is being started
		time.AfterFunc(time.Hour, func() { <-s.turn })
		command := sh("exit 0")
		command.Timeout = time.Minute
		result, _ := runAll(t, s, command)
		if !result.OK() || result.Took > time.Minute || result.Began.Before(due.Add(time.Hour)) {
			t.Errorf("due %v: %+v", due, result)
		}
	})
}

// The end of a run waits for no start.
func TestRunEndWaitsForNoStart(t *testing.T) {
	s := New(time.Second)
	r := newRecord()
	done := make(chan Result)
	go func() { done <- s.Run(t.Context(), sh("echo ready; exec sleep 1000"), r.observer()) }()
	r.await(t, "stdout:ready")
	s.turn <- struct{}{} // another one is being started
	syscall.Kill(-r.pid, syscall.SIGKILL)
	if result := <-done; result.Signal != "SIGKILL" || result.Stopped {
		t.Errorf("%+v", result)
	}
}

// A command whose context ends before it is its turn is not started.
func TestRunEndedContextTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(time.Second)
		s.turn <- struct{}{} // another one is being started
		why := errors.New("reason")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, why)
		defer cancel()
		if result := s.Run(ctx, sh("exit 0"), Observer{}); result.Err != why || result.Cause != why || !result.Stopped {
			t.Errorf("%+v", result)
		}
	})
}
