package node

import (
	"time"
)

// renew notes that the heartbeat sent at that time was answered, and reports whether the node goes on that was fenced.
func (l *ledger) renew(sent time.Time) (again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.renewed = sent
	if !l.mu.fenced || l.leaseLeftLocked() <= 0 { // or the answer took too long to be of use
		return false
	}
	l.mu.fenced = false
	l.mu.due++ // what fence dropped is still this node's in the store
	return true
}

// setAlone notes whether another node is alive.
func (l *ledger) setAlone(alone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.alone = alone
}

// fence drops what has not begun, and has the node begin nothing until its lease is renewed. It reports false if the
// lease was renewed just now. c ends the contexts of the handlers, unless the node is alone. That is one step: nothing
// would end what began between the two.
func (l *ledger) fence() (fenced, alone bool, c cancels) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leaseLeftLocked() > 0 { // asked under the lock, or renew could come in between
		return false, false, nil
	}
	if l.fenceLocked(); !l.mu.alone {
		c = l.handlersLocked()
	}
	return true, l.mu.alone, c
}

func (l *ledger) fenceLocked() {
	l.mu.fenced = true
	l.giveBackAllLocked(all)
}

// lose drops all that the node held, which is another's or will be, and returns what ends the contexts of the handlers.
func (l *ledger) lose() cancels {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fenceLocked()
	c := l.handlersLocked()
	for _, r := range l.mu.held {
		l.dropLocked(r)
	}
	return c
}

// drain has the node begin and take nothing more.
func (l *ledger) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.draining = true
	l.giveBackAllLocked(all)
	l.checkEmptyLocked()
}

// rest has the node begin and take nothing, or no longer so, and reports whether it did before.
func (l *ledger) rest(rest bool) (was bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, l.mu.resting = l.mu.resting, rest
	if rest && !was {
		l.giveBackAllLocked(all)
	}
	return was
}
