package variables_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/variables"
)

// write makes a file.
func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A line is a name and a value, in the forms that such files have elsewhere.
func TestOfReadsLines(t *testing.T) {
	got, err := variables.Of(write(t, "\ufeff# comment\r\n\nA=1\r\n export B = 'two words' \nC=\"a'b\"\nD=\nE=x # y\nF=$A\nA=2"))
	want := []string{"A=1", "B=two words", "C=a'b", "D=", "E=x # y", "F=$A", "A=2"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, error %v; want %q", got, err, want)
	}
}

// An error says where and what to do, and nothing of a value.
func TestOfErrorsHideValues(t *testing.T) {
	for text, want := range map[string]string{
		"A=1\nhunter2hunter2\n":                  ":2: the line has no =; write NAME=value",
		"hunter2 hunter2=x\n":                    ":1: the text before = is not the name of a variable",
		"A='hunter2hunter2\n":                    ":1: the quoted value of A does not end with its quote",
		"A='hunter2' hunter2\n":                  ":1: the quoted value of A does not end with its quote",
		"A='\n":                                  ":1: the quoted value of A does not end with its quote",
		"A=hunter2\x00\n":                        " has a zero byte",
		"A=" + strings.Repeat("hunter2", 20_000): " is larger than 128 KiB",
	} {
		file := write(t, text)
		env, err := variables.Of(file)
		if err == nil || !strings.HasPrefix(err.Error(), file+want) || strings.Contains(err.Error(), "hunter2") || env != nil {
			t.Errorf("%.30q: %q, error %v; want %s", text, env, err, want)
		}
	}
}

// A value is all of a file but the end of its last line.
func TestValueIsFile(t *testing.T) {
	for text, want := range map[string]string{"a b\n": "a b", "a": "a", "a\r\n": "a", " a \n\n": " a \n", "x\ny\n": "x\ny"} {
		if got, err := variables.Value(write(t, text)); got != want || err != nil {
			t.Errorf("%q: %q, error %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "\n"} {
		if _, err := variables.Value(write(t, text)); err == nil || !strings.Contains(err.Error(), "is empty") {
			t.Errorf("%q: error %v", text, err)
		}
	}
	dir := t.TempDir()
	if _, err := variables.Value(dir); err == nil || err.Error() != dir+" is a directory, and has to be a file" {
		t.Errorf("a directory: error %v", err)
	}
	none := filepath.Join(dir, "none")
	if _, err := variables.Value(none); err == nil || err.Error() != none+" does not exist" {
		t.Errorf("no file: error %v", err)
	}
}

// Values are hidden wherever they stand, longer ones first, and each line of one that has several.
func TestVeilHidesValues(t *testing.T) {
	var veil variables.Veil
	for _, value := range []string{"secret", "secret-longer", "line one\n  line two \n", "short", ""} {
		veil.Add(value)
	}
	for text, want := range map[string]string{
		"a secret, and secret-longer": "a ***, and ***",
		"secretsecret":                "******",
		"line one":                    "***",
		"> line two <":                "> *** <",
		"short is not":                "short is not",
		"":                            "",
	} {
		given := []byte(text)
		if got := string(veil.Hide(given)); got != want || string(given) != text {
			t.Errorf("%q: %q, want %q; given is %q now", text, got, want, given)
		}
	}
}

// Without values nothing is hidden.
func TestVeilZeroHidesNothing(t *testing.T) {
	var veil variables.Veil
	if got := string(veil.Hide([]byte("secret"))); got != "secret" {
		t.Errorf("got %q", got)
	}
}

// Values are hidden in a line that is cut anywhere, as in one that is not.
func TestLineHidesValuesThatAreCut(t *testing.T) {
	var veil variables.Veil
	for _, value := range []string{"secret", "secret-longer", "abcabc", "tres-\u00e4"} {
		veil.Add(value)
	}
	for _, text := range []string{
		"a secret, and secret-longer", "secretsecret-longe", "secret-tres-\u00e4", "abcabc", "x abcabcabc y", "abcab", "secretres-\u00e4", "",
	} {
		want := string(veil.Hide([]byte(text)))
		for first := range len(text) + 1 {
			for second := first; second <= len(text); second++ {
				line := variables.Line{Veil: &veil}
				got := string(line.Hide([]byte(text[:first]), true))
				got += string(line.Hide([]byte(text[first:second]), true))
				if got += string(line.Hide([]byte(text[second:]), false)); got != want {
					t.Errorf("%q cut at %d and %d: %q, want %q", text, first, second, got, want)
				}
				if got = string(line.Hide([]byte("next"), false)); got != "next" {
					t.Errorf("the next line is %q", got)
				}
			}
		}
	}
}

// A line that repeats the begin of a value for ever is not kept back for ever.
func TestLineKeepsLittleBack(t *testing.T) {
	var veil variables.Veil
	veil.Add("yyyyyy")
	line := variables.Line{Veil: &veil}
	for range 100 {
		line.Hide([]byte("yyyyyyyyyyy"), true)
	}
	if got := line.Hide(nil, false); len(got) > 12 {
		t.Errorf("kept back %q", got)
	}
}
