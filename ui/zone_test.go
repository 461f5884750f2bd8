package ui_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui"
	"github.com/executor-go/executor/ui/internal/pagetest"
)

// inZone makes a request that of a reader who has chosen a zone.
func inZone(name string) func(*http.Request) {
	return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "executor-zone", Value: name}) }
}

// All pages show their times in one zone, that of the reader, and name it in the header; readers with different zones do
// not get the pages of each other, nor the updates.
func TestPagesHaveOneZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t)
		newPool(t, o, executor.Config{Name: "mails", Workers: 1})
		jobs := newJobs(t, nil)
		id := addJob(t, jobs, "mail", time.Hour)
		if err := jobs.NoteAct(t.Context(), durable.Act{Who: "ann", Action: "cancel", Key: "x", Reason: "late", Answer: "applied"}); err != nil {
			t.Fatal(err)
		}
		u := newUI(t, ui.Config{Observer: o, Jobs: []ui.Source{{Jobs: jobs}}})
		for _, path := range []string{
			"/", "/pools", "/pool?id=1", "/schedules", "/jobs", "/job?id=" + id.String(), "/runs?day=2000-01-01", "/nodes", "/acts", "/dead",
		} {
			for zone, want := range map[string]string{"UTC": "00:00:00 UTC", "Asia/Tokyo": "09:00:00 JST", "job": "00:00:00 UTC", "None/Such": "00:00:00 UTC"} {
				text := ask(u, http.MethodGet, path, inZone(zone)).Body.String()
				says := strings.Fields(want)[1]
				if zone == "job" {
					says = "the job&#39;s"
				}
				if !strings.Contains(text, "As of 2000-01-01 "+want) && !strings.Contains(text, "As of "+want) || !strings.Contains(text, "<summary>"+says+"</summary>") {
					t.Errorf("%s in %s: there is no %s in %s", path, zone, want, text)
				}
			}
		}
		if text := ask(u, http.MethodGet, "/acts", inZone("Asia/Tokyo")).Body.String(); !strings.Contains(text, "2000-01-01 09:00:00") && !strings.Contains(text, ">09:00:00") {
			t.Errorf("the audit log is in another zone: %s", text)
		}
		l := pagetest.Listen(t.Context(), withZone{u, "Asia/Tokyo"}, "pools")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if events := l.Events(t); len(events) == 0 || !strings.Contains(events[0][1], "09:00:00 JST") {
			t.Errorf("updates are in another zone: %q", events)
		}
		u.Close()
	})
}

// withZone adds a zone to each request.
type withZone struct {
	http.Handler
	zone string
}

func (z withZone) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	inZone(z.zone)(r)
	z.Handler.ServeHTTP(w, r)
}
