//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// run-now gives parameters to one run: its command, or its request, has them as variables. The history, the log and the
// audit log show them. What is not declared or not allowed is refused, and nothing is started.
func TestRunNowSetsParameters(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "asked for "+r.URL.Path+"\n")
		}))
		defer server.Close()
		p := startTOML(t, `
[[job]]
name = "report"
schedule = "30 2 * * *"
command = 'echo "day $DAY, region $REGION"'
parameters = { DAY = { default = "today", pattern = 'today|\d{4}-\d\d-\d\d' }, REGION = { default = "eu", values = ["eu", "us"] } }

[[job]]
name = "fetch"
schedule = "30 2 * * *"
url = '`+server.URL+`/$PAGE'
parameters.PAGE = "index"

[[job]]
name = "plain"
schedule = "30 2 * * *"
command = "true"
`, "--store", store)
		p.until("job scheduled", "job", "plain")

		wantAnswer(t, store, 1, `executord: job report: there is no parameter "DYA"; did you mean DAY?`, "run-now", "report", "--set", "DYA=x")
		wantAnswer(t, store, 1, `executord: job report: REGION "uk" is not one of eu, us; did you mean us?`, "run-now", "report", "--set", "REGION=uk")
		wantAnswer(t, store, 1, `executord: job report: DAY "2026-11-27; id" does not match the pattern today|\d{4}-\d\d-\d\d`, "run-now", "report", "--set", "DAY=2026-11-27; id")
		wantAnswer(t, store, 1, `executord: job plain: there is no parameter "DAY": the job declares none`, "run-now", "report", "plain", "--set", "DAY=2026-11-27")
		if all := asked(t, store, "runs"); len(all) != 0 {
			t.Errorf("there are runs: %v", all)
		}

		wantAnswer(t, store, 0, "report: due now, with DAY=2026-11-27, REGION=us\n", "run-now", "report", "--set", "REGION=us", "--set", "DAY=2026-11-27")
		p.until("run started", "job", "report", "with", "DAY=2026-11-27, REGION=us")
		p.until("day 2026-11-27, region us")
		p.until("run ended", "job", "report", "outcome", "ok")
		untilState(t, store, "report", "waiting")
		wantAnswer(t, store, 0, "report: due now\n", "run-now", "report")
		p.until("day today, region eu")
		p.until("run ended", "job", "report", "outcome", "ok")
		wantAnswer(t, store, 0, "fetch: due now, with PAGE=news\n", "run-now", "fetch", "--set", "PAGE=news")
		p.until("asked for /news")
		p.until("run ended", "job", "fetch", "outcome", "ok")
		p.end()

		runs := asked(t, store, "runs", "report")
		if given, _ := runs[1]["parameters"].(map[string]any); len(runs) != 2 || runs[0]["parameters"] != nil ||
			len(given) != 2 || given["DAY"] != "2026-11-27" || given["REGION"] != "us" {
			t.Errorf("%v", runs)
		}
		if text, _, code := output(t, "", "runs", "--store", store); code != 0 || !strings.Contains(text, "  WITH  ") ||
			!strings.Contains(text, "  DAY=2026-11-27, REGION=us  ") {
			t.Errorf("exit code %d\n%s", code, text)
		}
		if acts := asked(t, store, "acts"); acts[len(acts)-1]["answer"] != "due now, with DAY=2026-11-27, REGION=us" {
			t.Errorf("%v", acts)
		}
	})
}

// --set is completed by the parameters of the job, and by the values that it may have.
func TestCompletionOfParameters(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	p := startTOML(t, "[[job]]\nname = 'a'\nschedule = '@daily'\ncommand = 'true'\n"+
		"parameters = { DAY = 'today', REGION = { default = 'eu', values = ['eu', 'us'] } }\n", "--store", store)
	p.until("job scheduled")
	for line, want := range map[string]string{
		"run-now --store " + store + " a --set ":        "DAY= REGION=",
		"run-now --store " + store + " a --set REGION=": "REGION=eu REGION=us",
		"run-now --store " + store + " a --set DAY=":    "DAY=today",
		"run-now --store " + store + " a --set NONE=":   "",
		"run-now --store " + store + " --set ":          "",
		"run-now --store " + store + " none --set ":     "",
	} {
		if got, files := completions(t, strings.Split(line, " ")...); got != want || files {
			t.Errorf("%s: %q, files %v; want %q", line, got, files, want)
		}
	}
	p.end()
}

// A file's parameters are in what check prints as JSON.
func TestCheckJSONHasParameters(t *testing.T) {
	t.Parallel()
	file := write(t, "jobs.toml", "[[job]]\nname = 'a'\nschedule = '@daily'\ncommand = 'true'\nparameters.DAY = 'today'\n")
	out, _, code := output(t, "", "check", "--json", file)
	if code != 0 || !strings.Contains(strings.Join(strings.Fields(out), ""), `"parameters":[{"name":"DAY","default":"today"}]`) {
		t.Errorf("exit code %d: %s", code, out)
	}
}
