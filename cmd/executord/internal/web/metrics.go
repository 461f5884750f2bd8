package web

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/daemon"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// serveMetrics writes the figures in the text format of Prometheus. There are series for each job of the file from the
// start, and for no others. Without an answer of the store, what comes from there is left out.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	figures := s.Daemon.Figures()
	jobs, err := s.Daemon.Jobs(r.Context())
	successes, _ := s.Daemon.Successes(r.Context())
	due := make(map[string]time.Time)
	for _, j := range jobs {
		if j.Next != nil {
			due[j.Job] = *j.Next
		}
	}
	var m metrics
	m.family("executord_info", "gauge", "The daemon; its value is 1.")
	m.sample("executord_info", `version="`+labelValue(s.Version)+`"`, 1)
	m.family("executord_start_timestamp_seconds", "gauge", "When the daemon was started.")
	m.sample("executord_start_timestamp_seconds", "", stamp(s.began))
	if s.Reading != nil {
		ok, at := s.Reading()
		m.family("executord_file_up_to_date", "gauge", "1 if the job files were used when they were last read, 0 if older jobs run.")
		m.sample("executord_file_up_to_date", "", bit(ok))
		m.family("executord_file_used_timestamp_seconds", "gauge", "When the job files were last used; 0 if not yet.")
		m.sample("executord_file_used_timestamp_seconds", "", stamp(at))
	}
	m.family("executord_store_up", "gauge", "1 if the store answers and takes writes, else 0.")
	m.sample("executord_store_up", "", bit(err == nil && s.Daemon.StoreError(r.Context()) == nil))
	m.family("executord_jobs", "gauge", "Jobs in the file.")
	m.sample("executord_jobs", "", float64(len(figures)))

	perJob := func(name, kind, help string, value func(daemon.Figures) (float64, bool)) {
		m.family(name, kind, help)
		for _, f := range figures {
			if v, ok := value(f); ok {
				m.sample(name, jobLabel(f.Job), v)
			}
		}
	}
	perJob("executord_job_last_success_timestamp_seconds", "gauge",
		"When a run last succeeded; 0 if none has.", func(f daemon.Figures) (float64, bool) {
			at := f.LastSuccess
			if before := successes[f.Job]; before.After(at) {
				at = before
			}
			return stamp(at), true
		})
	perJob("executord_job_last_start_timestamp_seconds", "gauge",
		"When this daemon last started the command; 0 if it has not.", func(f daemon.Figures) (float64, bool) {
			return stamp(f.LastStart), true
		})
	perJob("executord_job_next_due_timestamp_seconds", "gauge",
		"When the job runs next; missing if it does not, or the store does not answer.", func(f daemon.Figures) (float64, bool) {
			at, ok := due[f.Job]
			return stamp(at), ok
		})
	perJob("executord_job_running", "gauge", "Runs in progress in this daemon.", func(f daemon.Figures) (float64, bool) {
		return float64(f.Running), true
	})
	m.family("executord_job_runs_total", "counter", "Runs that have ended, by outcome.")
	for _, f := range figures {
		for _, o := range outcome.Counted() {
			m.sample("executord_job_runs_total", jobLabel(f.Job)+`,outcome="`+strings.ReplaceAll(string(o), " ", "_")+`"`,
				float64(f.Ended[o]))
		}
	}
	perJob("executord_job_skipped_total", "counter", "Times that passed while a run was in progress.",
		func(f daemon.Figures) (float64, bool) { return float64(f.Skipped), true })
	perJob("executord_job_missed_total", "counter", "Times that passed without a run.",
		func(f daemon.Figures) (float64, bool) { return float64(f.Missed), true })
	m.family("executord_job_paused", "gauge",
		"1 if the job does not run: it is paused, canceled or dead; missing if the store does not answer.")
	known := make(map[string]view.Job, len(jobs))
	for _, j := range jobs {
		known[j.Job] = j
	}
	for _, f := range figures {
		if j, ok := known[f.Job]; ok {
			m.sample("executord_job_paused", jobLabel(f.Job), bit(j.State.Held()))
		}
	}
	m.family("executord_job_without_machine", "gauge",
		"1 if the job waits and no daemon is running on a machine that may run it; missing if it may run on any.")
	for _, f := range figures {
		if j := known[f.Job]; len(j.On) > 0 {
			m.sample("executord_job_without_machine", jobLabel(j.Job), bit(j.State.State == catalog.StateNoMachine))
		}
	}
	open, closed := s.conns.counts()
	m.family("executord_connections", "gauge", "Connections to the address of --listen.")
	m.sample("executord_connections", "", float64(open))
	m.family("executord_connections_closed_total", "counter", "Idle connections that were closed to have places for others.")
	m.sample("executord_connections_closed_total", "", float64(closed))
	if s.Tokens != nil {
		m.family("executord_wrong_tokens_total", "counter", "Requests with a wrong token.")
		m.sample("executord_wrong_tokens_total", "", float64(s.wrongs.count()))
	}
	s.notifications(&m)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write(m.Bytes())
}

// notifications writes what became of those, for each channel.
func (s *Server) notifications(m *metrics) {
	channels := s.Daemon.Channels()
	label := func(name string) string { return `channel="` + labelValue(name) + `"` }
	m.family("executord_notifications_total", "counter", "Messages that were sent, or given up, by channel.")
	for _, c := range channels {
		m.sample("executord_notifications_total", label(c.Channel)+`,result="sent"`, float64(c.Sent))
		m.sample("executord_notifications_total", label(c.Channel)+`,result="failed"`, float64(c.Failed))
	}
	m.family("executord_notification_events_dropped_total", "counter", "Events for which the queue of a channel had no room.")
	for _, c := range channels {
		m.sample("executord_notification_events_dropped_total", label(c.Channel), float64(c.Dropped))
	}
	m.family("executord_notification_events_waiting", "gauge", "Events in the queue of a channel.")
	for _, c := range channels {
		m.sample("executord_notification_events_waiting", label(c.Channel), float64(c.Waiting))
	}
}

// metrics is text in the format of Prometheus.
type metrics struct{ bytes.Buffer }

func (m *metrics) family(name, kind, help string) {
	fmt.Fprintf(m, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (m *metrics) sample(name, labels string, value float64) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(m, "%s%s %v\n", name, labels, value)
}

func jobLabel(name string) string { return `job_name="` + labelValue(name) + `"` }

func labelValue(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(job.Printable(text))
}

// stamp returns the seconds since 1970, 0 for the zero Time.
func stamp(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

func bit(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
