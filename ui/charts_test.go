package ui_test

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui"
	"github.com/executor-go/executor/ui/internal/pagetest"
)

// plotted returns the points of the charts of a page: the times, and the values of each series, with nil where one is not
// known.
func plotted(t *testing.T, body string) (columns [][]any) {
	t.Helper()
	found := regexp.MustCompile(` data-points="([^"]*)"`).FindStringSubmatch(body)
	if found == nil {
		t.Fatalf("there are no points: %s", body)
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(found[1])), &columns); err != nil {
		t.Fatal(err)
	}
	return columns
}

// What pools did is on the charts of a day also if nobody has looked at them meanwhile, on the home and on the page of the
// pool; without scripts as a picture with its times.
func TestChartsRememberDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t)
		pool := newPool(t, o, executor.Config{Name: "mails", Workers: 1, Logger: slog.New(slog.DiscardHandler)})
		u := newUI(t, ui.Config{Observer: o})
		wrong := errors.New("wrong")
		time.Sleep(time.Second) // so that a minute's tasks have ended before it has
		for minute := range 26 * 60 {
			for i := range 1 + minute%3 {
				pool.Go(t.Context(), func(context.Context) error {
					if minute >= 25*60 && i == 0 {
						return wrong
					}
					return nil
				})
			}
			time.Sleep(time.Minute)
		}
		for _, path := range []string{"/", "/pool?id=1"} {
			body := get(t, u, path)
			columns := plotted(t, body)
			if n := len(columns[0]); n < 24*60 || n > 24*60+2 {
				t.Errorf("%s: there are %d points of a day", path, n)
			}
			from, until := columns[0][0].(float64), columns[0][len(columns[0])-1].(float64)
			if d := until - from; d < 24*3600-60 || d > 24*3600+60 {
				t.Errorf("%s: the points are of %v s", path, d)
			}
			rates := map[any]bool{}
			for _, v := range columns[1][:len(columns[1])-2] {
				rates[v] = true
			}
			for _, want := range []float64{0.0167, 0.0333, 0.05} { // 1, 2 and 3 in a minute
				if !rates[want] {
					t.Errorf("%s: no minute has %v runs per second: %v", path, want, rates)
				}
			}
			for _, want := range []string{
				`aria-label="Runs per second, the last 24`, `<polyline class="c1"`, `<polyline class="bad"`, "</i>failed</li>", ">04:00</text>", ">0.05</text>",
			} {
				if !strings.Contains(body, want) {
					t.Errorf("%s: there is no %s", path, want)
				}
			}
			if strings.Contains(body, "Rejected tasks") {
				t.Errorf("%s: there is a chart of rejections, of which there are none", path)
			}
			hour := plotted(t, get(t, u, path+map[bool]string{true: "?", false: "&"}[path == "/"]+"span=1h"))
			if n := len(hour[0]); n < 59 || n > 62 {
				t.Errorf("%s: there are %d points of an hour", path, n)
			}
		}
	})
}

// There is no chart before there is something to be drawn, and a closed UI looks at its pools no more.
func TestChartsAreNotEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t)
		pool := newPool(t, o, executor.Config{Name: "mails", Workers: 1})
		u := newUI(t, ui.Config{Observer: o})
		if body := get(t, u, "/"); strings.Contains(body, "<figure") {
			t.Errorf("there is a chart at the begin: %s", body)
		}
		u.Close()
		for range 60 {
			time.Sleep(time.Minute)
			pool.Go(t.Context(), func(context.Context) error { return nil })
		}
		if body := get(t, u, "/"); strings.Contains(body, "<figure") {
			t.Errorf("there is a chart of the hour after Close: %s", body)
		}
	})
}

// Updates have no points: the page has them.
func TestChartsAreNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t)
		pool := newPool(t, o, executor.Config{Name: "mails", Workers: 1})
		u := newUI(t, ui.Config{Observer: o})
		for range 60 {
			time.Sleep(time.Minute)
			pool.Go(t.Context(), func(context.Context) error { return nil })
		}
		ctx, cancel := context.WithCancel(t.Context())
		l := pagetest.Listen(ctx, u, "")
		time.Sleep(2 * time.Second)
		cancel()
		<-l.Ended()
		events := l.Events(t)
		if len(events) == 0 || !strings.Contains(events[0][1], `id="plot0"`) {
			t.Fatalf("there is no update with a chart: %q", events)
		}
		if strings.Contains(events[0][1], "data-points") || strings.Contains(events[0][1], "polyline") {
			t.Errorf("an update has points: %s", events[0][1])
		}
	})
}

// A span that charts do not have is an error that says which there are.
func TestChartsRefuseSpan(t *testing.T) {
	u := newUI(t, ui.Config{Observer: newObserver(t)})
	for _, span := range []string{"2h", "-1h", "x", "168h"} {
		if r := ask(u, http.MethodGet, "/?span="+span, nil); r.Code != 400 || !strings.Contains(r.Body.String(), "5m, 1h, 6h or 24h") {
			t.Errorf("%s: %d %s", span, r.Code, r.Body)
		}
	}
}
