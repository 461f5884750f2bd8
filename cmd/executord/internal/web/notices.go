package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/daemon"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui"
	"github.com/executor-go/executor/ui/page"
)

// mostNotices is how many notices a page has.
const mostNotices = 200

// noticesBody shows what was sent to whom, and what waits.
func (s *Server) noticesBody(ctx context.Context, q url.Values) (string, template.HTML, error) {
	all, err := s.Daemon.Notices(ctx, notify.MostNotices)
	body := struct {
		Channels []channelRow
		Notices  []notify.Notice
		Find     string
		Left     int
		Missing  error // why those of the store are not there
		Acts     bool
	}{Find: q.Get("find"), Acts: ui.MayAct(ctx)}
	for _, c := range s.Daemon.Channels() {
		row := channelRow{Counts: c}
		if body.Acts && !c.Gone {
			row.Test = "act?" + url.Values{"do": {testChannel}, "channel": {c.Channel}}.Encode()
		}
		body.Channels = append(body.Channels, row)
	}
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

// channelRow is a channel in a table.
type channelRow struct {
	notify.Counts
	Test string // link to its test, "" for none
}

// testChannel is the action that sends a test on a channel. It is documented.
const testChannel = "test-channel"

// testOf returns the action that sends a test on the channel of a form.
func (s *Server) testOf(v url.Values) (*ui.Action, error) {
	name := v.Get("channel")
	is := func(c notify.Counts) bool { return c.Channel == name && !c.Gone }
	switch {
	case name == "":
		return nil, ui.BadRequest("the name of the channel is missing")
	case v.Has("job"):
		return nil, ui.BadRequest(testChannel + " is for a channel, and takes no job")
	case !slices.ContainsFunc(s.Daemon.Channels(), is):
		return nil, ui.NotFound(fmt.Sprintf("there is no channel %.100q", name))
	}
	shown := job.Printable(name)
	return &ui.Action{
		Name: testChannel, Title: "Send a test on " + shown, Back: "notices", Attrs: []slog.Attr{slog.String("channel", shown)},
		Says: "One message that says that it is a test is sent now, once, whatever the limit and the quiet hours of the channel. A monitor gets neither a success nor a failure.",
		Do: func(ctx context.Context) (admin.Answer, error) {
			answer, err := s.Daemon.TestChannel(ctx, name)
			switch {
			case errors.Is(err, daemon.ErrNoChannel):
				return admin.Answer{Outcome: durable.NotFound, Text: "no channel " + shown, Says: "The channel is gone."}, nil
			case err != nil:
				return admin.Answer{Text: "not sent on " + shown}, fmt.Errorf("not sent: %w", err)
			}
			return admin.Answer{Outcome: durable.Applied, Text: "sent on " + shown, Says: job.Printable(answer)}, nil
		},
	}, nil
}

// concerns reports whether a notice has a text that is searched for: in the names of its channel and its jobs, or in
// its subject.
func concerns(n notify.Notice, text string) bool {
	return has(n.Channel, text) || has(n.Subject, text) ||
		slices.ContainsFunc(n.Events, func(a notify.Event) bool { return has(a.Job, text) })
}

// told returns an event in words, without its job.
func told(a notify.Event) string {
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
		return !slices.ContainsFunc(n.Events, func(a notify.Event) bool {
			return slices.ContainsFunc(names, func(name string) bool {
				return name == a.Job || strings.TrimPrefix(name, n.Namespace+"/") == a.Job
			})
		})
	})
}
