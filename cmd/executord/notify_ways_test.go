//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A monitor gets the start and the end of each run, as success or failure, with the end of the output; and that a run
// has failed is never told as anything else.
func TestPingsTellRuns(t *testing.T) {
	t.Parallel()
	got := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.URL.RequestURI() + " " + strings.ReplaceAll(string(body), "\n", "|")
	}))
	defer s.Close()
	for style, want := range map[string][]string{
		"healthchecks": {"/k/bad/start?create=1 ", "/k/bad/fail?create=1 exit status 3|out|end", "/k/good/start?create=1 ", "/k/good?create=1 fine"},
		"cronitor": {
			"/k/bad?create=1&state=run ", "/k/bad?create=1&message=exit+status+3%0Aout%0Aend&state=fail exit status 3|out|end",
			"/k/good?create=1&state=run ", "/k/good?create=1&message=fine&state=complete fine",
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
