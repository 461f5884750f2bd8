package poolview

import "time"

// Axis maps a span of time to the x axis of a drawing.
type Axis struct {
	From        time.Time
	Span        time.Duration
	Left, Width int
}

// X returns where t is.
func (a Axis) X(t time.Time) float64 {
	return float64(a.Left) + float64(a.Width)*float64(t.Sub(a.From))/float64(a.Span)
}

// charWidth is that of a character below an axis.
const charWidth = 7

// Ticks returns a tick for each time of the axis that is round on the clock, step apart. It has the text of format,
// unless that would not fit.
func (a Axis) Ticks(step time.Duration, format func(time.Time) string) (ticks []Tick) {
	for _, at := range times(a.From, a.From.Add(a.Span), step) {
		t := Tick{X: int(a.X(at))}
		if text := format(at); t.X+charWidth*len(text) <= a.Left+a.Width {
			t.Text = text
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// times returns the times between two that a clock on the wall shows at multiples of step, counted from midnight.
func times(from, to time.Time, step time.Duration) (all []time.Time) {
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
