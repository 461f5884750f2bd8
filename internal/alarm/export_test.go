package alarm

// HasWaker reports whether a has a timer descriptor.
func (a *Alarm) HasWaker() bool { return a.waker != nil }

// Rings reports whether a has gone off since the last Wait, and receives it.
func (a *Alarm) Rings() bool {
	select {
	case <-a.timer.C:
	case <-a.bell:
	default:
		return false
	}
	return true
}
