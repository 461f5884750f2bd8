package alarm

// Helped reports whether something helps the timer of a.
func (a *Alarm) Helped() bool { return a.waker != nil }

// Rings reports whether a has gone off and nobody has heard it, who would now.
func (a *Alarm) Rings() bool {
	select {
	case <-a.timer.C:
	case <-a.bell:
	default:
		return false
	}
	return true
}
