package browser

import (
	"bytes"
	"encoding/json"
	"flag"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var images = flag.Bool("images", false, "write the pictures of docs/images")

// Each page is looked at in a tab of its own: what is checked first does not disturb what is checked later.
func TestPages(t *testing.T) {
	need(t, chromium)
	var started sync.WaitGroup
	for _, s := range sites {
		started.Go(func() { s.start() }) // at returns its error
	}
	started.Wait()
	for _, s := range sites {
		base := s.at(t)
		for _, v := range s.views {
			t.Run(s.name+"/"+v.name, func(t *testing.T) {
				t.Parallel()
				b := open(t, s, base)
				for _, c := range []struct {
					name  string
					check func(*tab, view)
				}{
					{"live", checkLive}, {"light", checkScheme}, {"dark", checkScheme},
					{"printed", checkPrint}, {"fits a phone", checkPhone}, {"without scripts", checkWithoutScripts},
				} {
					t.Run(c.name, func(t *testing.T) { c.check(b.in(t, c.name), v) })
				}
			})
		}
	}
}

// checkLive loads a page: it is live within a second, and changes with an update, which leaves what a reader has
// selected or in focus.
func checkLive(b *tab, v view) {
	for try := 1; ; try++ { // a busy machine may be late
		b.do(chromedp.Navigate(b.base + v.path))
		_, err := chromedp.Run(b.ctx, chromedp.Poll[bool](v.live, chromedp.WithPollingTimeout(time.Second)))
		if err == nil {
			break
		}
		if try == 5 {
			b.Fatalf("five times the page was not live within a second: %v", err)
		}
	}
	if v.clock == "" {
		return
	}
	for try := 1; !keepsFocus(b, v); try++ { // a link to the run in progress goes with that
		if try == 3 {
			b.Fatal("three times an update has replaced what was there")
		}
	}
}

// keepsFocus waits for an update, and reports whether it leaves what is there, and the focus.
func keepsFocus(b *tab, v view) bool {
	eval[int](b, `{
		const link = document.querySelector('main a, main [tabindex]')
		if (link) link.focus()
		window.focused = link
		window.cell = document.querySelector('`+v.data+`')
		window.clock = document.querySelector('`+v.clock+`').textContent
	}; 0`)
	b.poll(10*time.Second, `document.querySelector('`+v.clock+`').textContent !== clock`)
	return eval[bool](b, `cell.isConnected && (!focused || document.activeElement === focused)`)
}

// checkScheme looks at a page in the color scheme that is the name of the check: axe finds no violation of WCAG and of
// its own best practices, and charts are painted in their color, which is another one in each color scheme.
func checkScheme(b *tab, v view) {
	b.scheme(b.check)
	b.axe()
	if v.chart == "" {
		return
	}
	b.poll(10*time.Second, `document.querySelector('`+v.shape+`') !== null`)
	color := eval[string](b, `getComputedStyle(document.querySelector('`+v.shape+`')).`+v.paint)
	if other := b.colors.Swap(color); other == color {
		b.Errorf("the color of charts is %s in both schemes", color)
	}
	painted := 0
	for end := time.Now().Add(10 * time.Second); painted < 5 && time.Now().Before(end); { // a line grows with time
		painted = pixels(b, picture(b, run(b, chromedp.Screenshot(v.chart))), color)
	}
	if painted < 5 {
		b.Errorf("%d pixels of %s have the color %s", painted, v.chart, color)
	}
}

// axe checks a page by the accessibility checker.
func (b *tab) axe() {
	b.Helper()
	script := need(b.T, axe)
	if !eval[bool](b, `typeof axe === 'object'`) {
		eval[int](b, script+";0")
	}
	var r struct {
		Passes     int
		Violations []struct{ ID, Help, HTML, Why string }
	}
	result := eval[string](b, `axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
		resultTypes: ['violations']})
		.then(r => JSON.stringify({passes: r.passes.length, violations: r.violations.map(v => ({
			id: v.id, help: v.help, html: v.nodes[0].html.slice(0, 200), why: v.nodes[0].failureSummary}))}))`)
	if err := json.Unmarshal([]byte(result), &r); err != nil {
		b.Fatal(err)
	}
	if r.Passes < 18 {
		b.Errorf("only %d rules of axe apply", r.Passes)
	}
	for _, v := range r.Violations {
		b.Errorf("%s: %s\n%s\n%s", v.ID, v.Help, v.HTML, v.Why)
	}
}

// The pictures of the documentation, with -images.
func TestImages(t *testing.T) {
	if !*images {
		t.Skip("pictures are made by -images")
	}
	daemon := sites[2].at(t)
	b := open(t, sites[0], sites[0].at(t))
	b.visit(sites[0].views[0])
	time.Sleep(70 * time.Second) // charts show a minute
	for _, v := range sites[0].views {
		b.photograph(v, v.name, "")
	}
	jobs := open(t, sites[2], daemon)
	jobs.photograph(sites[2].views[0], "executord", "")
	jobs.scheme("dark")
	jobs.photograph(sites[2].views[0], "executord-dark", "")
	jobs.scheme("light")
	jobs.photographAt(sites[2].views[0], "executord-phone", "", 360)
	pages := open(t, sites[1], sites[1].at(t))
	pages.photograph(uiViews[0], "home", "")
	for _, v := range uiViews {
		if v.name == "graph" || v.name == "steps" {
			pages.photograph(v, v.name, "#"+v.name)
		}
	}
}

// photograph writes a picture of a page, or of the part that a selector names, which is as high as it needs to be.
func (b *tab) photograph(v view, name, selector string) {
	b.Helper()
	b.photographAt(v, name, selector, 900)
}

// photographAt is photograph in a window of another width.
func (b *tab) photographAt(v view, name, selector string, width int64) {
	b.Helper()
	b.visit(v)
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 300, DeviceScaleFactor: 1, Mobile: width < 600,
	})
	shot := chromedp.FullScreenshot(100)
	if selector != "" {
		shot = chromedp.Screenshot(selector)
	}
	write(b, name, run(b, shot))
	call(b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
}

func picture(b *tab, data []byte) image.Image {
	b.Helper()
	i, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		b.Fatal(err)
	}
	return i
}

// pixels counts those that have a color, as CSS writes it, or nearly so.
func pixels(b *tab, i image.Image, color string) (n int) {
	b.Helper()
	m := regexp.MustCompile(`^rgb\((\d+), (\d+), (\d+)\)$`).FindStringSubmatch(color)
	if m == nil {
		b.Fatalf("the color is %q", color)
	}
	var want [3]int
	for k := range want {
		want[k], _ = strconv.Atoi(m[k+1])
	}
	for y := i.Bounds().Min.Y; y < i.Bounds().Max.Y; y++ {
		for x := i.Bounds().Min.X; x < i.Bounds().Max.X; x++ {
			red, green, blue, _ := i.At(x, y).RGBA()
			near := true
			for k, c := range []uint32{red, green, blue} {
				near = near && max(int(c>>8)-want[k], want[k]-int(c>>8)) <= 40
			}
			if near {
				n++
			}
		}
	}
	return n
}

// write writes a picture of the documentation.
func write(b *tab, name string, data []byte) {
	b.Helper()
	var small bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, picture(b, data)); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("../../docs/images", name+".png"), small.Bytes(), 0o666); err != nil {
		b.Fatal(err)
	}
}

// checkPrint checks that a page is printed on white, without what can be clicked only, also by a reader of dark pages.
func checkPrint(b *tab, v view) {
	print := emulation.SetEmulatedMediaParams{
		Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	}
	call(b, emulation.SetEmulatedMedia, print)
	eval[int](b, `document.documentElement.dataset.scheme = 'dark'; 0`)
	if color := eval[string](b, `getComputedStyle(document.body).backgroundColor`); color != "rgb(255, 255, 255)" {
		b.Errorf("the paper is %s", color)
	}
	shown := eval[[]string](b, `[...document.querySelectorAll('header :is(nav, button, a), .filter, .tabs')]
		.filter(e => e.checkVisibility()).map(e => e.outerHTML.slice(0, 80))`)
	for _, html := range shown {
		b.Error(html, "is printed")
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
	eval[int](b, `delete document.documentElement.dataset.scheme; 0`)
}

// checkPhone checks that a page fits the width of a small phone, and fingers: neither it nor what is in it scrolls sideways, but for
// tabs, timelines and graphs; and what is to be hit is 44 pixels high. Charts take a moment to fit.
func checkPhone(b *tab, v view) {
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: 320, Height: 800, DeviceScaleFactor: 1, Mobile: true,
	})
	var wide []string
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		wide = eval[[]string](b, `[document.documentElement, ...document.querySelectorAll('body, body *')]
			.filter(e => e instanceof HTMLElement && e.clientWidth > 0 && getComputedStyle(e).display !== 'inline')
			.filter(e => e.scrollWidth > (e === document.documentElement ? 320 : e.clientWidth) && !e.closest('#timeline, .graph, header nav')
				&& getComputedStyle(e).textOverflow !== 'ellipsis' && !e.matches('.strip > *')) // what is cut, or goes beyond on purpose
			.map(e => e.tagName + '#' + e.id + ' ' + e.scrollWidth + ' > ' + e.clientWidth)`)
		if len(wide) == 0 {
			break
		}
	}
	for _, w := range wide {
		b.Error(w)
	}
	for _, small := range eval[[]string](b, `[...document.querySelectorAll('button, .button, .tabs a, .choices a, header nav a, tbody th > a, [data-still] td > a, #needing > a, #attention :is(p, li) > a, summary, select, input:not([type=hidden], [type=checkbox])')]
			.filter(e => e.checkVisibility() && !e.closest('.u-legend') && e.getBoundingClientRect().height < 44).map(e => e.outerHTML.slice(0, 80) + ' ' + e.getBoundingClientRect().height)`) {
		b.Error("it is less than 44 pixels high: ", small)
	}
}

// checkWithoutScripts checks that a page has its data without scripts.
func checkWithoutScripts(b *tab, v view) {
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.do(chromedp.Navigate(b.base + v.path))
	if text := run(b, chromedp.Text(v.data)); !strings.Contains(text, v.has) {
		b.Errorf("%s has %.300q, and not %q", v.data, text, v.has)
	}
}

// The HTML is valid.
func TestPagesValid(t *testing.T) {
	t.Parallel()
	command := need(t, vnu)
	dir := t.TempDir()
	names := make(map[string]string)
	for _, s := range sites {
		base := s.at(t)
		for _, v := range s.views {
			file := filepath.Join(dir, s.name+"-"+v.name+".html")
			names[file] = s.name + "/" + v.name
			if err := os.WriteFile(file, fetch(t, s, base+v.path), 0o600); err != nil {
				t.Fatal(err)
			}
			command = append(command, file)
		}
	}
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

func fetch(t *testing.T, s site, url string) []byte {
	t.Helper()
	ask, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.token != "" {
		ask.Header.Set("Authorization", "Bearer "+s.token)
	}
	r, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d, %v", url, r.StatusCode, err)
	}
	return body
}
