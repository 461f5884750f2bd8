package executor

import (
	"context"
	"maps"

	"github.com/executor-go/executor/internal/spinlock"
)

// This file has futures leave a pool's queue when the context ends that they were
// submitted with. Without it they would be noticed only when a worker takes them.
//
// A million of them may have the same context. There is one context.AfterFunc for all
// that have the same Done channel, which cancels them one after the other. One for each
// future was rejected: it starts a million goroutines at once, which wait for each other
// (docs/design/decisions/0030-one-callback-for-each-context.md).

// watches are those of a pool, by Done channel. Contexts that share one, as those do
// that only add a value, end together; each future gets the error of its own.
type watches struct {
	mu   spinlock.Mutex // a leaf: contexts are not called under it
	over map[<-chan struct{}]*watch
	most int // that were in over at a time since it was made
}

// watch is in watches as long as there are futures under it: each until it is done, also
// while it runs, since periodic work waits again. Its AfterFunc will come, or whoever has
// put it there will see that the channel is closed. That function keeps the context which
// it was made with, that of the first future, as long as there is the watch.
type watch struct {
	done   <-chan struct{}
	unhook func() bool
	under  chain[watched] // in order of submission
}

type watched struct {
	of  *watches
	by  *watch // nil once it has left
	b   bound
	ctx context.Context
}

// spare is how many watches may leave their room to others that come later.
const spare = 1024

// add has the future of l canceled when its context ends, which has the Done channel.
func (ws *watches) add(l *link[watched], done <-chan struct{}) {
	if ws.join(l, done) {
		return
	}
	unhook := context.AfterFunc(l.value.ctx, func() { ws.end(done) }) // may panic, so nobody relies on it yet
	if !ws.begin(l, done, unhook) {
		unhook()
		return
	}
	select {
	case <-done:
		// The function may have come too early. Others who are under the watch by now
		// know nothing of this goroutine, which may hold what they want who are told.
		go ws.end(done)
	default:
	}
}

// join puts l under the watch over done, and reports whether there is one.
func (ws *watches) join(l *link[watched], done <-chan struct{}) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.over[done]
	if w != nil {
		w.addLocked(l)
	}
	return w != nil
}

// begin puts l under the watch over done, and reports whether that is a new one, which
// unhook ends.
func (ws *watches) begin(l *link[watched], done <-chan struct{}, unhook func() bool) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.over[done]
	fresh := w == nil
	if fresh {
		if ws.over == nil {
			ws.over = make(map[<-chan struct{}]*watch)
		}
		w = &watch{done: done, unhook: unhook}
		ws.over[done] = w
		ws.most = max(ws.most, len(ws.over))
	}
	w.addLocked(l)
	return fresh
}

func (w *watch) addLocked(l *link[watched]) {
	l.value.by = w
	w.under.add(l)
}

// leave takes l from under its watch, and ends that if nobody else is under it.
func leave(l *link[watched]) {
	ws := l.value.of
	ws.mu.Lock()
	unhook := ws.leaveLocked(l)
	ws.mu.Unlock()
	if unhook != nil {
		unhook()
	}
}

// leaveLocked gives what ends the watch, if l is the last one under it.
func (ws *watches) leaveLocked(l *link[watched]) (unhook func() bool) {
	w := l.value.by
	if w == nil {
		return nil
	}
	l.value.by = nil
	w.under.remove(l)
	if w.under.first != nil {
		return nil
	}
	delete(ws.over, w.done)
	ws.shrinkLocked()
	return w.unhook
}

// shrinkLocked returns the room of contexts that have gone, which a map keeps.
func (ws *watches) shrinkLocked() {
	if ws.most <= spare || len(ws.over) > ws.most/4 {
		return
	}
	over := make(map[<-chan struct{}]*watch, len(ws.over))
	maps.Copy(over, ws.over)
	ws.over, ws.most = over, len(over)
}

// end cancels what is under the watch over done, which is closed, also what comes
// meanwhile. Of those who are told of it some may not return, which keeps no future from
// being canceled.
func (ws *watches) end(done <-chan struct{}) {
	l := ws.next(done)
	defer func() {
		if l != nil {
			ws.end(done)
		}
	}()
	for ; l != nil; l = ws.next(done) {
		l.value.expire()
	}
}

// expire cancels the future, whose context has ended. If that does not say how, it goes
// on as in heed.
func (w *watched) expire() {
	told := false
	defer passOn(&told, func(err error) { expire(w.b, err) })
	err := ended(w.ctx)
	told = true
	expire(w.b, err)
}

// next takes the first future from under the watch over done, nil if there is none.
func (ws *watches) next(done <-chan struct{}) *link[watched] {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.over[done]
	if w == nil {
		return nil
	}
	l := w.under.first
	ws.leaveLocked(l)
	return l
}
