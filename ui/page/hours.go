package page

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// Hour is a span in a chart of how many runs ended when.
type Hour struct {
	From, Until time.Time // in the zone in which they are shown
	Good, Bad   int
	Path        string // the address of a page with these runs
}

const (
	hourWidth  = 20 // of a column and the space beside it
	hourHeight = 48 // of the columns; below are the marks of those with runs that did not end well
	hourFoot   = 56
)

// Hours draws how many runs ended in each of some hours, those that did not end well on top, in another colour and with a
// mark below. Each column is a link. axis names the hours below the chart.
func Hours(hours []Hour, caption string) template.HTML {
	most := 1
	for _, h := range hours {
		most = max(most, h.Good+h.Bad)
	}
	// at returns the height of so many runs: at least that of a line, if there are any.
	at := func(n int) int {
		if n == 0 {
			return 0
		}
		return max(2, hourHeight*n/most)
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<figure class="hours"><figcaption>%s</figcaption>`, template.HTMLEscapeString(caption))
	fmt.Fprintf(&out, `<svg viewBox="0 0 %d %d" preserveAspectRatio="none" role="group" aria-label="Runs in each hour">`,
		hourWidth*len(hours), hourFoot)
	for i, h := range hours {
		x := hourWidth * i
		says := h.From.Format("15:04") + " to " + h.Until.Format("15:04") + ": " + runs(h.Good+h.Bad)
		if h.Bad > 0 {
			says += fmt.Sprintf(", %d failed", h.Bad)
		}
		focus := ` tabindex="-1"`
		if h.Bad > 0 {
			focus = ""
		}
		fmt.Fprintf(&out, `<a href="%s" aria-label="%s"%s><title>%[2]s</title><rect class="hit" x="%[4]d" y="0" width="%d" height="%d"/>`,
			template.HTMLEscapeString(h.Path), says, focus, x, hourWidth, hourFoot)
		bad := at(h.Bad)
		good := min(at(h.Good), hourHeight-bad)
		if good > 0 {
			fmt.Fprintf(&out, `<rect x="%d" y="%d" width="%d" height="%d"/>`, x+2, hourHeight-good, hourWidth-4, good)
		}
		if bad > 0 {
			fmt.Fprintf(&out, `<g class="bad"><rect x="%d" y="%d" width="%d" height="%d"/><path d="M%d %dh8l-4 -6z"/></g>`,
				x+2, hourHeight-good-bad, hourWidth-4, bad, x+6, hourFoot)
		}
		out.WriteString("</a>")
	}
	out.WriteString(`</svg><div class="axis" aria-hidden="true">`)
	for i, h := range hours {
		if i%4 == 0 {
			fmt.Fprintf(&out, "<span>%s</span>", h.From.Format("15:04"))
		}
	}
	out.WriteString("</div></figure>")
	return template.HTML(out.String())
}

func runs(n int) string {
	if n == 1 {
		return "1 run"
	}
	return Count(n) + " runs"
}
