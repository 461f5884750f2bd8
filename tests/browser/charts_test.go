package browser

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui"
)

// recorded serves the answers that a handler has given before.
type recorded map[string]*httptest.ResponseRecorder

func (r recorded) ServeHTTP(w http.ResponseWriter, ask *http.Request) {
	answer := r[ask.URL.RequestURI()]
	if answer == nil {
		http.NotFound(w, ask)
		return
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	w.Write(answer.Body.Bytes())
}

// record records the answer to a request, and those to what its page loads.
func (r recorded) record(h http.Handler, path string) {
	ask := func(path string) string {
		if r[path] == nil {
			r[path] = httptest.NewRecorder()
			h.ServeHTTP(r[path], httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		}
		return r[path].Body.String()
	}
	for _, file := range regexp.MustCompile(`"(static/[^"]*)"`).FindAllStringSubmatch(ask(path), -1) {
		ask("/" + file[1])
	}
}

// A page that is opened after a day without one has the day on its charts, with scripts and without: the hours are those
// of the clock of the server.
func TestUIRemembersDay(t *testing.T) {
	need(t, chromium)
	pages := make(recorded)
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1}
		pool, err := executor.New(executor.Config{Logger: slog.New(slog.DiscardHandler), Name: "mails", Workers: 1, Observer: o})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { pool.ShutdownNow(); <-pool.Terminated() }()
		u, err := ui.New(ui.Config{
			Observer: o, Hosts: []string{"*"}, Authorize: func(*http.Request) (ui.Access, string) { return ui.Look, "" },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
		time.Sleep(time.Second)
		for minute := range 24 * 60 {
			for range 1 + minute/60 { // more each hour
				pool.Go(t.Context(), func(context.Context) error {
					if minute/60 == 12 {
						return errors.New("no")
					}
					time.Sleep(3 * time.Second) // with 24 of them the last ones wait at the end of the minute
					return nil
				})
			}
			time.Sleep(time.Minute)
		}
		pages.record(u, "/")
	})
	server := httptest.NewServer(pages)
	t.Cleanup(server.Close)
	page := pages["/"].Body
	events := regexp.MustCompile(` data-events="[^"]*"`) // there are no updates of what was recorded
	text := events.ReplaceAllString(page.String(), "")
	page.Reset()
	page.WriteString(text)
	pages["/"].Header().Del("Content-Length")

	b := open(t, site{}, server.URL+"/")
	b.do(chromedp.Navigate(b.base))
	b.poll(10*time.Second, `document.querySelectorAll('#charts .uplot').length === 3`)
	if n := eval[int](b, `document.querySelectorAll('#charts figure > svg').length`); n > 0 {
		t.Errorf("beside the charts there are %d pictures from the server", n)
	}
	// Something is drawn at the left end of a chart, and in the color of failures.
	if !eval[bool](b, `(() => {
		const canvas = document.querySelector('#plot0 canvas'), {width, height} = canvas
		const data = canvas.getContext('2d').getImageData(0, 0, width, height).data
		const bad = document.createElement('i'); bad.className = 'bad'; document.body.append(bad)
		const [r, g, b] = getComputedStyle(bad).color.match(/\d+/g)
		for (let i = 0; i < data.length; i += 4) if (Math.abs(data[i] - r) + Math.abs(data[i+1] - g) + Math.abs(data[i+2] - b) < 12 && data[i+3] > 200) return true
	return false
	})()`) {
		t.Error("no failure is drawn")
	}
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.do(chromedp.Navigate(b.base))
	if names := run(b, chromedp.Text("#plot0 svg + .key")); !strings.Contains(names, "runs") || !strings.Contains(names, "failed") {
		t.Errorf("without scripts there is no picture of runs and failures: %q", names)
	}
}
