package tomlfile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/tomlfile"
)

// Channels are read with their lines, whatever their values are written as.
func TestParseChannels(t *testing.T) {
	f, err := tomlfile.Parse("f", []byte(`[notify.ops]
mail  = ["a@example.org", "root"]
all   = false
limit = 5
on    = "failed"

[notify.hc]
ping = "https://hc-ping.com/{job}"

[[job]]
name = "a"
schedule = "@daily"
command = "x"
notify = ["ops", "hc"]
`))
	if err != nil || len(f.Channels) != 2 || len(f.Notes) > 0 {
		t.Fatalf("%+v, error %v", f, err)
	}
	ops := f.Channels[0]
	if ops.Name != "ops" || ops.File != "f" || ops.Line != 1 || len(ops.Values["mail"]) != 2 || ops.Values["all"][0] != "false" ||
		ops.Values["limit"][0] != "5" || f.Channels[1].Line != 7 || strings.Join(f.Jobs[0].Notify, " ") != "ops hc" {
		t.Errorf("%+v", f)
	}
}

// A channel and a group are found by their names, whether an accented letter is one character there, or two.
func TestParseNamesAreCanonical(t *testing.T) {
	f, err := tomlfile.Parse("f", []byte("[notify.\"cafe\u0301\"]\nmail = \"a@example.org\"\n[group.\"cafe\u0301\"]\nlimit = 2\n"+
		"[[job]]\nname = \"a\"\nschedule = \"@daily\"\ncommand = \"x\"\nnotify = \"caf\u00e9\"\ngroup = \"caf\u00e9\"\n"))
	if err != nil || len(f.Channels) != 1 || f.Channels[0].Name != "caf\u00e9" || f.Jobs[0].Notify[0] != "caf\u00e9" ||
		f.Groups[0].Name != f.Jobs[0].Group {
		t.Errorf("%+v, error %v", f, err)
	}
	if f, err = tomlfile.Parse("f", []byte("[notify.\"cafe\u0301\"]\nmail = 1\n[[job]]\nnotify = \"cafe\u0301\"\n")); err == nil ||
		f.Named[0] != "caf\u00e9" || f.Naming[0].Notify[0] != f.Named[0] {
		t.Errorf("with mistakes: %+v, error %v", f, err)
	}
}

// All mistakes of a channel are reported at once, each key's once.
func TestParseReportsEachMistakeOfChannel(t *testing.T) {
	_, err := tomlfile.Parse("f", []byte(`[notify.a]
mail = 'x@y'
on = ['fail', 'recover']
digest = '1'
limit = 'x'
preset = 'slack'
tls = 'ssl'
quiet = '7-8'

[notify.b]
webhook = 'h'
late = 'never'
`))
	var lines []int
	for _, m := range err.(job.Mistakes) {
		lines = append(lines, m.Line)
	}
	slices.Sort(lines)
	if want := []int{3, 4, 5, 6, 7, 8, 12}; !slices.Equal(lines, want) { // the URL is looked at when the rest is right
		t.Errorf("mistakes in lines %v, want %v:\n%v", lines, want, err)
	}
}

// What is wrong with a channel is a mistake of its line, and has no URL in it that may be secret.
func TestParseChannelMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"[notify.a]\nmial = 'x@y'": "f:2: unknown key \"mial\"|did you mean mail?",
		"[notify.a]\n":             "f:1: notify.a: the channel has none of mail",
		"[notify.a]\nmail = 'x@y'\nwebhook = 'http://h'":                    "f:3: notify.a: a channel has one target",
		"[notify.a]\nping = 'https://example.org/SECRET'":                   "f:2: notify.a: a ping of this URL would report a failure as a success",
		"[notify.a]\nwebhook = 'example.org/SECRET'":                        "f:2: notify.a: the URL begins with neither https:// nor http://",
		"[notify.a]\nwebhook = 'http://h'\npreset = 'slak'":                 "f:3: notify.a: preset \"slak\" is not one of generic, slack",
		"[notify.a]\nwebhook = 'http://h'\nstyle = 'cronitor'":              "f:3: notify.a: style is not for a channel with webhook",
		"[notify.a]\nmail = 'x@y'\non = ['failed', 'fail']":                 "f:3: notify.a: on \"fail\" is not one of failed, recovered",
		"[notify.a]\nmail = 'x@y'\nquiet = '22-7'":                          "f:3: notify.a: \"22\" is not a time of day|write two times of day",
		"[notify.a]\nmail = 'x@y'\ndigest = 5":                              "f:3: notify.a: digest \"5\" is not a duration|write a number with its unit, such as: digest = \"10m\"",
		"[notify.a]\nmail = 'x@y'\nlimit = 'x'":                             "f:3: notify.a: limit \"x\" is not a number|write digits alone, such as: limit = 10",
		"[notify.a]\nmail = 'x@y'\ntimezone = 'Berlin'":                     "f:3: notify.a: unknown time zone Berlin|write a name of the IANA database",
		"[notify.a]\nwebhook = 'http://h'\ntemplate = '{{.Nope}}'":          "f:2: notify.a: template:",
		"[notify.a]\nmail = ['x@y', 5]":                                     "f:2: a value of mail is a number",
		"[notify.'a b']\nmail = 'x@y'":                                      "f:1: \"a b\" cannot be the name of a channel",
		"notify = 'ops'":                                                    "f:1: notify is text above all jobs, but has to be a table",
		"[notify]\nmail = 'x@y'":                                            "f:2: notify.mail is text, but has to be a table",
		"[notify.a]\nwebhook = 'http://h'\nheaders = 'X-A: 1'":              "f:3: headers is text, but has to be a table|write a table: headers = ",
		"[notify.a]\nwebhook = 'http://h'\nheaders = { X-A = 1 }":           "f:3: header X-A is a number, but has to be text",
		"[notify.a]\nwebhook = 'http://h'\nheaders = { 'X-A: B' = 'x' }":    "f:3: \"X-A: B\" cannot be the name of a header",
		"[notify.a]\nwebhook = 'http://h'\nheaders = { Host = 'SECRET' }":   "f:3: notify.a: the header Host cannot be set",
		"[notify.a]\nwebhook = 'http://h'\nheaders = { A = \"S\\nB: C\" }":  "f:3: notify.a: the value of the header A is not one line",
		"[notify.a]\nwebhook = 'http://h'\nheader_files = { X-A = '' }":     "f:3: notify.a: the header X-A has no file|write a table of files",
		"[notify.a]\nmail = 'x@y'\nheaders = { X-A = 'b' }":                 "f:3: notify.a: headers is not for a channel with mail",
		"[notify.a]\nmail = 'x@y'\nlink = 'cron.example.org'":               "f:3: notify.a: link is not the address of executord's pages|write it as a browser",
		"[notify.a]\nmail = 'x@y'\nlink = 'https://me:pw@h/'":               "f:3: notify.a: link is not the address of executord's pages",
		"[notify.a]\ncommand = []":                                          "f:2: notify.a: the command has no program",
		"[notify.a]\nmail = 'x@y'\nserver = 'h'\ntls = 'none'\nlogin = 'u'": "f:2: notify.a: a password is not sent without TLS",
	} {
		_, err := tomlfile.Parse("f", []byte(text+"\n[[job]]\nname='j'\nschedule='@daily'\ncommand='x'\n"))
		want, hint, _ := strings.Cut(want, "|")
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "hint: "+hint) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
