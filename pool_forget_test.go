package executor

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
)

// Who cancels a task may have seen it with a pool that has rejected it since, so
// that another has it: the late word to the first takes nothing out of its
// queue. From outside the moment between the two can't be hit.
func TestForgetOfATaskThatWentElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		end := make(chan struct{})
		busy := Func(func(context.Context) error { <-end; return nil })
		second := Fixed(1)
		first, err := New(Config{Core: 1, Queue: Bounded(1), Reject: RejectFunc(func(ctx context.Context, r Runnable, _ *Pool) error {
			return second.Execute(ctx, r)
		})})
		if err != nil {
			t.Fatal(err)
		}
		waits := NewFuture(func(context.Context) (int, error) { return 1, nil })
		moves := NewFuture(func(context.Context) (int, error) { return 2, nil })
		for _, err := range []error{first.Execute(ctx, busy), second.Execute(ctx, busy), first.Execute(ctx, waits), first.Execute(ctx, moves)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		first.forget(moves.core())
		if got := slices.Collect(first.Waiting()); !slices.Equal(got, []Runnable{waits}) {
			t.Errorf("in the first pool wait %v", got)
		}
		if got := slices.Collect(second.Waiting()); !slices.Equal(got, []Runnable{moves}) {
			t.Errorf("in the second pool wait %v", got)
		}
		close(end)
		first.Close()
		second.Close()
	})
}
