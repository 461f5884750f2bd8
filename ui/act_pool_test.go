package ui_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui"
)

// newPoolActor returns a UI for those that may act on the pools of o, and its log.
func newPoolActor(t *testing.T, o *executor.Observer) (*ui.UI, *bytes.Buffer) {
	var log bytes.Buffer
	return newUI(t, ui.Config{
		Observer: o, Actions: true, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Authorize: func(*http.Request) (ui.Access, string) { return ui.Act, "ann" },
	}), &log
}

// form returns a form with names and values.
func form(pairs ...string) url.Values {
	f := url.Values{"confirmed": {"yes"}, "reason": {"a test"}}
	for i := 0; i < len(pairs); i += 2 {
		f.Set(pairs[i], pairs[i+1])
	}
	return f
}

// A pool is resized, with a reason that is in the log; a size that can't be changes nothing.
func TestActResizesPool(t *testing.T) {
	o := newObserver(t)
	p := newPool(t, o, executor.Config{Name: "mail", Core: 2})
	u, log := newPoolActor(t, o)
	if text := get(t, u, "/pool?id=1"); !strings.Contains(text, `<a href="act?pool=1">Resize…</a>`) {
		t.Errorf("the page of the pool is %s", text)
	}
	if text := get(t, u, "/act?pool=1"); !strings.Contains(text, `name="value" id="value" value="2"`) {
		t.Errorf("the form is %s", text)
	}
	for value, want := range map[string]string{"0": "must be at least 1", "many": "must be a number", "": "must be a number"} {
		if text := answered(t, u, form("pool", "1", "do", "resize", "value", value)); !strings.Contains(text, want) {
			t.Errorf("of %q: %s", value, text)
		}
	}
	if s := p.Settings(); s.Core != 2 {
		t.Errorf("Core is %d", s.Core)
	}
	if text := answered(t, u, form("pool", "1", "do", "resize", "value", "5")); !strings.Contains(text, "resized to 5") {
		t.Errorf("the answer is %s", text)
	}
	if s := p.Settings(); s.Core != 5 || s.Max != 5 {
		t.Errorf("Core is %d, Max %d", s.Core, s.Max)
	}
	for _, want := range []string{"action=resize", "pool=mail", `reason="a test"`, "who=ann", `answer="resized to 5"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s: %s", want, log)
		}
	}
}

// A series is run, paused, resumed, rescheduled and canceled; what its state does not allow is said.
func TestActChangesSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t)
		p, err := executor.NewScheduled(executor.ScheduledConfig{Name: "timers", Core: 1, Observer: o})
		if err != nil {
			t.Fatal(err)
		}
		defer p.ShutdownNow()
		runs := 0
		s, err := p.AtFixedRate(t.Context(), time.Hour, time.Hour, func(context.Context) error { runs++; return nil },
			executor.Named("<i>report</i>"))
		if err != nil {
			t.Fatal(err)
		}
		u, log := newPoolActor(t, o)
		path := regexp.MustCompile(`href="(act\?series=\d+)"`).FindStringSubmatch(get(t, u, "/schedules"))
		if path == nil {
			t.Fatal("the schedules have no link to change one")
		}
		_, number, _ := strings.Cut(path[1], "=")
		do := func(name, value, want string) {
			t.Helper()
			if text := answered(t, u, form("series", number, "do", name, "value", value)); !strings.Contains(text, want) {
				t.Errorf("%s: there is no %q: %s", name, want, text)
			}
			synctest.Wait()
		}
		if text := get(t, u, "/"+path[1]); !strings.Contains(text, "&lt;i&gt;report") || strings.Contains(text, `value="resume"`) {
			t.Errorf("the form is %s", text)
		}
		do("run", "", "due now")
		if runs != 1 {
			t.Errorf("%d runs", runs)
		}
		do("pause", "", "paused")
		if !s.Info().Paused {
			t.Error("it is not paused")
		}
		time.Sleep(time.Second) // the page looks anew
		if w := post(u, form("series", number, "do", "pause")); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("pause of what is paused: %d", w.Code)
		}
		do("resume", "", "resumed")
		do("reschedule", "soon", "must be a duration")
		do("reschedule", "5m", "every 5m0s")
		if next := time.Until(s.Next()); next != 5*time.Minute {
			t.Errorf("next in %v", next)
		}
		do("cancel", "", "canceled")
		if s.State() != executor.Canceled {
			t.Errorf("the state is %v", s.State())
		}
		if w := post(u, form("series", number, "do", "run")); w.Code != http.StatusNotFound {
			t.Errorf("of a series that has ended: %d", w.Code)
		}
		if n := strings.Count(log.String(), "reason=\"a test\" who=ann"); n != 6 {
			t.Errorf("%d lines in the log: %s", n, log)
		}
	})
}

// Requests that must not act on pools do not.
func TestActOnPoolRefused(t *testing.T) {
	o := newObserver(t)
	p := newPool(t, o, executor.Config{Name: "mail", Core: 2})
	u, _ := newPoolActor(t, o)
	resize := func(pairs ...string) url.Values {
		return form(append([]string{"pool", "1", "do", "resize", "value", "9"}, pairs...)...)
	}
	for name, c := range map[string]struct {
		form url.Values
		want int
	}{
		"no reason":       {resize("reason", " "), 422},
		"a long reason":   {resize("reason", strings.Repeat("x", 501)), 422},
		"not confirmed":   {resize("confirmed", ""), 200},
		"no such deed":    {resize("do", "shutdown"), 422},
		"no such pool":    {resize("pool", "7"), 404},
		"pool no number":  {resize("pool", "x"), 400},
		"no such series":  {form("series", "1", "do", "run"), 404},
		"a pool's series": {form("series", "-1", "do", "cancel"), 404},
	} {
		if w := post(u, c.form); w.Code != c.want {
			t.Errorf("%s: %d, want %d: %s", name, w.Code, c.want, w.Body)
		}
	}
	if w := ask(u, http.MethodGet, "/act?"+resize().Encode(), nil); w.Code != http.StatusOK {
		t.Errorf("GET: %d", w.Code)
	}
	look := func(*http.Request) (ui.Access, string) { return ui.Look, "" }
	looker := newUI(t, ui.Config{Observer: o, Actions: true, Authorize: look})
	if w := post(looker, resize()); w.Code != http.StatusForbidden {
		t.Errorf("of one that may look: %d", w.Code)
	}
	for _, path := range []string{"/pool?id=1", "/schedules"} {
		if text := get(t, looker, path); strings.Contains(text, "act?") {
			t.Errorf("%s offers an action to one that may look", path)
		}
	}
	if s := p.Settings(); s.Core != 2 {
		t.Errorf("Core is %d", s.Core)
	}
}
