package browser

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/ui"
)

const uiLive = `document.getElementById('live')?.textContent === 'live'`

// uiViews are the pages of module ui, with what startUI has.
var uiViews = []view{
	{"overview", "", uiLive, "#pools", "thumbnails", ".at:last-child", "#plot0", "borderTopColor", "#plot0 .u-series:nth-child(2) .u-marker"},
	{"pools", "pools", uiLive, "#pools", "thumbnails", ".at", "", "", ""},
	{"pool", "pool?id=1", uiLive, "#workers", "resize", ".at", ".bars", "fill", ".bars rect"},
	{"schedules", "schedules", uiLive, "#schedules", "nightly", ".at", ".lanes", "stroke", ".lanes .ok"},
	{"jobs", "jobs", uiLive, "#jobs", "waiting", ".at", "", "", ""},
	{"dead jobs", "jobs?state=dead", uiLive, "#jobs", "dead", ".at", "", "", ""},
	{"job", "", uiLive, "#output", "page 1", ".at", "", "", ""},
	{"graph", "", uiLive, "#graph", "+ 12", ".at", ".graph", "fill", ".graph .tips"},
	{"steps", "", uiLive, "#steps", "decision", ".at", "", "", ""},
	{"signal", "", `document.getElementById('signal') !== null`, "main", "Name of the signal", "", "", "", ""},
	{"runs", "runs", uiLive, "#runs", "succeeded", ".at", "", "", ""},
	{"nodes", "nodes", uiLive, "#nodes", "this program", ".at", "", "", ""},
	{"resize", "act?pool=1", `document.getElementById('reason') !== null`, "main", "that many workers", "", "", "", ""},
	{"acts", "acts", uiLive, "#acts", "too <b>many</b>", ".at", "", "", ""},
	{"dead", "dead", uiLive, "#dead", "mailbox # is full", ".at", "", "", ""},
}

// runUI serves the pages of module ui, with pools and jobs at work.
func runUI() (base string, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	atEnd(cancel)
	o := &executor.Observer{Every: 1, MaxNames: 10, MaxEvents: 50}
	pool, err := executor.New(executor.Config{Name: "thumbnails", Workers: 4, Observer: o})
	if err != nil {
		return "", err
	}
	atEnd(func() { pool.ShutdownNow() })
	for range 3 {
		busy := func(ctx context.Context) error { <-ctx.Done(); return nil }
		if err := pool.Go(ctx, busy, executor.Named("resize")); err != nil {
			return "", err
		}
	}
	for range 50 {
		if err := pool.Go(ctx, func(context.Context) error { return nil }, executor.Named("crop")); err != nil {
			return "", err
		}
	}
	tasks := make(chan struct{})
	go func() { // so that the charts have something
		defer close(tasks)
		for ctx.Err() == nil {
			pool.Go(ctx, func(context.Context) error { return nil }, executor.Named("crop"))
			time.Sleep(100 * time.Millisecond)
		}
	}()
	atEnd(func() { cancel(); <-tasks })
	jobs, err := durable.New(durable.Config{Store: memory.New(), Name: "web1", Drain: time.Millisecond})
	if err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	atEnd(func() { cancel(); <-ended })
	if err := addJobs(ctx, jobs); err != nil {
		return "", err
	}
	go func() { ended <- jobs.Run(ctx) }()
	pages, err := ui.New(ui.Config{
		Observer: o, Jobs: []ui.Source{{Jobs: jobs}}, Actions: true, Payloads: true,
		Authorize: func(*http.Request) (ui.Access, string) { return ui.Act, "test" },
	})
	if err != nil {
		return "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: pages}
	go server.Serve(listener)
	atEnd(func() { pages.Close(); server.Close() })
	return "http://" + listener.Addr().String() + "/", awaitRuns(ctx, jobs)
}

// awaitRuns waits until a job has succeeded, one is dead, and one runs.
func awaitRuns(ctx context.Context, jobs *durable.Jobs) error {
	for range 500 {
		counts, err := jobs.Counts(ctx, durable.Filter{})
		if err != nil {
			return err
		}
		seen := make(map[durable.State]bool)
		for _, c := range counts {
			seen[c.State] = true
		}
		if seen[durable.Succeeded] && seen[durable.Dead] && seen[durable.Running] {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("the jobs do not run")
}

func addJobs(ctx context.Context, jobs *durable.Jobs) error {
	mails := durable.Handle(jobs, "mail/send", func(_ context.Context, n int) (string, error) {
		if n%3 == 0 {
			return "", executor.Permanent(fmt.Errorf("mailbox %d is full", n))
		}
		return "sent", nil
	})
	reports := durable.Handle(jobs, "report", func(ctx context.Context, name string) (string, error) {
		if name != "long" {
			return "", nil
		}
		for i := 1; ; i++ {
			fmt.Fprintln(durable.Output(ctx), "page", i)
			durable.Progress(ctx, int64(i), 1000, "pages")
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
	})
	var errs []error
	for n := range 60 {
		delay := time.Duration(max(n-20, 0)) * time.Hour
		_, err := mails.AddAfter(ctx, delay, n, durable.Key(fmt.Sprint("welcome/", n)))
		errs = append(errs, err)
	}
	errs = append(errs, jobs.NoteAct(ctx, durable.Act{
		Who: "ann", Action: "cancel", Key: "welcome/99", Reason: "too <b>many</b>", Answer: "applied",
	}))
	_, err := reports.AtFixedRate(ctx, "nightly", 0, 24*time.Hour, "short")
	errs = append(errs, err)
	_, err = reports.AtFixedRate(ctx, "hourly", 0, time.Hour, "short")
	errs = append(errs, err)
	id, err := reports.Add(ctx, "long", durable.Key("yearly report"))
	errs = append(errs, err)
	outline, err := reports.Add(ctx, "short", durable.Key("outline"))
	errs = append(errs, err)
	var parts []durable.ID
	for i := range 20 {
		name, delay := "short", time.Duration(0)
		switch {
		case i == 2:
			name = "long"
		case i > 3:
			delay = time.Hour
		}
		part, err := reports.AddAfter(ctx, delay, name, durable.Key(fmt.Sprint("chapter/", i)), durable.After(outline))
		if i == 1 {
			part, err = mails.Add(ctx, 3, durable.Key("letter to a reader"), durable.After(outline))
		}
		parts, errs = append(parts, part), append(errs, err)
	}
	book, err := reports.Add(ctx, "short", durable.Key("book"), durable.After(parts...), durable.EvenIfFailed())
	errs = append(errs, err)
	_, err = mails.Add(ctx, 1, durable.Key("to the printer"), durable.After(book))
	errs = append(errs, err)
	orders := durable.Handle(jobs, "order", func(ctx context.Context, _ string) (string, error) {
		for _, name := range []string{"reserve", "charge"} {
			if _, err := durable.Step(ctx, name, func(context.Context) (string, error) { return name + "d", nil }); err != nil {
				return "", err
			}
		}
		return durable.Wait[string](ctx, "decision")
	})
	order, err := orders.Add(ctx, "", durable.Key("order/7"))
	errs = append(errs, err)
	for i := range uiViews {
		switch uiViews[i].name {
		case "steps":
			uiViews[i].path = "job?id=" + order.String()
		case "signal":
			uiViews[i].path = "act?do=signal&signal=decision&id=" + order.String()
		case "job":
			uiViews[i].path = "job?id=" + id.String()
		case "graph":
			uiViews[i].path = "job?id=" + book.String()
		}
	}
	return errors.Join(errs...)
}

// On a phone the timeline is scrolled to now, and the names of its lanes stay beside it.
func TestTimelineShowsNow(t *testing.T) {
	t.Parallel()
	need(t, chromium)
	b := open(t, sites[1], sites[1].at(t))
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: 360, Height: 800, DeviceScaleFactor: 1, Mobile: true,
	})
	b.do(chromedp.Navigate(b.base + "schedules"))
	b.poll(10*time.Second, uiLive)
	within := `(e => { const r = e.getBoundingClientRect(); return r.left >= 0 && r.right <= 360 })`
	for _, selector := range []string{".lanes .now", ".names text", ".key li:last-child"} {
		if !eval[bool](b, within+`(document.querySelector('`+selector+`'))`) {
			t.Errorf("%s is not seen", selector)
		}
	}
	if !eval[bool](b, `document.querySelector('.names text').getBoundingClientRect().right
		< document.querySelector('.lanes .now').getBoundingClientRect().left`) {
		t.Error("the names cover now")
	}
}

// What a reader has open, selected or typed stays through updates.
func TestPageKeepsWhatIsOpen(t *testing.T) {
	t.Parallel()
	need(t, chromium)
	b := open(t, sites[1], sites[1].at(t))
	for path, c := range map[string]struct{ begin, stays string }{
		"": {
			`window.el = document.querySelector('figure details'); el.open = true
			 getSelection().selectAllChildren(el.querySelector('summary'))`,
			`el.isConnected && el.open && getSelection().toString() === el.querySelector('summary').textContent`,
		},
		"pools": {
			`window.el = document.getElementById('q'); el.focus(); el.value = 'thumb'; el.setSelectionRange(1, 3)`,
			`el.isConnected && document.activeElement === el && el.value === 'thumb' && el.selectionStart === 1
			 && el.selectionEnd === 3`,
		},
	} {
		b.do(chromedp.Navigate(b.base + path))
		b.poll(10*time.Second, uiLive)
		eval[int](b, c.begin+`; window.at = document.querySelector('main').innerHTML; 0`)
		b.poll(10*time.Second, `document.querySelector('main').innerHTML !== at`)
		if !eval[bool](b, c.stays) {
			t.Errorf("%q: an update has closed, or emptied, what a reader had open", path)
		}
	}
}

// A window that is looked at again has the title and the icon of now, whatever it had.
func TestPageRenewsTitle(t *testing.T) {
	t.Parallel()
	need(t, chromium)
	for _, c := range []struct {
		site  site
		path  string
		title string
	}{{sites[0], "schedules", "Schedules · executors"}, {sites[1], "jobs", "Jobs · executor"}} {
		b := open(t, c.site, c.site.at(t))
		b.do(chromedp.Navigate(b.base + c.path))
		b.poll(10*time.Second, uiLive)
		eval[int](b, `document.title = 'old'
			document.querySelector('link[rel=icon]').removeAttribute('href')
			document.dispatchEvent(new Event('visibilitychange')); 0`)
		b.poll(10*time.Second, `/^\(\d+ problems?\) `+c.title+`$/.test(document.title)
			&& document.querySelectorAll('link[rel=icon]').length === 1
			&& /problem-\w+\.svg$/.test(document.querySelector('link[rel=icon]').getAttribute('href'))`)
	}
}

// The header is one line with all tabs from 800 pixels on. On a phone it is two, each as high as a finger, and the current
// tab is seen.
func TestHeaderFits(t *testing.T) {
	t.Parallel()
	need(t, chromium)
	for _, s := range sites[1:3] {
		base := s.at(t)
		b := open(t, s, base)
		for width, c := range map[int64]struct{ most, scrolls int }{800: {60, 0}, 900: {60, 0}, 390: {120, 1000}} {
			call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
				Width: width, Height: 800, DeviceScaleFactor: 1,
			})
			b.do(chromedp.Navigate(b.base + "acts"))
			b.poll(10*time.Second, uiLive)
			if height := eval[int](b, `document.querySelector('header').offsetHeight`); height > c.most {
				b.Errorf("%s, %d pixels wide: the header is %d high", s.name, width, height)
			}
			if n := eval[int](b, `(e => e.scrollWidth - e.clientWidth)(document.querySelector('header nav'))`); n > c.scrolls {
				b.Errorf("%s, %d pixels wide: %d of the tabs are not seen", s.name, width, n)
			}
			if !eval[bool](b, `(e => e.left >= 0 && e.right <= innerWidth)(
				document.querySelector('header [aria-current]').getBoundingClientRect())`) {
				b.Errorf("%s, %d pixels wide: the current tab is not seen", s.name, width)
			}
		}
	}
}
