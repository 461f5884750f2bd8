package roles_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/roles"
)

const ann, bob = "correct-horse-battery-staple", "another-horse-battery-staple"

// A file has one token, which may all, or a line for each.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		ann + "\n":                     " operate",
		"\n# mine\n  " + ann:           " operate",
		"ann operate " + ann:           "ann operate",
		"ann\tview \t " + ann + "\r\n": "ann view",
		"# name role token\nann operate " + ann + "\n\n  # looks\ncron/grafana view " + bob + "\n": "ann operate, cron/grafana view",
	} {
		tokens, err := roles.Parse([]byte(text))
		var got []string
		for _, one := range tokens {
			got = append(got, one.Name+" "+string(one.Role))
		}
		if err != nil || strings.Join(got, ", ") != want {
			t.Errorf("%q: %q, error %v; want %s", text, got, err, want)
		}
		if found, ok := tokens.Find(ann); !ok || found.Name != tokens[0].Name {
			t.Errorf("%q: the token is that of %+v, %v", text, found, ok)
		}
		if _, ok := tokens.Find(ann + "x"); ok {
			t.Errorf("%q: another text is a token", text)
		}
	}
}

// An error says where and what to write, and nothing of a token.
func TestParseErrorsHideTokens(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "the file has no token",
		"# ann operate " + ann:           "the file has no token",
		"short":                          "line 1: a token is one word of 16 characters or more",
		ann + "é":                        "line 1: a token is one word",
		"ann operate short":              "line 1: a token is one word",
		ann + " " + bob:                  "line 1: it has 2 words; write NAME ROLE TOKEN",
		"ann operate " + ann + " " + bob: "line 1: it has 4 words",
		ann + "\n" + bob:                 "line 2: a token without a name has to be alone",
		ann + "\nbob view " + bob:        "line 2: a token without a name has to be alone",
		"bob view " + bob + "\n" + ann:   "line 2: a token without a name has to be alone",
		ann + " operate " + bob + "x\n" + ann + " view " + ann: "line 2: the name ",
		"ann admin " + ann: "line 1: the second word is no role; it must be one of view, operate",
		"an:n view " + ann: "line 1: the first word cannot be a name",
		"\n\nann view " + ann + "\nann operate " + bob: "line 4: the name ann is used twice",
		"ann view " + ann + "\nbob operate " + ann:     "line 2: ann and bob have the same token",
		strings.Repeat("x", roles.MaxSize+1):           "the file is larger than 64 KiB",
	} {
		tokens, err := roles.Parse([]byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) || tokens != nil || strings.Contains(err.Error(), bob) {
			t.Errorf("%.60q: %v, error %v; want %s", text, tokens, err, want)
		}
	}
	var many strings.Builder
	for i := range 501 {
		fmt.Fprintf(&many, "n%d view correct-horse-battery-%d\n", i, i)
	}
	if _, err := roles.Parse([]byte(many.String())); err == nil || !strings.HasPrefix(err.Error(), "line 501: a file has at most 500 tokens") {
		t.Errorf("error %v", err)
	}
}

// Who asks a daemon has a file with one token.
func TestOnly(t *testing.T) {
	for text, want := range map[string]string{
		ann: ann, ann + "\n": ann, "# mine\nann view " + ann + "\n": ann, "ann view " + ann + "\nbob view " + bob: "", "x": "",
	} {
		got, err := roles.Only([]byte(text))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, error %v", text, got, err)
		}
	}
}

// Of any file there are tokens that are found by their texts, each of another name, or an error without a word of it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{ann, "ann view " + ann + "\nbob operate " + bob, "# x\n\n" + ann, "\ufeff", "a b c d", "a view \x00" + ann} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tokens, err := roles.Parse(data)
		if err != nil {
			if tokens != nil || strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
				t.Fatalf("%v, error %q", tokens, err)
			}
			return
		}
		names := make(map[string]bool)
		for _, one := range tokens {
			if names[one.Name] || one.Role != roles.View && one.Role != roles.Operate || one.Name == "" && (len(tokens) > 1 || one.Role != roles.Operate) {
				t.Fatalf("%+v", tokens)
			}
			names[one.Name] = true
		}
		if text, err := roles.Only(data); err == nil {
			if found, ok := tokens.Find(text); !ok || found != tokens[0] {
				t.Fatalf("%q is the token of %+v, %v", text, found, ok)
			}
		}
	})
}
