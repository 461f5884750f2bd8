package executor

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"unsafe"
)

// From outside no test can act between the moment in which a goroutine finds the gate
// open and that in which it has passed.

// A submitter that found the gate open looks again once it has the lock: by then
// a worker may be idle, which is to get the task.
func TestGateIsCheckedUnderItsLock(t *testing.T) {
	for range 1000 {
		g := gate{stream: new(stream)}
		g.open.Store(true)
		g.mu.Lock()
		admitted := make(chan bool)
		go func() { admitted <- g.push(entry{Func(func(context.Context) error { return nil })}, nil, nil) }()
		runtime.Gosched() // mostly, it waits for the lock by now
		g.open.Store(false)
		g.mu.Unlock()
		if <-admitted {
			t.Fatal("a task was queued though the gate was shut")
		}
	}
}

// A goroutine that cancels a task may have found it in a pool that has rejected it
// since, and another pool has it. The late call for the first pool removes nothing.
func TestPoolForgetTaskOfAnotherPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		end := make(chan struct{})
		busy := Func(func(context.Context) error { <-end; return nil })
		second := Fixed(1)
		pass := RejectFunc(func(ctx context.Context, r Runnable, _ *Pool) error { return second.Execute(ctx, r) })
		first, err := New(Config{Core: 1, Queue: Bounded(1), Reject: pass})
		if err != nil {
			t.Fatal(err)
		}
		waits := NewFuture(func(context.Context) (int, error) { return 1, nil })
		moves := NewFuture(func(context.Context) (int, error) { return 2, nil })
		if err := errors.Join(first.Execute(ctx, busy), second.Execute(ctx, busy),
			first.Execute(ctx, waits), first.Execute(ctx, moves)); err != nil {
			t.Fatal(err)
		}
		first.forget(&moves.core)
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

// The future of a task without a result, of which a million may wait, is as large
// as a size that the allocator has, of which a line of the cache holds a whole number.
func TestSizeOfFuture(t *testing.T) {
	want := uintptr(32) // with 32 bits the alignment of the due time takes eight
	if n := unsafe.Sizeof(ScheduledFuture[struct{}]{}); n != want {
		t.Errorf("%d bytes, want %d", n, want)
	}
}

// What everybody reads of a pool shares no line of the cache with what its submitters
// write.
func TestLinesOfPool(t *testing.T) {
	if strconv.IntSize != 64 {
		t.Skip("laid out for 64 bits")
	}
	const line = unsafe.Sizeof(cacheLine{})
	if at := unsafe.Offsetof(Pool{}.mu); at%line != 0 {
		t.Errorf("mu is %d bytes after the beginning of a line", at%line)
	}
}

// However high its limit, a queue takes no more tasks than there are places for.
func TestLimitOfPlaces(t *testing.T) {
	b, err := Bounded(math.MaxInt).backlog()
	if err != nil {
		t.Fatal(err)
	}
	if limit := b.(*fifo).limit; limit > maxQueued {
		t.Errorf("room for %d, places for %d", limit, maxQueued)
	}
}
