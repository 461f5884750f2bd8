// Scheduler runs jobs by crontab times, and has an interface over HTTP to list and change them:
//
//	go run ./examples/scheduler -listen 127.0.0.1:8081
//	curl http://127.0.0.1:8081/jobs
//	curl -X POST http://127.0.0.1:8081/jobs/backup/run
//	curl -X POST http://127.0.0.1:8081/jobs/backup/pause
//	curl -X PUT -d '@every 1h' http://127.0.0.1:8081/jobs/backup/rhythm
//
// For jobs that survive a restart see package durable, and executord for jobs that are commands.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8081", "address of the interface")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *listen, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scheduler:", err)
		os.Exit(1)
	}
}

// run serves at an address, which it writes to out, until ctx ends.
func run(ctx context.Context, address string, out io.Writer) error {
	s := &scheduler{executor.Scheduled(4)}
	defer s.pool.Close()
	say := func(what string) func(context.Context) error {
		return func(context.Context) error { _, err := fmt.Fprintln(out, what); return err }
	}
	if err := errors.Join(
		s.add(ctx, "backup", "30 2 * * *", say("backing up")),
		s.add(ctx, "report", "0 9 * * mon-fri", say("reporting")),
		s.add(ctx, "refresh", "@every 10s", say("refreshing")),
	); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "http://%s/jobs\n", listener.Addr())
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// scheduler has the jobs, which are the series of its pool.
type scheduler struct{ pool *executor.ScheduledPool }

// add adds a job. A panic counts as a failure of a run, and the job goes on.
func (s *scheduler) add(ctx context.Context, name, spec string, job func(context.Context) error) error {
	times, err := cron.Parse(spec)
	if err != nil {
		return fmt.Errorf("job %s: %w", name, err)
	}
	_, err = s.pool.On(ctx, times, job, executor.Named(name), executor.ContinueAfterPanic())
	return err
}

// find returns the job with a name, nil if there is none.
func (s *scheduler) find(name string) *executor.Series {
	for _, info := range s.pool.Schedules() {
		if info.Name == name {
			return info.Series
		}
	}
	return nil
}

// job is an entry of the list.
type job struct {
	Name, Rhythm            string
	Paused                  bool
	Next                    []time.Time
	Running                 int
	LastStart               time.Time
	LastDuration            string
	LastError               string `json:",omitempty"`
	Runs, Failures, LeftOut int64
}

func (s *scheduler) jobs() []job {
	list := []job{}
	for _, i := range s.pool.Schedules() {
		j := job{
			Name: i.Name, Rhythm: i.Rhythm, Paused: i.Paused, Next: i.NextN(3), Running: i.Running,
			LastStart: i.LastStart, LastDuration: i.LastDuration.String(),
			Runs: i.Runs, Failures: i.Failures, LeftOut: i.LeftOut,
		}
		if i.LastError != nil {
			j.LastError = i.LastError.Error()
		}
		list = append(list, j)
	}
	return list
}

func (s *scheduler) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /jobs", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		encoder.Encode(s.jobs())
	})
	change := func(pattern string, to func(*executor.Series, *http.Request) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			series := s.find(r.PathValue("name"))
			if series == nil {
				http.Error(w, "no such job", http.StatusNotFound)
				return
			}
			switch err := to(series, r); {
			case errors.Is(err, executor.ErrRunning), errors.Is(err, executor.ErrDone):
				http.Error(w, err.Error(), http.StatusConflict)
			case err != nil:
				http.Error(w, err.Error(), http.StatusBadRequest)
			default:
				w.WriteHeader(http.StatusNoContent)
			}
		})
	}
	change("POST /jobs/{name}/run", func(j *executor.Series, _ *http.Request) error { return j.RunNow() })
	change("POST /jobs/{name}/pause", func(j *executor.Series, _ *http.Request) error { j.Pause(); return nil })
	change("POST /jobs/{name}/resume", func(j *executor.Series, _ *http.Request) error { j.Resume(); return nil })
	change("DELETE /jobs/{name}", func(j *executor.Series, _ *http.Request) error { j.Cancel(); return nil })
	change("PUT /jobs/{name}/rhythm", func(j *executor.Series, r *http.Request) error {
		spec, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, 1000))
		if err != nil {
			return err
		}
		times, err := cron.Parse(string(spec))
		if err != nil {
			return err
		}
		return j.Reschedule(times)
	})
	return mux
}
