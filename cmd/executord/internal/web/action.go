package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui"
)

// The things that can be done. They are documented.
const (
	RunNow = "run-now"
	Pause  = "pause"
	Resume = "resume"
	EndRun = "end-run"
)

// These are done to nodes, by module ui.
const (
	Drain   = "drain"
	Undrain = "undrain"
)

// Action is what a reader asks for.
type Action struct {
	Do, Job string
	Run     int      // for EndRun
	Set     []string // for RunNow: parameters of the run, each NAME=value
}

// actPatience is how long an action may take.
const actPatience = 10 * time.Second

// link is a link to the page on which an action is confirmed.
type link struct {
	Name, Path string
	Danger     bool
}

// actionsOf returns what can be done to a job as it is.
func actionsOf(j *view.Job) (all []link) {
	add := func(do, name string) {
		all = append(all, link{name, "act?" + url.Values{"do": {do}, "job": {j.Job}}.Encode(), false})
	}
	switch {
	case j.State.Held():
		add(Resume, "Resume")
	case j.State.State == catalog.StateEnded, j.State.State == catalog.StateRemoved, j.State.State == catalog.StateElsewhere:
	case j.State.State == catalog.StateRunning:
		add(Pause, "Pause")
	case len(j.Parameters) > 0:
		all = append(all, link{"Run now", runNowAt(j.Job), false})
		add(Pause, "Pause")
	default:
		add(RunNow, "Run now")
		add(Pause, "Pause")
	}
	if j.Running != nil {
		all = append(all, endOf(j.Running))
	}
	return all
}

// endOf is the link to end a run.
func endOf(r *view.Run) link {
	v := url.Values{"do": {EndRun}, "job": {r.Job}, "run": {strconv.FormatInt(r.Run, 10)}}
	return link{fmt.Sprint("End run ", r.Run), "act?" + v.Encode(), true}
}

// title returns the action as a heading.
func (a Action) title() string {
	name := job.Printable(a.Job)
	switch a.Do {
	case RunNow:
		return "Run " + name + " now"
	case Pause:
		return "Pause " + name
	case Resume:
		return "Resume " + name
	}
	return fmt.Sprintf("End run %d of %s", a.Run, name)
}

// says returns what the action does.
func (a Action) says() string {
	switch a.Do {
	case RunNow:
		if len(a.Set) > 0 {
			return "The job is due at once, with " + view.ShowParameters(a.Set) + ". Its schedule goes on afterwards."
		}
		return "The job is due at once. Its schedule goes on afterwards."
	case Pause:
		return "The job does not run until it is resumed. A run in progress may end."
	case Resume:
		return "The job goes on: at its next time, or at once if one has passed while it was paused."
	}
	return "The processes of the run get SIGTERM, and SIGKILL if they do not end. The schedule of the job goes on."
}

// actionOf returns the action that a request is about.
func actionOf(v url.Values) (a Action, err error) {
	a = Action{Do: v.Get("do"), Job: v.Get("job")}
	if !slices.Contains([]string{RunNow, Pause, Resume, EndRun}, a.Do) {
		return a, fmt.Errorf("unknown action %.20q; known are %s, %s, %s, %s, and for a node %s and %s",
			a.Do, RunNow, Pause, Resume, EndRun, Drain, Undrain)
	}
	if a.Job == "" {
		return a, errors.New("the name of the job is missing")
	}
	if a.Do == EndRun {
		if a.Run, err = strconv.Atoi(v.Get("run")); err != nil || a.Run < 1 {
			return a, errors.New("run must be the number of a run")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if name, ok := strings.CutPrefix(key, setPrefix); ok {
			for _, value := range v[key] {
				a.Set = append(a.Set, name+"="+value)
			}
		}
	}
	if len(a.Set) > 0 && a.Do != RunNow {
		return a, fmt.Errorf("parameters are for %s", RunNow)
	}
	return a, nil
}

// action is actionOf for module ui, which asks for a reason, and notes what was done. Nodes are drained by ui's own
// actions, of which no other passes: to change a job takes more here than there.
func (s *Server) action(v url.Values) (*ui.Action, error) {
	if do := v.Get("do"); do == Drain || do == Undrain {
		if !v.Has("node") || v.Has("pool") || v.Has("series") {
			return nil, ui.BadRequest(do + " is for a node: it needs the parameter node, and neither pool nor series")
		}
		return nil, nil
	}
	a, err := actionOf(v)
	if err != nil {
		return nil, ui.BadRequest(err.Error())
	}
	if err := s.checkSet(a); err != nil {
		return nil, err
	}
	attrs := []slog.Attr{slog.String("job", job.Printable(a.Job))}
	if a.Run > 0 {
		attrs = append(attrs, slog.Int("run", a.Run))
	}
	return &ui.Action{
		Name: a.Do, Title: a.title(), Says: a.says(), Danger: a.Do == EndRun, Attrs: attrs,
		Key: catalog.Key(s.Namespace, a.Job), Back: jobAt(a.Job),
		Do: func(ctx context.Context) (durable.Answer, string, error) {
			ctx, cancel := context.WithTimeout(ctx, actPatience)
			defer cancel()
			answer, text, err := s.Act(ctx, a)
			if err != nil {
				return answer, "", noAnswer(err)
			}
			return answer, text, nil
		},
	}, nil
}

// access returns what a request may do that has passed the guard, and had a token: to act if its role allows that, and
// nothing any more if its token is not that of the begin. Of the pages of module ui, only that of the nodes offers
// actions which action lets pass.
func (s *Server) access(r *http.Request) (ui.Access, string) {
	if !s.still(r) {
		return ui.None, ""
	}
	nodes := r.URL.Path == "/nodes" || r.URL.Path == "/events" && r.URL.Query().Get("view") == "nodes"
	if s.acts(r) && (nodes || r.URL.Path == "/act") {
		return ui.Act, s.who(r)
	}
	return ui.Look, ""
}
