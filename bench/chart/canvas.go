package chart

import (
	"fmt"
	"html"
	"strings"
)

// A canvas collects the elements of a drawing.
type canvas struct {
	strings.Builder
	width, height float64
}

// style has the colors of both schemes. The colors of the series are distinct on either
// background, and their marks have different shapes for readers who do not see colors.
const style = `<style>
.ground{fill:#ffffff}.ink{fill:#24292f}.faint{fill:#59636e}.grid{stroke:#d8dee4}
.axis{stroke:#818b98}.bar{fill:#afb8c1}.own{fill:#2f81f7}
text{font-family:system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;font-size:12px}
.title{font-size:15px;font-weight:600}.small{font-size:11px}
@media (prefers-color-scheme:dark){.ground{fill:#0d1117}.ink{fill:#e6edf3}.faint{fill:#9198a1}
.grid{stroke:#2a313a}.axis{stroke:#656c76}.bar{fill:#57606a}}
</style>
`

// finish returns the drawing as an SVG file.
func (c *canvas) finish(title string) []byte {
	var out strings.Builder
	const root = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">` + "\n"
	fmt.Fprintf(&out, root,
		c.width, c.height, html.EscapeString(title))
	out.WriteString(style)
	fmt.Fprintf(&out, `<rect class="ground" width="%.0f" height="%.0f" rx="6"/>`+"\n", c.width, c.height)
	out.WriteString(c.String())
	out.WriteString("</svg>\n")
	return []byte(out.String())
}

// text writes s; anchor is start, middle or end.
func (c *canvas) text(x, y float64, class, anchor, s string) {
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>`+"\n",
		x, y, class, anchor, html.EscapeString(s))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(c, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`+"\n", x1, y1, x2, y2, class)
}

// bar draws a rectangle; tip is shown when the pointer rests on it.
func (c *canvas) bar(x, y, width, height float64, class, tip string) {
	fmt.Fprintf(c, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2" class="%s"><title>%s</title></rect>`+"\n",
		x, y, width, height, class, html.EscapeString(tip))
}

func (c *canvas) path(points []point, color string, width float64) {
	var d strings.Builder
	for i, p := range points {
		command := "L"
		if i == 0 {
			command = "M"
		}
		fmt.Fprintf(&d, "%s%.1f %.1f", command, p.x, p.y)
	}
	fmt.Fprintf(c, `<path d="%s" fill="none" stroke="%s" stroke-width="%.1f" stroke-linejoin="round"/>`+"\n",
		d.String(), color, width)
}

type point struct{ x, y float64 }

// Style is how a series is drawn, the same in all charts.
type Style struct {
	Color string
	Shape Shape
	Bold  bool
}

// Shape is the shape of a mark.
type Shape int

// The shapes.
const (
	Disc Shape = iota
	Square
	Diamond
	Triangle
	Cross
)

// mark draws a point of a series, with a tooltip.
func (c *canvas) mark(x, y float64, l Style, tip string) {
	r := 4.0
	if l.Bold {
		r = 5
	}
	var shape string
	switch l.Shape {
	case Disc:
		shape = fmt.Sprintf(`<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s">`, x, y, r, l.Color)
	case Square:
		shape = fmt.Sprintf(`<path d="M%.1f %.1fh%.1fv%.1fh-%.1fz" fill="%s">`,
			x-r+.5, y-r+.5, 2*r-1, 2*r-1, 2*r-1, l.Color)
	case Diamond:
		shape = fmt.Sprintf(`<path d="M%.1f %.1fl%.1f %.1fl-%.1f %.1fl-%.1f -%.1fz" fill="%s">`,
			x, y-r-1, r+1, r+1, r+1, r+1, r+1, r+1, l.Color)
	case Triangle:
		shape = fmt.Sprintf(`<path d="M%.1f %.1fl%.1f %.1fh-%.1fz" fill="%s">`, x, y-r-1, r+1, 2*r, 2*r+2, l.Color)
	case Cross:
		path := fmt.Sprintf("M%.1f %.1fl%.1f %.1fm0 -%.1fl-%.1f %.1f", x-r, y-r, 2*r, 2*r, 2*r, 2*r, 2*r)
		shape = fmt.Sprintf(`<path d="%s" stroke="%s" stroke-width="2.5" fill="none">`, path, l.Color)
	}
	tag := "circle"
	if l.Shape != Disc {
		tag = "path"
	}
	fmt.Fprintf(c, "%s<title>%s</title></%s>\n", shape, html.EscapeString(tip), tag)
}

// legend writes the names of the series from (x, y) within the width. It returns the y
// below them.
func (c *canvas) legend(series []Series, x, y float64) float64 {
	at := x
	for _, s := range series {
		w := 26 + 6.8*float64(len(s.Name))
		if at+w > c.width-10 {
			at, y = x, y+20
		}
		c.mark(at+6, y-4, s.Style, s.Name)
		c.text(at+16, y, "ink", "start", s.Name)
		at += w
	}
	return y + 14
}
