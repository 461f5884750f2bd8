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
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var images = flag.Bool("images", false, "write the pictures of docs/images")

// axe finds no violation of WCAG and of its own best practices, in both color schemes.
func TestPagesAccessible(t *testing.T) {
	script := need(t, axe)
	views(t, func(b *tab, v view) {
		for _, scheme := range schemes {
			b.scheme(scheme)
			b.visit(v)
			eval[int](b, script+";0")
			var r struct {
				Passes     int
				Violations []struct{ ID, Help, HTML, Why string }
			}
			result := eval[string](b, `axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})
				.then(r => JSON.stringify({passes: r.passes.length, violations: r.violations.map(v => ({
					id: v.id, help: v.help, html: v.nodes[0].html.slice(0, 200), why: v.nodes[0].failureSummary}))}))`)
			if err := json.Unmarshal([]byte(result), &r); err != nil {
				b.Fatal(err)
			}
			if r.Passes < 20 {
				b.Errorf("%s: only %d rules of axe apply", scheme, r.Passes)
			}
			for _, v := range r.Violations {
				b.Errorf("%s: %s: %s\n%s\n%s", scheme, v.ID, v.Help, v.HTML, v.Why)
			}
		}
	})
}

// Charts are painted in their color, which is another one in each color scheme.
func TestPagesPaintCharts(t *testing.T) {
	views(t, func(b *tab, v view) {
		if v.chart == "" {
			return
		}
		if *images && v.path == "" {
			b.visit(v)
			time.Sleep(70 * time.Second) // charts show a minute
		}
		colors := make(map[string]bool)
		for _, scheme := range schemes {
			b.scheme(scheme)
			b.visit(v)
			b.poll(10*time.Second, `document.querySelector('`+v.shape+`') !== null`)
			color := eval[string](b, `getComputedStyle(document.querySelector('`+v.shape+`')).`+v.paint)
			colors[color] = true
			picture := picture(b, run(b, chromedp.Screenshot(v.chart)))
			if n := pixels(b, picture, color); n < 5 {
				b.Errorf("%s: %d pixels of %s have the color %s", scheme, n, v.chart, color)
			}
			if *images && scheme == "light" {
				call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
					Width: 900, Height: 300, DeviceScaleFactor: 1, // the page is as high as it needs to be
				})
				write(b, v.name, run(b, chromedp.FullScreenshot(100)))
				call(b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
			}
		}
		if len(colors) != len(schemes) {
			b.Errorf("the colors of charts are %v in the schemes %v", colors, schemes)
		}
	})
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

// A page fits the width of a small phone: neither it nor what is in it scrolls sideways, but for
// timelines.
func TestPagesFitPhones(t *testing.T) {
	views(t, func(b *tab, v view) {
		call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: 320, Height: 800, DeviceScaleFactor: 1, Mobile: true,
		})
		b.visit(v)
		wide := eval[[]string](b, `[document.documentElement, ...document.querySelectorAll('body, body *')]
			.filter(e => e instanceof HTMLElement && e.clientWidth > 0 && getComputedStyle(e).display !== 'inline')
			.filter(e => e.scrollWidth > (e === document.documentElement ? 320 : e.clientWidth) && !e.closest('#timeline'))
			.map(e => e.tagName + '#' + e.id + ' ' + e.scrollWidth + ' > ' + e.clientWidth)`)
		for _, w := range wide {
			b.Error(w)
		}
	})
}

// A page has its data without scripts.
func TestPagesWithoutScripts(t *testing.T) {
	views(t, func(b *tab, v view) {
		call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		b.do(chromedp.Navigate(b.base + v.path))
		if text := run(b, chromedp.Text(v.data)); !strings.Contains(text, v.has) {
			b.Errorf("%s has %.300q, and not %q", v.data, text, v.has)
		}
	})
}

// A page is live within a second after it was loaded, and changes with each update.
func TestPagesLive(t *testing.T) {
	views(t, func(b *tab, v view) {
		for try := 1; ; try++ { // a busy machine may be late once
			b.do(chromedp.Navigate(b.base + v.path))
			_, err := chromedp.Run(b.ctx, chromedp.Poll[bool](v.live, chromedp.WithPollingTimeout(time.Second)))
			if err == nil {
				break
			}
			if try == 3 {
				b.Fatalf("three times the page was not live within a second: %v", err)
			}
		}
		text := eval[string](b, `document.querySelector('`+v.clock+`').textContent`)
		b.poll(5*time.Second, `document.querySelector('`+v.clock+`').textContent !== `+strconv.Quote(text))
	})
}

// What a reader has selected or has in focus outlives an update.
func TestPagesKeepFocus(t *testing.T) {
	views(t, func(b *tab, v view) {
		b.visit(v)
		eval[int](b, `{
			const link = document.querySelector('main a, main [tabindex]')
			if (link) link.focus()
			window.focused = link
			window.cell = document.querySelector('`+v.data+`')
			window.clock = document.querySelector('`+v.clock+`').textContent
		}; 0`)
		b.poll(5*time.Second, `document.querySelector('`+v.clock+`').textContent !== clock`)
		if !eval[bool](b, `cell.isConnected && (!focused || document.activeElement === focused)`) {
			b.Error("an update has replaced what was there")
		}
	})
}

// The HTML is valid.
func TestPagesValid(t *testing.T) {
	command := need(t, vnu)
	dir := t.TempDir()
	names := make(map[string]string)
	for _, s := range sites {
		base := s.start(t)
		for _, v := range s.views {
			file := filepath.Join(dir, s.name+"-"+v.name+".html")
			names[file] = s.name + "/" + v.name
			if err := os.WriteFile(file, fetch(t, base+v.path), 0o600); err != nil {
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

func fetch(t *testing.T, url string) []byte {
	t.Helper()
	r, err := http.Get(url)
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
