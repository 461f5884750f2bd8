package web

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/ui/page"
)

// mostNotices is how many notices a page has.
const mostNotices = 200

// noticesBody shows what was sent to whom, and what waits.
func (s *Server) noticesBody(ctx context.Context, q url.Values) (string, template.HTML, error) {
	all, err := s.Daemon.Notices(ctx, notify.MostNotices)
	body := struct {
		Channels []notify.Counts
		Notices  []notify.Notice
		Find     string
		Left     int
		Missing  error // why those of the store are not there
	}{Channels: s.Daemon.Channels(), Find: q.Get("find")}
	if err != nil {
		body.Missing = noAnswer(err)
	}
	found := slices.DeleteFunc(all, func(n notify.Notice) bool { return !concerns(n, body.Find) })
	body.Left = max(len(found)-mostNotices, 0)
	zone := page.ZoneFrom(ctx)
	for _, n := range found[:min(len(found), mostNotices)] {
		n.At, n.Until = zone.In(n.At), zone.In(n.Until)
		body.Notices = append(body.Notices, n)
	}
	main, err := rendered("notices", body)
	return "Alerts", main, err
}

// concerns reports whether a notice has a text that is searched for: in the names of its channel and its jobs, or in
// its subject.
func concerns(n notify.Notice, text string) bool {
	return has(n.Channel, text) || has(n.Subject, text) ||
		slices.ContainsFunc(n.Events, func(a notify.About) bool { return has(a.Job, text) })
}

// told returns an event in words, without its job.
func told(a notify.About) string {
	text := string(a.Kind)
	if a.Reason != "" {
		text += ": " + a.Reason
	}
	return text
}

// further returns how many events a notice is about besides the first.
func further(n notify.Notice) int { return max(len(n.Events)-1, 0) + n.More }

// toldClass returns how the outcome of a notice is coloured.
func toldClass(n notify.Notice) string {
	switch {
	case n.Outcome == notify.Sent:
		return "good"
	case n.Outcome == notify.GivenUp:
		return "bad"
	case n.Held != "" && n.Tries == 0:
		return "held"
	}
	return "busy"
}

func (s *Server) apiNotices(w http.ResponseWriter, r *http.Request) {
	n, err := number(r, "n", 20)
	if err != nil || n < 1 || n > notify.MostNotices {
		page.Refuse(w, r, http.StatusBadRequest, fmt.Sprintf("n must be 1 to %d", notify.MostNotices))
		return
	}
	all, err := s.Daemon.Notices(r.Context(), notify.MostNotices)
	if err != nil {
		page.Refuse(w, r, http.StatusServiceUnavailable, noAnswer(err).Error())
		return
	}
	all = OfJobs(all, r.URL.Query()["job"])
	writeJSON(w, all[:min(len(all), n)])
}

// OfJobs returns the notices that are about one of the jobs with these names, all if there are none.
func OfJobs(all []notify.Notice, names []string) []notify.Notice {
	if len(names) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(n notify.Notice) bool {
		return !slices.ContainsFunc(n.Events, func(a notify.About) bool {
			return slices.ContainsFunc(names, func(name string) bool {
				return name == a.Job || strings.TrimPrefix(name, n.Namespace+"/") == a.Job
			})
		})
	})
}
