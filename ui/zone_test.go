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

// A time that a reader types is in the zone in which that reader sees times: the confirmation names it, and the answer has
// the time in it. One with an offset, and one from now on, are the same for all.
func TestActReadsTimeInZoneOfReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, nil)
		u, _ := newActor(t, nil, jobs)
		id := addJob(t, jobs, "mail", time.Hour)
		for _, c := range []struct {
			zone, named, typed string
			due                time.Duration // after the begin of 2000 in UTC
			says               string
		}{
			{"", "UTC", "2000-01-02 09:00", 33 * time.Hour, "2000-01-02 09:00:00 UTC"},
			{"Asia/Tokyo", "Asia/Tokyo", "2000-01-02 09:00", 24 * time.Hour, "2000-01-02 09:00:00 JST"},
			{"America/New_York", "America/New_York", "2000-07-01 00:00", (182*24 + 4) * time.Hour, "2000-07-01 00:00:00 EDT"},
			{"Asia/Tokyo", "Asia/Tokyo", "2000-01-02T09:00:00Z", 33 * time.Hour, "2000-01-02 09:00:00 UTC"},
			{"Asia/Tokyo", "Asia/Tokyo", "36h", 36 * time.Hour, ""},
			{"job", "UTC", "2000-01-02 09:00", 33 * time.Hour, "2000-01-02 09:00:00 UTC"},
		} {
			reader := withZone{u, c.zone}
			if text := get(t, reader, "/act?do=reschedule&id="+id.String()); !strings.Contains(text, ", in "+c.named+"<") {
				t.Errorf("%+v: the confirmation does not name the zone: %s", c, text)
			}
			answer := answered(t, reader, form("do", "reschedule", "id", id.String(), "value", c.typed))
			j, err := jobs.Get(t.Context(), id)
			if begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); err != nil || !j.Due.Equal(begin.Add(c.due)) || !strings.Contains(answer, c.says) {
				t.Errorf("%+v: it is due at %v, %v: %s", c, j.Due, err, answer)
			}
		}
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
