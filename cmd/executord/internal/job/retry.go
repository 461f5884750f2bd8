package job

import "time"

// Retry is what follows a run that is not well: further attempts of the same run. The zero Retry is none.
type Retry struct {
	Times  int           `json:"retries,omitempty"`      // attempts after the first, at most
	Wait   time.Duration `json:"retry_wait,omitempty"`   // before the first of them; 0 means 10s, and less than 0 none
	Factor int           `json:"retry_factor,omitempty"` // by which the wait grows with each; 0 means 2
	Most   time.Duration `json:"retry_most,omitempty"`   // that it grows to; 0 means 1h
}

// The defaults of a Retry. They are documented.
const (
	retryWait   = 10 * time.Second
	retryFactor = 2
	retryMost   = time.Hour
)

// MaxRetries is the greatest Retry.Times.
const MaxRetries = 100

// Pause returns the wait before the attempt of that number; the first has 1.
func (r Retry) Pause(attempt int) time.Duration {
	wait, factor, most := r.Wait, r.Factor, r.Most
	switch {
	case wait < 0:
		return 0
	case wait == 0:
		wait = retryWait
	}
	if factor == 0 {
		factor = retryFactor
	}
	if most == 0 {
		most = max(retryMost, wait)
	}
	for range attempt - 2 {
		if factor == 1 || wait >= most {
			break
		}
		if wait > most/time.Duration(factor) {
			return most
		}
		wait *= time.Duration(factor)
	}
	return min(wait, most)
}
