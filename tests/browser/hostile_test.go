package browser

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Texts that are meant to do harm in a browser: markup, colors of a terminal, a turn of the direction of writing, ends
// of lines that would begin an event of a stream, and what is longer than any page is wide.
const (
	hostileFile   = `<img src=x onerror=window.evil=1>.toml`
	hostileName   = "גיבוי/لیلة"
	hostileReason = "<script>window.evil=1</script>\u202e\x1b[31m\r\n\r\nevent: evil\r\ndata: 1"
)

var hostileJobs = `[[job]]
name = "` + hostileName + `"
schedule = "@every 2s"
command = '''
printf '<script>window.evil=1</script>\033[31mred\033[0m\342\200\256gnp\r\n\r\revent: evil\r\n\000end\n'
head -c 10000 /dev/zero | tr '\0' x
printf '<img src=x onerror=window.evil=1>\342\200\256\revent: evil\r\n' >&2
exit 3'''
[[job]]
name = "` + strings.Repeat("w", 64) + `"
schedule = "@reboot"
progress = true
command = '''
printf '::progress 1/2 <img src=x onerror=window.evil=1>\342\200\256%0300d\n' 7
sleep 1000'''
[[job]]
name = "asks"
schedule = "30 2 * * *"
command = "true"
[job.parameters]
DAY = "today"
`

// hostileViews are the pages of executord, with what runHostile has.
var hostileViews = []view{
	{"jobs", "", uiLive, "main", hostileFile, "#jobs", "", "", ""},
	{"job", "job?name=" + url.QueryEscape(hostileName), uiLive, "main", "<script>", "", "", "", ""},
	{"run", "run?job=" + url.QueryEscape(hostileName) + "&run=1", `document.querySelector('#output li.err') !== null`, "#output",
		"<script>window.evil=1</script>", "", "", "", ""},
	{"runs", "runs", uiLive, "#runs", "<img src=x", ".at", "", "", ""},
	{"schedules", "schedules", uiLive, "#schedules", hostileName, "#schedules", "", "", ""},
	{"acts", "acts", uiLive, "#acts", "<script>window.evil=1</script>", ".at", "", "", ""},
}

// runHostile runs executord with hostile jobs, to one of which something was done for a hostile reason.
func runHostile() (base string, err error) {
	base, err = runDaemon(hostileFile, hostileJobs, hostileName)
	if err != nil {
		return "", err
	}
	form := url.Values{"do": {"run-now"}, "job": {hostileName}, "reason": {hostileReason}}
	ask, err := http.NewRequest(http.MethodPost, base+"act", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	ask.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	ask.Header.Set("Authorization", "Bearer "+daemonToken)
	r, err := http.DefaultClient.Do(ask)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", r.Request.URL, r.Status)
	}
	return base, nil
}

// Hostile texts are text: no script of theirs runs, no element comes of them, they begin no event of a stream, and no
// character of theirs is left that can't be seen. The other checks of pages hold for them, too.
func TestDaemonShowsHostileTexts(t *testing.T) {
	need(t, chromium)
	s := sites[3]
	base := s.at(t)
	for _, v := range s.views {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			b := open(t, s, base)
			b.visit(v)
			if v.clock != "" {
				eval[int](b, `window.html = document.querySelector('main').innerHTML; 0`)
				b.poll(10*time.Second, `document.querySelector('main').innerHTML !== html`)
			}
			if text := eval[string](b, `document.querySelector('`+v.data+`').textContent`); !strings.Contains(text, v.has) {
				t.Errorf("there is no %s: %s", v.has, text)
			}
			for name, script := range map[string]string{
				"a script has run":   `window.evil !== undefined`,
				"an element came":    `document.querySelector('main :is(script, img)') !== null`,
				"the stream ended":   `!!document.body.dataset.events && document.getElementById('live').textContent !== 'live'`,
				"what can't be seen": `/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(document.documentElement.textContent)`,
			} {
				if eval[bool](b, script) {
					t.Error(name)
				}
			}
		})
	}
}
