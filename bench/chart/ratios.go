package chart

import "fmt"

// Ratios draws the values of the series in rows, on a logarithmic scale with 1 for the
// reference.
func Ratios(title, below string, rows []string, series []Series) []byte {
	const rowHeight, names = 27.0, 195.0
	c := &canvas{width: 900}
	c.text(20, 28, "ink title", "start", title)
	top := c.legend(series, 20, 54) + 12
	bottom := top + rowHeight*float64(len(rows))
	var all []float64
	for _, s := range series {
		all = append(all, s.Values...)
	}
	scale := newScale(append(all, 1), names, c.width-24)
	for _, t := range scale.ticks() {
		class := "grid"
		if t == 1 {
			class = "axis"
		}
		c.line(scale.at(t), top, scale.at(t), bottom, class)
		c.text(scale.at(t), bottom+16, "faint small", "middle", label(t)+" ×")
	}
	for i, row := range rows {
		y := top + rowHeight*(float64(i)+.5)
		c.line(names, y, c.width-24, y, "grid")
		c.text(names-10, y+4, "ink", "end", row)
		for k := range series {
			s := series[len(series)-1-k]
			if v := s.Values[i]; v > 0 {
				c.mark(scale.at(v), y, s.Style, fmt.Sprintf("%s, %s: %s ×", row, s.Name, label(v)))
			}
		}
	}
	c.text(names, bottom+38, "faint small", "start", below)
	c.height = bottom + 54
	return c.finish(title)
}
