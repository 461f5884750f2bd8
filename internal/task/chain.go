package task

import (
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync/atomic"
)

// This file calls the functions that OnDone was given. One that completes another task calls that
// one's functions, and so on: the calls are in one another. A chain that is too long for the stack goes
// on in another goroutine.
//
// How long the chain of a goroutine is can't be known there, since there is code of users in between.
// So the calls of all goroutines are counted.

// callAll calls c and those after it in turn.
func callAll(c *Callback) {
	part := &inProgress[rand.Uint32N(uint32(len(inProgress)))]
	if !part.begin() {
		go callLater(c)
		return
	}
	defer part.end()
	callEach(c)
}

// inProgress counts the calls of callAll that have not returned, in parts, so that processors
// do not contend for one counter.
var inProgress [64]calls

// calls is how many calls of callAll have chosen it, and have not returned.
type calls struct {
	n atomic.Int32
	_ [60]byte
}

// mostCalls is the most calls in one part. A call takes less than a kilobyte of stack.
const mostCalls = 32

// begin counts one more call, and reports false if there are as many as there may be.
func (c *calls) begin() bool {
	if c.n.Add(1) > mostCalls {
		c.n.Add(-1)
		return false
	}
	return true
}

func (c *calls) end() { c.n.Add(-1) }

// callLater is callEach in a goroutine of its own, where a panic would end the program.
func callLater(c *Callback) {
	defer func() {
		if v := recover(); v != nil {
			slog.Error("executor: a function given to OnDone panicked",
				slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
		}
	}()
	callEach(c)
}

// callEach calls c and those after it in turn. If a call does not return, the others are
// still made.
func callEach(c *Callback) {
	defer func() {
		if c != nil {
			callEach(c)
		}
	}()
	for c != nil {
		call := c.Value
		c = c.Next()
		call()
	}
}
