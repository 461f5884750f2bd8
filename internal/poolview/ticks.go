package poolview

import "time"

// Times returns the times between two that a clock on the wall shows at multiples of step, counted from midnight.
func Times(from, to time.Time, step time.Duration) (all []time.Time) {
	year, month, day := from.Date()
	hour, minute, second := from.Clock()
	past := time.Duration(hour*3600+minute*60+second) * time.Second
	for i := int(past / step); ; i++ {
		t := time.Date(year, month, day, 0, 0, i*int(step/time.Second), 0, from.Location())
		if t.After(to) {
			return all
		}
		if !t.Before(from) {
			all = append(all, t)
		}
	}
}
