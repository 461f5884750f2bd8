package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui"
)

// actPatience is how long an action may take.
const actPatience = 10 * time.Second

// link is a link to the page on which an action is confirmed.
type link struct {
	Name, Path string
	Danger     bool
}

// actionsOf returns what can be done to a job as it is.
func actionsOf(j *view.Job) (all []link) {
	add := func(do admin.Verb, name string) {
		all = append(all, link{name, "act?" + url.Values{"do": {string(do)}, "job": {j.Job}}.Encode(), false})
	}
	switch {
	case j.State.Held():
		add(admin.Resume, "Resume")
	case j.State.State == catalog.StateEnded, j.State.State == catalog.StateRemoved, j.State.State == catalog.StateElsewhere:
	case j.State.State == catalog.StateRunning:
		add(admin.Pause, "Pause")
	case len(j.Parameters) > 0:
		all = append(all, link{"Run now", runNowAt(j.Job), false})
		add(admin.Pause, "Pause")
	default:
		add(admin.RunNow, "Run now")
		add(admin.Pause, "Pause")
	}
	if j.Running != nil {
		all = append(all, endOf(j.Running))
	}
	return all
}

// endOf is the link to end a run.
func endOf(r *view.Run) link {
	v := url.Values{"do": {string(client.EndRun)}, "job": {r.Job}, "run": {strconv.FormatInt(r.Run, 10)}}
	return link{fmt.Sprint("End run ", r.Run), "act?" + v.Encode(), true}
}

// title returns an order as a heading.
func title(o client.Order) string {
	name := job.Printable(o.Job)
	switch o.Do {
	case admin.RunNow:
		return "Run " + name + " now"
	case admin.Pause:
		return "Pause " + name
	case admin.Resume:
		return "Resume " + name
	case client.ExcludeNext:
		return "Exclude the next due time of " + name
	case admin.Cancel:
		return "Cancel " + name
	}
	if o.Run == 0 {
		return "End the run of " + name
	}
	return fmt.Sprintf("End run %d of %s", o.Run, name)
}

// says returns what an order does.
func says(o client.Order) string {
	switch o.Do {
	case admin.RunNow:
		if len(o.Set) > 0 {
			return "The job is due at once, with " + view.ShowParameters(o.Set) + ". Its schedule goes on afterwards."
		}
		return "The job is due at once. Its schedule goes on afterwards."
	case admin.Pause:
		if o.Until != "" {
			return "The job does not run until then: " + o.Until + ", if that is a duration from now. A run in progress may end."
		}
		return "The job does not run until it is resumed. A run in progress may end."
	case admin.Resume:
		return "The job goes on: at its next time, or at once if one has passed while it was paused."
	case client.ExcludeNext:
		return "The job does not run at its next due time. Its schedule goes on afterwards."
	case admin.Cancel:
		return "The job does not run until it is resumed. The processes of a run in progress get SIGTERM, and SIGKILL if they do not end."
	}
	return "The processes of the run get SIGTERM, and SIGKILL if they do not end. The schedule of the job goes on."
}

// action is the order of a form for module ui, which asks for a reason, and notes what was done. Nodes are drained by ui's own
// actions, of which no other passes: to change a job takes more here than there.
func (s *Server) action(v url.Values) (*ui.Action, error) {
	if do := v.Get("do"); do == string(admin.Drain) || do == string(admin.Undrain) {
		if !v.Has("node") || v.Has("pool") || v.Has("series") {
			return nil, ui.BadRequest(do + " is for a node: it needs the parameter node, and neither pool nor series")
		}
		return nil, nil
	}
	if v.Get("do") == testChannel {
		return s.testOf(v)
	}
	o, err := client.ParseOrder(v)
	if err != nil {
		return nil, ui.BadRequest(err.Error())
	}
	if err := s.checkSet(o); err != nil {
		return nil, err
	}
	attrs := []slog.Attr{slog.String("job", job.Printable(o.Job))}
	if o.Run > 0 {
		attrs = append(attrs, slog.Int64("run", o.Run))
	}
	return &ui.Action{
		Name: string(o.Do), Title: title(o), Says: says(o), Danger: o.Do == client.EndRun || o.Do == admin.Cancel, Attrs: attrs,
		Key: catalog.Key(s.Namespace, o.Job), Back: jobAt(o.Job),
		Do: func(ctx context.Context) (admin.Answer, error) {
			ctx, cancel := context.WithTimeout(ctx, actPatience)
			defer cancel()
			answer, err := s.Act(ctx, o)
			if err != nil {
				return admin.Answer{}, noAnswer(err)
			}
			return answer, nil
		},
	}, nil
}

// acting are the pages that offer actions. Of those of module ui it is only that of the nodes: action lets no other pass.
var acting = []string{"", "job", "notices", "nodes", "act"}

// access returns what a request may do that has passed the guard, and had a token: to act if its role allows that, and
// nothing any more if its token is not that of the begin.
func (s *Server) access(r *http.Request) (ui.Access, string) {
	if !s.still(r) {
		return ui.None, ""
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "events" {
		name = r.URL.Query().Get("view")
	}
	if s.acts(r) && slices.Contains(acting, name) {
		return ui.Act, s.who(r)
	}
	return ui.Look, ""
}
