package process

// Setup is what of a command's process is other than the caller's. The zero Setup is nothing.
type Setup struct {
	Umask  *int    `json:",omitempty"` // nil for the caller's own
	Nice   *int    `json:",omitempty"` // -20 to 19; nil for the caller's own
	IO     int     `json:",omitempty"` // as ioprio_set has it; 0 for the caller's own
	Limits []Limit `json:",omitempty"`
}

// Limit is a limit of a process, the soft and the hard one, by its name of prlimit.
type Limit struct {
	Name  string
	Value uint64 // Unlimited is none
}

// Unlimited is the value of a limit that is none.
const Unlimited = ^uint64(0)

func (s Setup) isZero() bool {
	return s.Umask == nil && s.Nice == nil && s.IO == 0 && len(s.Limits) == 0
}
