package node

// A waker wakes the loop that receives from it. Calls of wake that come before the loop does are one.
type waker chan struct{}

func newWaker() waker { return make(waker, 1) }

func (w waker) wake() {
	select {
	case w <- struct{}{}:
	default:
	}
}
