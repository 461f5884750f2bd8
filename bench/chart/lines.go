package chart

import "fmt"

// Series is one subject of a chart.
type Series struct {
	Name   string
	Style  Style
	Values []float64 // one for each tick of the x axis, or each row; 0 where there is none
}

// Panel is one diagram: values over a few growing numbers.
type Panel struct {
	Title  string
	X      string   // the label of the numbers
	Ticks  []string // the numbers
	Series []Series
}

const (
	panelsInRow = 3
	panelWidth  = 300.0
	panelHeight = 250.0
	rowHeight   = panelHeight + 74 // with the labels below it, and the title of the next
	margin      = 50.0
)

// Lines draws panels in rows of three, with one legend: the series of all of them.
func Lines(title string, panels []Panel) []byte {
	c := &canvas{width: 20 + panelWidth*float64(min(len(panels), panelsInRow))}
	c.text(20, 28, "ink title", "start", title)
	top := c.legend(merged(panels), 20, 52) + 24
	for i, p := range panels {
		c.panel(p, 20+panelWidth*float64(i%panelsInRow), top+rowHeight*float64(i/panelsInRow))
	}
	c.height = top + rowHeight*float64((len(panels)-1)/panelsInRow) + panelHeight + 50
	return c.finish(title)
}

// merged returns each series of the panels once.
func merged(panels []Panel) []Series {
	var all []Series
	seen := map[string]bool{}
	for _, p := range panels {
		for _, s := range p.Series {
			if !seen[s.Name] {
				seen[s.Name] = true
				all = append(all, s)
			}
		}
	}
	return all
}

func (c *canvas) panel(p Panel, x, y float64) {
	left, right, bottom := x+margin, x+panelWidth-14, y+panelHeight
	var all []float64
	for _, s := range p.Series {
		all = append(all, s.Values...)
	}
	scale := newScale(all, bottom, y)
	c.text(x+8, y-10, "ink", "start", p.Title)
	for _, t := range scale.ticks() {
		c.line(left, scale.at(t), right, scale.at(t), "grid")
		c.text(left-6, scale.at(t)+4, "faint small", "end", label(t))
	}
	c.line(left, bottom, right, bottom, "axis")
	const inset = 30.0
	at := func(i int) float64 {
		if len(p.Ticks) < 2 {
			return (left + right) / 2
		}
		return left + inset + (right-left-2*inset)*float64(i)/float64(len(p.Ticks)-1)
	}
	for i, t := range p.Ticks {
		c.text(at(i), bottom+17, "faint small", "middle", t)
	}
	c.text((left+right)/2, bottom+35, "faint small", "middle", p.X)
	for i := range p.Series { // the first series last, so that ours is on top
		s := p.Series[len(p.Series)-1-i]
		var points []point
		for i, v := range s.Values {
			if v > 0 {
				points = append(points, point{at(i), scale.at(v)})
			}
		}
		width := 1.5
		if s.Style.Bold {
			width = 3
		}
		c.path(points, s.Style.Color, width)
		for i, v := range s.Values {
			if v > 0 {
				c.mark(at(i), scale.at(v), s.Style, fmt.Sprintf("%s at %s: %s", s.Name, p.Ticks[i], label(v)))
			}
		}
	}
}
