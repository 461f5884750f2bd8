package page

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bar is a run in a history.
type Bar struct {
	Took  time.Duration
	Class string    // how the outcome is coloured: "good", "bad" or "other"
	Says  string    // shown at the pointer, such as "run 7: failed after 3 s"
	Path  string    // the address of the run's page, "" for none
	At    time.Time // when it ended, in the zone in which days are shown; zero if that is not shown
}

// MostBars is how many runs History and Strip show at most.
const MostBars = 30

// barLevels is how many heights a bar may have.
const barLevels = 20

// Strip draws the latest runs as small bars in a row of a table, the latest on the right. bars begins with the latest.
// The height is the duration, of which the longest is the highest, on a root scale. A run that did not succeed has a mark
// as well as a colour. It returns "" without runs. The links of the bars are not reached by the keyboard: a row has
// others that are.
func Strip(bars []Bar) template.HTML {
	if len(bars) == 0 {
		return ""
	}
	const size = 128 // of a bar, or less
	var out strings.Builder
	out.Grow(size * min(len(bars), MostBars))
	out.WriteString(`<span class="strip">`)
	writeBars(&out, bars, ` tabindex="-1"`, nil)
	out.WriteString("</span>")
	return template.HTML(out.String())
}

// History draws the latest runs as Strip does, but as a figure as wide as the page, in which a day has its date where it
// begins. It returns "" without runs.
func History(bars []Bar) template.HTML {
	bars = bars[:min(len(bars), MostBars)]
	if len(bars) == 0 {
		return ""
	}
	well := 0
	for _, b := range bars {
		if b.Class == "good" {
			well++
		}
	}
	title := fmt.Sprintf("The last %d runs", len(bars))
	if len(bars) == 1 {
		title = "The last run"
	}
	if most := longest(bars); most > 0 {
		if len(bars) > 1 {
			title += "; the longest"
		}
		title += " took " + Short(most)
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<figure class="history"><figcaption>%s</figcaption>`, title)
	fmt.Fprintf(&out, `<div class="strip" role="group" aria-label="%d ended well, %d did not">`, well, len(bars)-well)
	writeBars(&out, bars, "", days(bars))
	out.WriteString("</div></figure>")
	return template.HTML(out.String())
}

func longest(bars []Bar) (most time.Duration) {
	for _, b := range bars {
		most = max(most, b.Took)
	}
	return most
}

// writeBars writes the bars from the oldest on. extra is in each link, and labels has what is above a bar.
func writeBars(out *strings.Builder, bars []Bar, extra string, labels map[int]string) {
	bars = bars[:min(len(bars), MostBars)]
	most := math.Sqrt(float64(max(longest(bars), 1)))
	for i := len(bars) - 1; i >= 0; i-- { // by hand, as a list has thousands
		b, element := bars[i], "i"
		if b.Path != "" {
			element = "a"
			out.WriteString(`<a href="` + template.HTMLEscapeString(b.Path) + `"` + extra)
		} else {
			out.WriteString("<i")
		}
		level := 1 + int(math.Round((barLevels-1)*math.Sqrt(float64(max(b.Took, 0)))/most))
		out.WriteString(` class="b` + strconv.Itoa(level))
		if b.Class != "good" {
			out.WriteString(" " + template.HTMLEscapeString(b.Class))
		}
		out.WriteString(`" title="` + template.HTMLEscapeString(b.Says) + `">`)
		if day, ok := labels[i]; ok {
			side := ""
			if i < dayRoom {
				side = ` class="end"`
			}
			out.WriteString("<small" + side + ` aria-hidden="true">` + day + "</small>")
		}
		out.WriteString("</" + element + ">")
	}
}

// dayRoom is how many bars are below the date of a day. That of one of as many of the latest stands to the left.
const dayRoom = 6

// days returns the dates of the days that begin with a bar, as far as there is room for them.
func days(bars []Bar) map[int]string {
	labels := make(map[int]string)
	last, room := "", 0
	for i := len(bars) - 1; i >= 0; i-- {
		at := bars[i].At
		room--
		if day := at.Format("2 Jan"); !at.IsZero() && day != last && room <= 0 {
			labels[i], last, room = day, day, dayRoom
		}
	}
	return labels
}
