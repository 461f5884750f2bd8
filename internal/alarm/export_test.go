package alarm

// Helped reports whether something helps the timer of a.
func (a *Alarm) Helped() bool { return a.waker != nil }
