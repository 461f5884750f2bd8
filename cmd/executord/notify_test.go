package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// notify test sends on each channel, and prints the answers without what is secret; one that is not sent is an error.
func TestNotifyTest(t *testing.T) {
	got := make(chan string, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.URL.Path
		if strings.HasSuffix(r.URL.Path, "BAD") {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "jobs.toml")
	secret := filepath.Join(filepath.Dir(file), "url")
	os.WriteFile(secret, []byte(s.URL+"/SECRETSECRETBAD\n"), 0o600)
	os.WriteFile(file, []byte(`[notify.good]
webhook = "`+s.URL+`/SECRETSECRET"
preset = "slack"

[notify.bad]
webhook = ""
url_file = "`+filepath.ToSlash(secret)+`"

[notify.gone]
webhook = ""
url_file = "/no/such/file"

[[job]]
name = "a"
schedule = "@daily"
command = "true"
notify = "good"
`), 0o600)
	for _, test := range []struct {
		args []string
		code int
		want []string
		sent int
	}{
		{[]string{file, "good"}, 0, []string{"good  200 OK"}, 1},
		{[]string{file}, 1, []string{"good  200 OK", "bad  not sent: 403 Forbidden", "gone  not sent: open /no/such/file", "2 not sent"}, 2},
		{[]string{file, "none"}, 2, []string{`unknown channel "none"; known are: good, bad, gone`}, 0},
		{nil, 2, []string{"notify test needs a job file"}, 0},
	} {
		cmd := executord(t, append([]string{"notify", "test"}, test.args...)...)
		output, _ := cmd.CombinedOutput()
		for _, want := range test.want {
			if !strings.Contains(string(output), want) {
				t.Errorf("%q: no %q in %s", test.args, want, output)
			}
		}
		if code := cmd.ProcessState.ExitCode(); code != test.code || strings.Contains(string(output), "SECRET") {
			t.Errorf("%q: exit code %d: %s", test.args, code, output)
		}
		for range test.sent {
			<-got
		}
	}
}

// Headers of a webhook come from the job file and from files, whose values are read when a message is sent and are
// shown nowhere.
func TestNotifyTestSendsHeaders(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(r.Header.Get("X-Team") + " " + r.Header.Get("Authorization")))
	}))
	defer s.Close()
	secret := write(t, "header", "Bearer SECRET1\n")
	file := write(t, "jobs.toml", `[notify.ops]
webhook      = "`+s.URL+`"
headers      = { X-Team = "shop" }
header_files = { Authorization = "`+filepath.ToSlash(secret)+`" }

[[job]]
name = "a"
schedule = "@daily"
command = "true"
`)
	if out, err, code := output(t, "", "notify", "test", file); code != 0 || out != "ops  200 OK shop ***\n" {
		t.Errorf("exit code %d: %s%s", code, out, err)
	}
	os.Remove(secret)
	if out, _, code := output(t, "", "notify", "test", file); code != exitMistake || !strings.Contains(out, "ops  not sent: open "+secret) {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// A channel that a job names has to be there, in whichever file, and once.
func TestLoadFindsWrongChannels(t *testing.T) {
	dir := t.TempDir()
	tab, toml := filepath.Join(dir, "tab"), filepath.Join(dir, "channels.toml")
	os.WriteFile(tab, []byte("# name: a\n# notify: ops\n@daily true\n"), 0o600)
	os.WriteFile(toml, []byte("[notify.ops]\ncommand = 'true'\n[[job]]\nname='b'\nschedule='@daily'\ncommand='true'\nnotify='opps'\n"), 0o600)
	other := filepath.Join(dir, "other.toml")
	os.WriteFile(other, []byte("[notify.ops]\ncommand = 'true'\n[[job]]\nname='c'\nschedule='@daily'\ncommand='true'\n"), 0o600)
	for _, test := range []struct {
		files []string
		want  string // "" for none
	}{
		{[]string{tab}, `tab:3: a names the channel "ops", which does not exist`},
		{[]string{tab, other}, ""},
		{[]string{toml}, "hint: did you mean ops?"},
		{[]string{other, toml}, `channels.toml:1: the channel "ops" is already in `},
	} {
		output, err := executord(t, append([]string{"check"}, test.files...)...).CombinedOutput()
		if (err == nil) != (test.want == "") || !strings.Contains(string(output), test.want) {
			t.Errorf("%q: %s", test.files, output)
		}
	}
}

// A channel that is not there is told together with other mistakes, in the order of the lines, unless it may be there:
// in a file that could not be read to its end.
func TestLoadFindsWrongChannelsAtOnce(t *testing.T) {
	const wrong = "names the channel"
	for _, test := range []struct {
		name, text string
		want       []string // the lines of the mistakes, and what each says
	}{
		{"tab", "# name: a\n# notify: ops\n@daily true\n# notify: pager\n61 * * * * true\n@daily\n",
			[]string{":3: a " + wrong, `:5: minute "61"`, ":5: the job " + wrong, ":6: "}},
		{"jobs.toml", "[[job]]\nname='a'\nschedule='@daily'\ncommand='true'\nnotify='ops'\ntimeout='x'\n[notify.pager]\nmail='x'\nlimit=-1\n",
			[]string{":1: a " + wrong, ":6: ", ":9: "}},
		{"jobs.toml", "[[job]]\nname='a'\nschedule='@daily'\ncommand='true'\nnotify='ops'\n[notify.ops]\nmail='x'\nlimit=-1\n", []string{":8: "}},
		{"jobs.toml", "[[job]]\nname='a'\nschedule='@daily'\ncommand='true'\nnotify='ops'\n[notify.ops\nmail='x'\n", []string{":6: "}},
	} {
		file := write(t, test.name, test.text)
		_, stderr, code := output(t, "", "check", file)
		var told []string
		for text := range strings.Lines(stderr) {
			if rest, ok := strings.CutPrefix(text, file); ok && !strings.Contains(rest, ": note: ") {
				told = append(told, rest)
			}
		}
		right := code == exitMistake && len(told) == len(test.want)
		for i := range min(len(told), len(test.want)) {
			right = right && strings.HasPrefix(told[i], test.want[i])
		}
		if !right {
			t.Errorf("%q: exit code %d, told %q, want %q", test.text, code, told, test.want)
		}
	}
}
