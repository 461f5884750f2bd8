package tomlfile

import (
	"slices"
	"strings"
	"testing"
)

// A job with a url runs executord itself, with the body on its standard input.
func TestParseRequest(t *testing.T) {
	f, err := Parse("tab", []byte(`
[[job]]
name = "a"
schedule = "@daily"
url = "https://shop.example/x"
method = "PUT"
headers = { Accept = "text/plain", Authorization = "Bearer $TOKEN" }
body = "{}"
expect = "200,404"
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"executord", "http", "--method", "PUT", "--header", "Accept: text/plain", "--header", "Authorization: Bearer $TOKEN",
		"--expect", "200,404", "--", "https://shop.example/x"}
	if c := f.Jobs[0].Command; !slices.Equal(c.Args, want) || c.Stdin != "{}" || c.Shell != "" {
		t.Errorf("%+v, want %q", c, want)
	}
}

// A request is a job's only work, and its keys need a url.
func TestParseRequestMistakes(t *testing.T) {
	const least = "[[job]]\nname = 'a'\nschedule = '@daily'\n"
	for text, want := range map[string]string{
		"url = 'https://a'\ncommand = 'x'\n":       "tab:5: a job with a url cannot have command",
		"url = 'https://a'\nstdin = 'x'\n":         "tab:5: a job with a url cannot have stdin",
		"command = 'x'\nmethod = 'PUT'\n":          "tab:5: method is for a job with a url",
		"url = 'shop'\n":                           `tab:4: "shop" is not an HTTP URL; write it as https://shop.example/refresh`,
		"url = 5\n":                                "tab:4: url is a number, but has to be text",
		"url = 'https://a'\nheaders = 'A: b'\n":    "tab:5: headers is text",
		"url = 'https://a'\nheaders = { A = 1 }\n": "tab:5: header A is a number, but has to be text",
		"url = 'https://a'\nexpect = 'ok'\n":       `tab:4: "ok" is not an HTTP status code`,
		"":                                         "tab:1: the job has no command",
	} {
		_, err := Parse("tab", []byte(least+text))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Count(err.Error(), "tab:") > 1 {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}
