package terminal

import (
	"os"
	"path/filepath"
	"testing"
)

// Colours and signs are those that the environment of the user asks for; colours are for terminals.
func TestLookOfEnvironment(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want Look
	}{
		{map[string]string{"LANG": "de_DE.UTF-8"}, Look{Color: true}},
		{map[string]string{"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, Look{Color: true, ASCII: true}},
		{map[string]string{"LANG": "C", "LC_CTYPE": "C.utf8", "NO_COLOR": "1"}, Look{}},
		{map[string]string{"TERM": "dumb"}, Look{ASCII: true}},
	} {
		for _, name := range []string{"LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "TERM"} {
			t.Setenv(name, test.env[name])
		}
		if got := lookOf(true); got != test.want {
			t.Errorf("%v: %+v", test.env, got)
		}
		test.want.Color = false
		if got := lookOf(false); got != test.want {
			t.Errorf("%v, to no terminal: %+v", test.env, got)
		}
	}
}

// A file has no colours, whatever the terminal of the user has.
func TestLookOfFile(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if LookOf(f).Color {
		t.Error("it has colours")
	}
}
