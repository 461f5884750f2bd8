package alarm

// HasWaker reports whether a has a timer descriptor.
func (a *Alarm) HasWaker() bool { return a.waker != nil }
