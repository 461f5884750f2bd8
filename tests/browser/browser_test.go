package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil { // tabs wait most of the time
		panic(err)
	}
	code := m.Run()
	if shared.end != nil {
		shared.end()
	}
	for _, end := range ends.all {
		end()
	}
	os.Exit(code)
}

// shared is the browser of all tests, which have a tab each.
var shared struct {
	sync.Once
	ctx context.Context
	end func()
	err error
}

// tab is a tab of the browser that is open for a test, and what it must not have.
type tab struct {
	*testing.T
	ctx    context.Context
	base   string // of the site
	check  string // the name of what is checked
	colors *atomic.Value
	notes  *notes
}

// notes are what a tab must not have.
type notes struct {
	mu  sync.Mutex
	bad []string
}

// in returns the tab for a part of its test.
func (b *tab) in(t *testing.T, check string) *tab {
	return &tab{t, b.ctx, b.base, check, b.colors, b.notes}
}

// open returns a new tab for pages of the site at base. At the end of the test it fails for each
// error in the console, request to another site, and violation of the Content-Security-Policy.
func open(t *testing.T, s site, base string) *tab {
	t.Helper()
	path := need(t, chromium)
	shared.Do(func() {
		opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WindowSize(1200, 900))
		if os.Geteuid() == 0 {
			opts = append(opts, chromedp.NoSandbox)
		}
		ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
		shared.ctx, shared.end = chromedp.NewContext(ctx)
		end := shared.end
		shared.end = func() { end(); cancel() }
		shared.err = chromedp.Do(shared.ctx, chromedp.Navigate("about:blank"))
	})
	if shared.err != nil {
		t.Fatalf("%s: %v", path, shared.err)
	}
	ctx, cancel := chromedp.NewContext(shared.ctx, chromedp.WithNewBrowserContext()) // with connections of its own
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx, base: base, colors: new(atomic.Value), notes: new(notes)}
	b.do(chromedp.Navigate("about:blank"))
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, runtime.Enable, cdp.Empty{})
	call(b, cdplog.Enable, cdp.Empty{})
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		window.violations = []
		document.addEventListener('securitypolicyviolation', e => violations.push(e.violatedDirective + ' ' + e.blockedURI))
	`})
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		violations := eval[[]string](b, `window.violations || []`)
		b.notes.mu.Lock()
		defer b.notes.mu.Unlock()
		for _, bad := range append(b.notes.bad, violations...) {
			t.Error(bad)
		}
	})
	if s.enter != nil {
		s.enter(b)
	}
	return b
}

// note notes events that must not be.
func (b *tab) note(event any) {
	b.notes.mu.Lock()
	defer b.notes.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.notes.bad = append(b.notes.bad, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.notes.bad = append(b.notes.bad, fmt.Sprint("a message in the console: ", e.Type))
	case *cdplog.EventEntryAdded:
		b.notes.bad = append(b.notes.bad, fmt.Sprintf("a message of the browser: %s %s", e.Entry.Level, e.Entry.Text))
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, b.base) && !strings.HasPrefix(e.Request.URL, "data:") {
			b.notes.bad = append(b.notes.bad, "a request to "+e.Request.URL)
		}
	case *network.EventLoadingFailed:
		if !e.Canceled && e.ErrorText != "net::ERR_ABORTED" {
			b.notes.bad = append(b.notes.bad, "a request failed: "+e.ErrorText)
		}
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

// call calls a command of the browser's protocol.
func call[P, R any](b *tab, c cdp.Command[P, R], params P) R {
	b.Helper()
	r, err := chromedp.Call(b.ctx, c, params)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// run returns what an action returns.
func run[T any](b *tab, a chromedp.Action[T]) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, a)
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// eval returns the value of a script.
func eval[T any](b *tab, script string) T {
	b.Helper()
	return run(b, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// poll waits until a script is true, on whatever page the tab is then.
func (b *tab) poll(within time.Duration, script string) {
	b.Helper()
	var err error
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var ok bool
		if ok, err = chromedp.Run(b.ctx, chromedp.Evaluate[bool](script)); ok && err == nil {
			return
		}
	}
	b.Fatalf("%s is not true within %v: %v", script, within, err)
}

// visit loads a view of a site and waits until it is live.
func (b *tab) visit(v view) {
	b.Helper()
	b.do(chromedp.Navigate(b.base + v.path))
	b.poll(10*time.Second, v.live)
}

// scheme sets the color scheme that the user prefers, light or dark.
func (b *tab) scheme(name string) {
	b.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
}
