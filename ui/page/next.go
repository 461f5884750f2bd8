package page

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// MostNext is how many times Next shows at most.
const MostNext = 5

// Next shows the next times of a job, the first with a countdown, in their own zone. It returns "" if there are fewer
// than two.
func Next(times []time.Time, now time.Time) template.HTML {
	times = times[:min(len(times), MostNext)]
	if len(times) < 2 {
		return ""
	}
	zone := times[0].Location().String()
	if times[0].Location() == time.Local {
		zone = times[0].Format("MST")
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<section id="next"><h2>Next times, %s</h2><ol>`, template.HTMLEscapeString(zone))
	for i, t := range times {
		layout := "Mon 2006-01-02 15:04"
		if t.Second() != 0 || times[1].Sub(times[0]) < time.Minute {
			layout += ":05"
		}
		fmt.Fprintf(&out, `<li><time datetime="%s">%s</time>`, t.Format("2006-01-02T15:04:05Z07:00"), t.Format(layout))
		if i == 0 {
			fmt.Fprintf(&out, " <b>%s</b>", Since(t, now))
		}
		out.WriteString("</li>")
	}
	out.WriteString("</ol></section>")
	return template.HTML(out.String())
}
