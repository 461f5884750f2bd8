//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/notify"
)

// A monitor gets the start and the end of each run, as success or failure, with the end of the output; and that a run
// has failed is never told as anything else. The pings of a run have its ID.
func TestPingsTellRuns(t *testing.T) {
	t.Parallel()
	got := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.URL.RequestURI() + " " + strings.ReplaceAll(string(body), "\n", "|")
	}))
	defer s.Close()
	uuid := regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	for style, want := range map[string][]string{
		"healthchecks": {"/k/bad/start?create=1&rid=1 ", "/k/bad/fail?create=1&rid=1 exit status 3|out|end", "/k/good/start?create=1&rid=2 ", "/k/good?create=1&rid=2 fine"},
		"cronitor": {
			"/k/bad?create=1&series=1&state=run ", "/k/bad?create=1&message=exit+status+3%0Aout%0Aend&series=1&state=fail exit status 3|out|end",
			"/k/good?create=1&series=2&state=run ", "/k/good?create=1&message=fine&series=2&state=complete fine",
		},
		"success": {"/k/good?create=1 fine"},
	} {
		p := startTOML(t, `
[notify.monitor]
ping = "`+s.URL+`/k/{job}?create=1"
style = "`+style+`"
[[job]]
name = "bad"
schedule = "@reboot"
command = "echo out; echo end; exit 3"
[[job]]
name = "good"
schedule = "@reboot"
command = "echo fine"
`)
		ended := len(p.log)
		p.until("run ended", "job", "bad")
		p.after(ended, "run ended", "job", "good")
		p.end() // what waits is sent
		var all []string
		for len(got) > 0 {
			all = append(all, <-got)
		}
		// by job, in their order
		slices.SortStableFunc(all, func(a, b string) int { return strings.Compare(a[:5], b[:5]) })
		ids := make(map[string]int)
		for i, one := range all {
			if id := uuid.FindString(one); id != "" {
				if ids[id] == 0 {
					ids[id] = len(ids) + 1
				}
				all[i] = strings.Replace(one, id, strconv.Itoa(ids[id]), 1)
			}
		}
		if !slices.Equal(all, want) {
			t.Errorf("%s: got %q, want %q", style, all, want)
		}
	}
}

// A command has the text on its standard input and the rest in its environment, and its answer is kept.
func TestCommandIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := startTOML(t, `
[notify.pager]
command = ["/bin/sh", "-c", 'cat >"$0"/text; env >"$0"/env; echo paged', "`+dir+`"]
[[job]]
name = "bad"
schedule = "@reboot"
command = "echo disk full; exit 3"
`)
	if answer := p.until("notification sent")["answer"]; answer != "exit code 0 paged" {
		t.Errorf("answer %q", answer)
	}
	p.end()
	for file, wants := range map[string][]string{
		"text": {"bad has failed: exit status 3", "disk full"},
		"env":  {"EXECUTORD_KINDS=failed\n", "EXECUTORD_JOBS=bad\n", `EXECUTORD_MESSAGE={"host":`},
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		for _, want := range wants {
			if err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s has no %q: %s, %v", file, want, text, err)
			}
		}
	}
}

// With a store, the limit of a channel counts what was sent before a restart.
func TestLimitOutlivesRestart(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "jobs.db")
	file := write(t, "jobs.toml", `
[notify.pager]
command = ["true"]
limit = 1
[[job]]
name = "bad"
schedule = "@reboot"
command = "exit 3"
`)
	p := startFile(t, file, "--store", store)
	p.until("notification sent")
	p.end()
	p = startFile(t, file, "--store", store)
	p.until("run ended")
	for {
		list := asked(t, store, "notices")
		if len(list) == 2 && (list[0]["held"] != nil || list[0]["outcome"] != notify.Waiting) { // it was looked at
			if list[0]["held"] != "limit" || list[0]["outcome"] != notify.Waiting {
				t.Errorf("the second message does not wait for the limit: %v", list)
			}
			break
		}
	}
	p.end()
}
