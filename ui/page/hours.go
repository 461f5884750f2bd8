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

// mostOf returns how many runs ended in the hour that has most, at least 1.
func mostOf(hours []Hour) int {
	most := 1
	for _, h := range hours {
		most = max(most, h.Good+h.Bad)
	}
	return most
}

// Hours draws how many runs ended in each of some hours, those that did not end well on top, in another colour and with a
// mark below. Each column is a link. The hours are named below the chart, and its title has their zone. It is empty if
// nothing ended.
func Hours(hours []Hour) template.HTML {
	if good, bad := ended(hours); good+bad == 0 {
		return ""
	}
	most := mostOf(hours)
	caption := fmt.Sprintf("Runs an hour, at most %s; times in %s", Count(most), hours[0].From.Format("MST"))
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

// HoursLine draws the same for a cell of a table, as a picture without links.
func HoursLine(hours []Hour) template.HTML {
	good, bad := ended(hours)
	if good+bad == 0 {
		return ""
	}
	const width, height = 4, 17 // of a column with the space beside it
	most := mostOf(hours)
	var out strings.Builder
	fmt.Fprintf(&out, `<svg class="line" viewBox="0 0 %d %d" role="img" aria-label="%s">`, width*len(hours), height, RunsText(good, bad))
	for i, h := range hours {
		all, failed := (height*(h.Good+h.Bad)+most-1)/most, (height*h.Bad+most-1)/most // at least a line
		if all > failed {
			fmt.Fprintf(&out, `<path d="M%d %dh3v%dh-3z"/>`, width*i, height-all, all-failed)
		}
		if failed > 0 {
			fmt.Fprintf(&out, `<path class="bad" d="M%d %dh3v%dh-3z"/>`, width*i, height-failed, failed)
		}
	}
	out.WriteString("</svg>")
	return template.HTML(out.String())
}

// ended returns how many runs ended in some hours, well and not.
func ended(hours []Hour) (good, bad int) {
	for _, h := range hours {
		good, bad = good+h.Good, bad+h.Bad
	}
	return good, bad
}

// RunsText returns how many runs ended in 24 hours and how many percent of them well, such as "312 runs in 24 h, 98.1 % ok",
// and "" if none did. It is 100 % only if all did, and 0 % only if none.
func RunsText[N int | int64](good, bad N) string {
	all := good + bad
	if all == 0 {
		return ""
	}
	tenths := N(float64(good) / float64(all) * 1000)
	if good > 0 && tenths == 0 {
		tenths = 1
	}
	share := fmt.Sprintf("%d.%d", tenths/10, tenths%10)
	return runs(all) + " in 24 h, " + strings.TrimSuffix(share, ".0") + " % ok"
}

func runs[N int | int64](n N) string {
	if n == 1 {
		return "1 run"
	}
	return Count(n) + " runs"
}
