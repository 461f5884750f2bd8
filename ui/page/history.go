package page

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// Bar is a run in a history.
type Bar struct {
	Took  time.Duration
	Class string // how the outcome is coloured: "good", "bad" or "other"
	Says  string // shown at the pointer, such as "run 7: failed after 3 s"
}

// MostBars is how many runs History shows at most.
const MostBars = 30

const (
	slotWidth = 20 // of a bar and the space beside it
	barFoot   = 72 // where bars stand; below are the marks of those that did not end well
	markFoot  = 84
)

// History draws the latest runs as bars whose height is the duration, the latest on the right. bars begins with the
// latest. A run that did not succeed has a mark as well as a colour. It returns "" without runs.
func History(bars []Bar) template.HTML {
	bars = bars[:min(len(bars), MostBars)]
	if len(bars) == 0 {
		return ""
	}
	longest, well := time.Duration(0), 0
	for _, b := range bars {
		longest = max(longest, b.Took)
		if b.Class == "good" {
			well++
		}
	}
	title := fmt.Sprintf("The last %d runs; the longest", len(bars))
	if len(bars) == 1 {
		title = "The last run"
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<figure class="history"><figcaption>%s took %s</figcaption>`, title, Short(longest))
	fmt.Fprintf(&out, `<svg viewBox="0 0 %d %d" preserveAspectRatio="none" role="img" aria-label="%d ended well, %d did not">`,
		slotWidth*MostBars, markFoot, well, len(bars)-well)
	for i, b := range bars {
		x := slotWidth * (MostBars - 1 - i)
		height := 3 + int(float64(barFoot-3)*float64(b.Took)/float64(max(longest, 1)))
		fmt.Fprintf(&out, `<g class="%s"><title>%s</title><rect x="%d" y="%d" width="16" height="%d"/>`,
			template.HTMLEscapeString(b.Class), template.HTMLEscapeString(b.Says), x+2, barFoot-height, height)
		if b.Class != "good" {
			fmt.Fprintf(&out, `<path d="M%d %dh12l-6 -8z"/>`, x+4, markFoot)
		}
		out.WriteString("</g>")
	}
	out.WriteString("</svg></figure>")
	return template.HTML(out.String())
}
