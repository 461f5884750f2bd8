package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/ui"
)

// runNowAt returns the address of the page that asks for the parameters of a run. It leads to that on which the action
// is confirmed.
func runNowAt(name string) string { return "run-now?" + url.Values{"job": {name}}.Encode() }

// serveRunNow asks for the parameters of a run.
func (s *Server) serveRunNow(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("job")
	j, found, err := s.job(r.Context(), name)
	switch {
	case err != nil:
		s.sorry(w, r, http.StatusServiceUnavailable, noAnswer(err).Error())
	case !found:
		s.sorry(w, r, http.StatusNotFound, fmt.Sprintf("The job %.100q does not exist.", name))
	default:
		s.page(w, r, http.StatusOK, "Run "+job.Printable(name)+" now", "run-now", struct{ Job view.Job }{j})
	}
}

// job returns a job by its name; false if there is none.
func (s *Server) job(ctx context.Context, name string) (view.Job, bool, error) {
	jobs, err := s.Daemon.Jobs(ctx)
	i := slices.IndexFunc(jobs, func(j view.Job) bool { return j.Job == name })
	if err != nil || i < 0 {
		return view.Job{}, false, err
	}
	return jobs[i], true, nil
}

// checkSet returns what is wrong with the parameters of a run, before somebody gives a reason for it. The action itself
// has the last word.
func (s *Server) checkSet(o client.Order) error {
	if len(o.Set) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), actPatience)
	defer cancel()
	j, found, err := s.job(ctx, o.Job)
	switch {
	case err != nil:
		return noAnswer(err)
	case !found:
		return ui.NotFound(fmt.Sprintf("the job %.100q does not exist", o.Job))
	}
	if _, err = job.Parameters(j.Parameters).Given(o.Set); err != nil {
		return ui.BadRequest(err.Error())
	}
	return nil
}
