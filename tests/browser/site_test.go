package browser

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// site is a program that serves pages.
type site struct {
	name  string
	start func() (base string, err error) // starts it once, until the tests are over; base ends in a slash
	views []view
	token string       // that requests must have, "" for none
	enter func(b *tab) // opens a session, nil where there is none
}

// view is a page.
type view struct {
	name  string
	path  string // after the base
	live  string // a script that is true once the page is kept up to date
	data  string // a selector of an element with data that are there without scripts
	has   string // a text that is in it
	clock string // a selector of an element whose text changes with each update
	chart string // a selector of charts; "" for none
	paint string // the property of their shapes that has the color: fill or stroke
	shape string // a selector of a shape
}

const debugLive = `document.getElementById('live')?.textContent === 'live'`

// sites are all that are tested.
var sites = []site{{
	name:  "debug",
	start: sync.OnceValues(runObserved),
	views: []view{
		{"overview", "", debugLive, "#pools", "thumbnails", ".at", "td svg", "stroke", "td svg polyline"},
		{"pool", "pool?id=1", debugLive, "#workers", "resize", ".at", ".bars", "fill", ".bars rect"},
		{"schedules", "schedules", debugLive, "#schedules", "weekly report", ".at", ".lanes", "stroke", ".lanes path"},
	},
}, {
	name: "ui", start: sync.OnceValues(runUI), views: uiViews,
}, {
	name: "executord", views: daemonViews, token: daemonToken, enter: logIn,
	start: sync.OnceValues(func() (string, error) { return runDaemon("jobs.crontab", daemonJobs, "failing") }),
}, {
	name: "hostile", start: sync.OnceValues(runHostile), views: hostileViews, token: daemonToken, enter: logIn,
}}

// at returns where the pages of a site are.
func (s site) at(t *testing.T) (base string) {
	t.Helper()
	base, err := s.start()
	if err != nil {
		t.Fatal(err)
	}
	return base
}

// ends are called after all tests.
var ends struct {
	sync.Mutex
	all []func()
}

// atEnd has f called after all tests.
func atEnd(f func()) {
	ends.Lock()
	defer ends.Unlock()
	ends.all = append(ends.all, f)
}

// build builds a program of this repository, into a directory of its own that is removed after all tests.
func build(name string) (program, dir string, err error) {
	dir, err = os.MkdirTemp("", path.Base(name))
	if err != nil {
		return "", "", err
	}
	atEnd(func() { os.RemoveAll(dir) })
	program = filepath.Join(dir, path.Base(name))
	build := exec.Command("go", "build", "-o", program, "github.com/executor-go/executor/"+name)
	if out, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, dir, nil
}

// runObserved runs examples/observed.
func runObserved() (base string, err error) {
	program, _, err := build("examples/observed")
	if err != nil {
		return "", err
	}
	cmd := exec.Command(program)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	atEnd(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("observed ended: %w", err)
	}
	return strings.TrimSpace(line), nil
}
