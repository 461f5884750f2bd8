package chart

import "fmt"

// BarPanel is a group of bars on a linear scale of its own.
type BarPanel struct {
	Title string
	Bars  []Bar // from top to bottom
}

// Bar is one value of a panel.
type Bar struct {
	Name  string
	Value float64
	Label string // the value as text
	Own   bool   // drawn in the accent color
}

// Bars draws panels of horizontal bars, three in a row. In each panel the
// longest bar has the full length.
func Bars(title, below string, panels []BarPanel) []byte {
	const (
		columns, barHeight      = 3, 18.0
		names, labels, distance = 120.0, 52.0, 20.0
	)
	c := &canvas{width: 900}
	c.text(20, 28, "ink title", "start", title)
	width := (c.width - 40 - (columns-1)*distance) / columns
	top, bottom := 44.0, 44.0
	for i, p := range panels {
		if i%columns == 0 {
			top = bottom
		}
		x := 20 + float64(i%columns)*(width+distance)
		y := top + 20
		c.text(x, y, "ink", "start", p.Title)
		longest := 0.0
		for _, b := range p.Bars {
			longest = max(longest, b.Value)
		}
		for _, b := range p.Bars {
			y += barHeight
			class, text := "bar", "faint small"
			if b.Own {
				class, text = "own", "ink small"
			}
			length := 2.0
			if longest > 0 {
				length = max(length, (width-names-labels)*b.Value/longest)
			}
			c.text(x+names-8, y, text, "end", b.Name)
			c.bar(x+names, y-10, length, 12, class, fmt.Sprintf("%s, %s: %s", p.Title, b.Name, b.Label))
			c.text(x+names+length+6, y, text, "start", b.Label)
		}
		bottom = max(bottom, y+18)
	}
	c.text(20, bottom+12, "faint small", "start", below)
	c.height = bottom + 28
	return c.finish(title)
}
