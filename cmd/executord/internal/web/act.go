package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// The things that can be done. They are documented.
const (
	RunNow = "run-now"
	Pause  = "pause"
	Resume = "resume"
	EndRun = "end-run"
)

// Action is what a reader asks for.
type Action struct {
	Do, Job string
	Run     int // for EndRun
	Reason  string
	Who     string // asks, as far as that is known
}

const (
	// longestReason is how many characters a reason may have. It is documented.
	longestReason = 200

	// keptActions is how many answers can be looked at.
	keptActions = 100

	// actPatience is how long an action may take.
	actPatience = 10 * time.Second
)

// link is a link to the page on which an action is confirmed.
type link struct {
	Name, Path string
	Danger     bool
}

// acts returns what can be done to a job as it is.
func acts(j *view.Job) (all []link) {
	add := func(do, name string) {
		all = append(all, link{name, "act?" + url.Values{"do": {do}, "job": {j.Job}}.Encode(), false})
	}
	switch {
	case slices.Contains([]string{"paused", "canceled", "dead"}, j.State):
		add(Resume, "Resume")
	case j.State == "ended", j.State == "removed":
	case strings.HasPrefix(j.State, "running"):
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

// Danger reports whether the action ends something.
func (a Action) Danger() bool { return a.Do == EndRun }

// Title returns the action as a heading.
func (a Action) Title() string {
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

// What describes what the action does.
func (a Action) What() string {
	switch a.Do {
	case RunNow:
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
	a = Action{Do: v.Get("do"), Job: v.Get("job"), Reason: strings.TrimSpace(v.Get("reason"))}
	if !slices.Contains([]string{RunNow, Pause, Resume, EndRun}, a.Do) {
		return a, fmt.Errorf("unknown action %.20q; known are %s, %s, %s, %s", a.Do, RunNow, Pause, Resume, EndRun)
	}
	if a.Job == "" {
		return a, fmt.Errorf("the name of the job is missing")
	}
	if a.Do == EndRun {
		if a.Run, err = strconv.Atoi(v.Get("run")); err != nil || a.Run < 1 {
			return a, fmt.Errorf("run must be the number of a run")
		}
	}
	return a, nil
}

// actBody is what the page of an action has.
type actBody struct {
	Action
	Wrong string
}

// serveAct asks for the reason of an action, and says what it does.
func (s *Server) serveAct(w http.ResponseWriter, r *http.Request) {
	a, err := actionOf(r.URL.Query())
	if err != nil {
		s.sorry(w, http.StatusBadRequest, err.Error())
		return
	}
	s.page(w, http.StatusOK, a.Title(), "act", actBody{Action: a})
}

// act does it. What became of it is on a page of its own, so that to load that again does nothing.
func (s *Server) act(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		plain(w, http.StatusBadRequest, "executord: "+err.Error())
		return
	}
	a, err := actionOf(r.PostForm)
	if err != nil {
		s.sorry(w, http.StatusBadRequest, err.Error())
		return
	}
	if n := utf8.RuneCountInString(a.Reason); n < 1 || n > longestReason {
		s.page(w, http.StatusBadRequest, a.Title(), "act", actBody{a, fmt.Sprintf("A reason is needed, of %d characters at most.", longestReason)})
		return
	}
	a.Who = s.who(r)
	ctx, cancel := context.WithTimeout(r.Context(), actPatience)
	defer cancel()
	answer, done, err := s.Act(ctx, a)
	if err != nil {
		answer, done = "the store does not answer: "+err.Error(), false
	}
	attrs := []any{"action", a.Do, "job", job.Printable(a.Job), "who", a.Who, "reason", job.Printable(a.Reason),
		"answer", answer, "done", done}
	if a.Run > 0 {
		attrs = append(attrs, "run", a.Run)
	}
	s.Log.Warn("action", attrs...)
	n := s.acted.add(result{a, answer, done})
	http.Redirect(w, r, "acted?n="+strconv.Itoa(n), http.StatusSeeOther)
}

// who returns who asks, as far as that is known.
func (s *Server) who(r *http.Request) string {
	from := r.RemoteAddr
	if s.Access == Socket || from == "" || from == "@" {
		from = "the socket"
	}
	if by := r.Header.Get("X-Forwarded-For"); by != "" {
		from += ", for " + job.Printable(by[:min(len(by), 100)])
	}
	return from
}

// result is what became of an action.
type result struct {
	Action
	Answer string
	Done   bool
}

// acted has the latest results.
type acted struct {
	mu   sync.Mutex
	all  map[int]result
	last int
}

// add adds a result, and returns its number.
func (a *acted) add(r result) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = make(map[int]result)
	}
	a.last++
	a.all[a.last] = r
	delete(a.all, a.last-keptActions)
	return a.last
}

func (a *acted) find(n int) (result, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, ok := a.all[n]
	return r, ok
}

// serveActed shows what became of an action.
func (s *Server) serveActed(w http.ResponseWriter, r *http.Request) {
	n, _ := number(r, "n", 0)
	found, ok := s.acted.find(n)
	if !ok {
		s.sorry(w, http.StatusNotFound, "This result has expired; see the log.")
		return
	}
	s.page(w, http.StatusOK, found.Title(), "acted", found)
}
