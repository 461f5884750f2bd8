package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/ui/page"
)

// OutputLine is a line of /api/output: of a run, of what it has written, or how it ended.
type OutputLine struct {
	Run    *view.Run `json:"run,omitempty"` // the first line; and the last, if the run has ended
	N      int64     `json:"n,omitempty"`   // the number of the line; where one is missing, lines were left out
	At     time.Time `json:"at,omitzero"`   // to the second of one that a store has kept
	Stream string    `json:"stream,omitempty"`
	Text   *string   `json:"text,omitempty"` // as the log has it
	More   bool      `json:"more,omitempty"`
	Lines  int64     `json:"lines,omitempty"` // of the last line: how many the run has written
	Gone   bool      `json:"gone,omitempty"`  // what it wrote is not kept any more

	// Omitted is how many bytes a store has not kept between the lines before and those after this one, whose numbers
	// are not known.
	Omitted int64 `json:"omitted,omitempty"`
}

func (s *Server) apiJobs(w http.ResponseWriter, r *http.Request) {
	jobs, err := s.Daemon.Jobs(r.Context())
	if err != nil {
		page.Refuse(w, r, http.StatusServiceUnavailable, noAnswer(err).Error())
		return
	}
	writeJSON(w, jobs)
}

// MostRuns is how many runs are shown at once.
const MostRuns = 1000

func (s *Server) apiRuns(w http.ResponseWriter, r *http.Request) {
	n, err := number(r, "n", 20)
	if err != nil || n < 1 || n > MostRuns {
		page.Refuse(w, r, http.StatusBadRequest, fmt.Sprintf("n must be 1 to %d", MostRuns))
		return
	}
	runs, found, err := s.Daemon.Runs(r.Context(), r.URL.Query().Get("job"), n)
	switch {
	case err != nil:
		page.Refuse(w, r, http.StatusServiceUnavailable, noAnswer(err).Error())
	case !found:
		page.Refuse(w, r, http.StatusNotFound, "no such job")
	default:
		writeJSON(w, runs)
	}
}

// writeJSON writes a line for each thing.
func writeJSON[T any](w http.ResponseWriter, list []T) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	_ = job.WriteJSON(w, list) // who asks may have left
}

// number returns a number of a query.
func number(r *http.Request, name string, missing int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return missing, nil
	}
	return strconv.Atoi(text)
}

// StoredLines returns the lines of what a store has kept.
func StoredLines(o record.Stored) (lines []OutputLine) {
	line := func(l record.Line, n int64) {
		text := job.Printable(l.Text)
		lines = append(lines, OutputLine{N: n, At: l.At, Stream: stream(l), Text: &text})
	}
	for _, l := range o.Head {
		line(l, l.N)
	}
	if o.Omitted > 0 {
		lines = append(lines, OutputLine{Omitted: o.Omitted})
	}
	for _, l := range o.Tail {
		line(l, 0)
	}
	return lines
}

// apiStored answers with what the store has kept of a run that is not known here; false if it has nothing.
func (s *Server) apiStored(w http.ResponseWriter, r *http.Request) bool {
	n, err := number(r, "run", 0)
	if err != nil || n < 0 {
		return false
	}
	if n == 0 || s.known(r, n) {
		return false
	}
	o, found, err := s.Daemon.Stored(r.Context(), r.URL.Query().Get("job"), n)
	if err != nil {
		page.Refuse(w, r, http.StatusServiceUnavailable, noAnswer(err).Error())
		return true
	}
	if found {
		writeJSON(w, StoredLines(o))
	}
	return found
}

// known reports whether a run is known here.
func (s *Server) known(r *http.Request, n int) bool {
	_, _, ok := s.Daemon.Output(r.URL.Query().Get("job"), n)
	return ok
}

// find returns the run that a request is about, or answers that there is none.
func (s *Server) find(w http.ResponseWriter, r *http.Request) (record.Facts, *record.Output, bool) {
	n, err := number(r, "run", 0)
	if err != nil || n < 0 {
		page.Refuse(w, r, http.StatusBadRequest, "run must be the number of a run")
		return record.Facts{}, nil, false
	}
	run, output, ok := s.Daemon.Output(r.URL.Query().Get("job"), n)
	if !ok {
		page.Refuse(w, r, http.StatusNotFound, s.noRun(r))
	}
	return run, output, ok
}

// noRun says why there is no run that a request is about.
func (s *Server) noRun(r *http.Request) string {
	name := r.URL.Query().Get("job")
	jobs, err := s.Daemon.Jobs(r.Context())
	if err == nil {
		i := slices.IndexFunc(jobs, func(j view.Job) bool { return j.Job == name })
		switch {
		case i < 0:
			return fmt.Sprintf("this daemon has no job %.100q", name)
		case jobs[i].Last == nil && jobs[i].Running == nil:
			return fmt.Sprintf("%q has not run yet", name)
		}
	}
	return "this daemon has no such run, or no longer keeps what it wrote"
}

func (s *Server) apiOutput(w http.ResponseWriter, r *http.Request) {
	if s.apiStored(w, r) {
		return
	}
	run, output, ok := s.find(w, r)
	if !ok {
		return
	}
	if !hold(w, r, live) {
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := job.NewEncoder(w)
	send(w, func() error { return out.Encode(OutputLine{Run: &run.Run, Gone: run.Dropped}) })
	err := s.follow(r, output, r.URL.Query().Get("follow") != "", func(lines []record.Line) error {
		return send(w, func() error {
			for _, l := range lines {
				text := job.Printable(l.Text)
				err := out.Encode(OutputLine{N: l.N, At: l.At, Stream: stream(l), Text: &text, More: l.More})
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return
	}
	if end, _, ok := s.Daemon.Output(run.Job, int(run.Run.Run)); ok {
		send(w, func() error { return out.Encode(OutputLine{Run: &end.Run, Lines: end.Lines, Gone: end.Dropped}) })
	}
}

func stream(l record.Line) string {
	if l.Stderr {
		return "stderr"
	}
	return "stdout"
}

// send writes a part of an answer, for which the reader has its patience.
func send(w http.ResponseWriter, write func() error) error {
	control := http.NewResponseController(w)
	control.SetWriteDeadline(time.Now().Add(patience))
	if err := write(); err != nil {
		return err
	}
	return control.Flush()
}

// pace is the least time between two looks at an output that is followed: a run that writes much is read in parts.
const pace = 100 * time.Millisecond

// until waits for done, and returns an error if the reader leaves before, or may not read any more, for which it looks
// whenever look says so.
func until[T any](s *Server, r *http.Request, done <-chan T, look <-chan time.Time) error {
	for {
		select {
		case <-done:
			return nil
		case <-look:
			if !s.still(r) {
				return errOver
			}
		case <-r.Context().Done():
			return r.Context().Err()
		}
	}
}

// again is how often it is looked at whether a reader who follows an output still may.
const again = time.Second

// errOver is the error of an output whose reader may not read it any more.
var errOver = errors.New("the token or the session has ended")

// follow calls emit with the lines of an output, and if asked to with those that come until the run ends, the reader
// leaves, or may not read any more.
func (s *Server) follow(r *http.Request, o *record.Output, toEnd bool, emit func([]record.Line) error) error {
	timer, ticker := time.NewTimer(pace), time.NewTicker(again)
	defer timer.Stop()
	defer ticker.Stop()
	for last := int64(0); ; {
		lines, more := o.After(last)
		if len(lines) > 0 {
			last = lines[len(lines)-1].N
			if err := emit(lines); err != nil {
				return err
			}
		}
		if more == nil || !toEnd {
			return nil
		}
		if err := until(s, r, more, ticker.C); err != nil {
			return err
		}
		timer.Reset(pace)
		if err := until(s, r, timer.C, ticker.C); err != nil {
			return err
		}
	}
}
