package browser

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

const daemonToken = "a-token-for-tests-of-pages"

// daemonJobs are the jobs of the daemon whose pages are looked at.
const daemonJobs = `# name: failing
@every 2s printf "\033[31mred\033[0m\nplain\n"; echo "this one fails" >&2; exit 3
# name: often
@every 1s echo "<b>markup</b>"
# name: talks
@every 1s for i in $(seq 100000); do echo "line $i"; sleep 0.2; done
# name: nightly
30 2 * * * echo good night
`

// daemonViews are the pages of executord, with what startDaemon has.
var daemonViews = []view{
	{"jobs", "", uiLive, "#jobs", "failing", "#jobs", "", "", ""},
	{"job", "job?name=often", uiLive, "#runs", "ok", "#runs", "", "", ""},
	{"run", "run?job=failing&run=1", `document.querySelector('#output li.err') !== null`, "#output", "this one fails", "",
		"#output", "color", "#output .c1"},
	{"schedules", "schedules", uiLive, "#schedules", "often", "#schedules", ".lanes", "stroke", ".lanes .ok"},
	{"runs", "runs", uiLive, "#runs", "failing", ".at", "", "", ""},
	{"nodes", "nodes", uiLive, "#nodes", "Drain…", ".at", "", "", ""},
	{"act", "act?do=run-now&job=often", `document.getElementById('reason') !== null`, "main", "due at once", "", "", "", ""},
	{"failing", "job?name=failing", uiLive, "#attention", "this one fails", "", "", "", ""},
	{"found", "?find=failing&sort=-last", uiLive, "#jobs", "failing", "#jobs", "", "", ""},
	{"notices", "notices", uiLive, "main", "Nobody is notified", "", "", "", ""},
	{"login", "login", `document.querySelector('[name=token]') !== null`, "main", "--token-file", "", "", "", ""},
}

// runDaemon runs executord with jobs, until a run of that called failing has ended.
func runDaemon(name, text, failing string) (base string, err error) {
	program, dir, err := executord()
	if err != nil {
		return "", err
	}
	token := filepath.Join(dir, "token")
	err = errors.Join(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600),
		os.WriteFile(token, []byte(daemonToken), 0o600))
	if err != nil {
		return "", err
	}
	cmd := exec.Command(program, "run", "--log", "json", "--listen", "127.0.0.1:0", "--token-file", token,
		"--actions", "--drain-timeout", "1ms", "--kill-after", "100ms", "--keep-runs", "10000", name)
	cmd.Dir = dir
	log, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return "", err
	}
	atEnd(func() { cmd.Process.Signal(syscall.SIGTERM); cmd.Wait() })
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		var line struct{ Msg, Job, At string }
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		if line.Msg == "listening" {
			base = line.At
		}
		if line.Msg == "run ended" && line.Job == failing && base != "" {
			go func() {
				for lines.Scan() { // so that the daemon goes on
				}
			}()
			return base, nil
		}
	}
	return "", errors.New("executord has ended")
}

var built struct {
	sync.Once
	program, dir string
	err          error
}

// executord builds the program once.
func executord() (program, dir string, err error) {
	built.Do(func() { built.program, built.dir, built.err = build("cmd/executord") })
	return built.program, built.dir, built.err
}

// logIn opens a session by the form.
func logIn(b *tab) {
	b.do(chromedp.Navigate(b.base))
	b.do(chromedp.SendKeys("[name=token]", daemonToken), chromedp.Submit("[name=token]"))
	b.poll(10*time.Second, `document.getElementById('jobs') !== null`)
}

// From the first page to the output of a job that fails there is a click.
func TestDaemonLeadsToOutput(t *testing.T) {
	t.Parallel()
	need(t, chromium)
	b := open(t, sites[2], sites[2].at(t))
	b.visit(daemonViews[0])
	b.do(chromedp.Click("#needing a[href*='job=failing']"))
	b.poll(10*time.Second, `document.getElementById('output')?.textContent.includes('this one fails')`)
}

// The rows of a list of 1,000 jobs keep their places and their height while jobs run, fail and recover, and each job is
// reached.
func TestDaemonRowsStandStill(t *testing.T) {
	t.Parallel()
	need(t, chromium)
	var tab strings.Builder
	for i := range 12 {
		// Four runs in a row fail, and four do not: it is failing, and then flaky.
		fmt.Fprintf(&tab, "# name: group%d/job%02[2]d\n@every 1s echo >>runs%[2]d; [ $(( ($(wc -l <runs%[2]d) + %[2]d) \\%% 8 )) -lt 4 ]\n", i%3, i)
	}
	tab.WriteString("# name: failing\n@every 2s exit 3\n")
	for i := range 1000 - 13 {
		fmt.Fprintf(&tab, "# name: rest/job%03d\n30 2 * * * true\n", i)
	}
	base, err := runDaemon("still.crontab", tab.String(), "failing")
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, sites[2], base)
	b.visit(view{"jobs", "", uiLive, "#jobs", "failing", "#jobs", "", "", ""})
	b.poll(20*time.Second, `document.querySelectorAll('#jobs tr[id^=j]').length === 100`)
	eval[int](b, `window.moved = []
		window.places = () => [...document.querySelectorAll('#jobs tr[id^=j]')].map(tr => tr.id + ' ' + tr.offsetTop + ' ' + tr.offsetHeight).join()
		window.first = places()
		window.texts = new Set()
		new MutationObserver(() => { texts.add(document.getElementById('jobs').textContent); if (places() !== first) moved.push(places()) })
			.observe(document.getElementById('main'), {subtree: true, childList: true, characterData: true, attributes: true}); 0`)
	b.poll(30*time.Second, `texts.size > 12`)
	if moved := eval[[]string](b, `moved`); len(moved) > 0 {
		t.Errorf("in %d updates rows moved %d times: from\n%s\nto\n%s", eval[int](b, `texts.size`), len(moved), eval[string](b, `first`), moved[0])
	}
	if n := eval[int](b, `document.querySelectorAll('#jobs tr[id^=j]').length`); n != 100 {
		t.Errorf("the page has %d jobs", n)
	}
	b.do(chromedp.Navigate(b.base + "?page=10"))
	b.poll(10*time.Second, `document.querySelector('.pages')?.textContent.includes('901 to 1000 of 1000')`)
	b.do(chromedp.Navigate(b.base + "?find=group1+job"))
	b.poll(10*time.Second, `document.querySelectorAll('#jobs tr[id^=j]').length === 4`)
}

// A run is shown while it writes, without a script, and its lines can be searched.
func TestDaemonFollowsRun(t *testing.T) {
	t.Parallel()
	need(t, chromium)
	b := open(t, sites[2], sites[2].at(t))
	lines := `document.querySelectorAll('#output li').length`
	call(b, page.Navigate, page.NavigateParams{URL: b.base + "run?job=talks&run=1"})
	b.poll(10*time.Second, lines+` > 0`)
	n := eval[int](b, lines)
	b.poll(10*time.Second, lines+` > `+string(rune('0'+min(n, 9))))
	call(b, page.Navigate, page.NavigateParams{URL: b.base + "run?job=talks&run=1&find=LINE+2"})
	b.poll(10*time.Second, `location.search.includes('find') && `+lines+` > 0`)
	if text := eval[string](b, `document.getElementById('output').textContent`); strings.Contains(text, "line 1") {
		t.Errorf("lines that do not have what is searched for: %s", text)
	}
}

// An action is confirmed with a reason, by a form.
func TestDaemonActs(t *testing.T) {
	t.Parallel()
	need(t, chromium)
	b := open(t, sites[2], sites[2].at(t))
	for _, do := range []string{"Pause", "Resume"} {
		b.do(chromedp.Navigate(b.base + "job?name=nightly"))
		find := `[...document.querySelectorAll("main a[href^='act?']")].find(a => a.textContent.includes('` + do + `'))`
		b.poll(10*time.Second, find+` !== undefined`)
		eval[int](b, find+`.click(); 0`)
		b.poll(10*time.Second, `document.getElementById('reason') !== null`)
		b.do(chromedp.SendKeys("#reason", "a test"), chromedp.Submit("#reason"))
		b.poll(10*time.Second, `document.querySelector('main')?.textContent.includes('It is done.')`)
		if do == "Pause" {
			b.do(chromedp.Navigate(b.base + "job?name=nightly"))
			b.poll(10*time.Second, `document.getElementById('hold')?.textContent.includes('a test')`)
		}
	}
}

// A node is drained by the form, from a page that was updated since it was loaded, and undrained without scripts.
func TestDaemonDrainsNode(t *testing.T) {
	t.Parallel()
	need(t, chromium)
	base, err := runDaemon("drained.crontab", "# name: failing\n@every 2s exit 3\n", "failing")
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, sites[2], base)
	b.do(chromedp.Navigate(b.base + "nodes"))
	b.poll(10*time.Second, uiLive)
	eval[int](b, `window.clock = document.querySelector('.at').textContent; 0`)
	b.poll(10*time.Second, `document.querySelector('.at').textContent !== clock`)
	act := func(do string) {
		eval[int](b, `document.querySelector("#nodes a[href^='act?do=`+do+`']").click(); 0`)
		b.poll(10*time.Second, `document.getElementById('reason') !== null`)
		b.do(chromedp.SendKeys("#reason", "a test"), chromedp.Submit("#reason"))
		b.poll(10*time.Second, `document.querySelector('main')?.textContent.includes('Reason: a test')`)
		b.do(chromedp.Navigate(b.base + "nodes"))
	}
	act("drain")
	b.poll(10*time.Second, uiLive)
	b.poll(10*time.Second, `document.querySelector('#nodes .pill.held')?.textContent === 'drained'`)
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.do(chromedp.Navigate(b.base + "nodes"))
	act("undrain")
	if text := run(b, chromedp.Text("#nodes .pill")); text != "takes jobs" {
		t.Errorf("the state is %s", text)
	}
}
