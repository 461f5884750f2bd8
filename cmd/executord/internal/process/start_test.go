package process

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// A program is found in the PATH whatever the system calls it: Windows calls it
// Path.
func TestRunPathAsSystemWritesIt(t *testing.T) {
	program, name := "true", "PATH"
	if runtime.GOOS == "windows" {
		program, name = "cmd.exe", "Path"
	}
	for _, v := range [...]struct{ env, want string }{
		{name + "=" + os.Getenv("PATH"), ""},
		{"OTHERPATH=" + os.Getenv("PATH"), "is not in PATH="},
	} {
		c := Command{Args: []string{program}, Env: []string{v.env}}
		_, err := c.prepare()
		if (err == nil) != (v.want == "") || err != nil && !strings.Contains(err.Error(), v.want) {
			t.Errorf("%s: %v", v.env, err)
		}
	}
}

// The names of variables are the same in capitals and small letters where the
// system takes them for the same.
func TestIsVariable(t *testing.T) {
	for entry, same := range map[string]bool{
		"NAME=x=y": true, "NAME=": true, "NAMES=x": false, "=NAME": false, "": false,
		"Name=x": runtime.GOOS == "windows",
	} {
		if IsVariable(entry, "NAME") != same {
			t.Errorf("%q: %v", entry, !same)
		}
	}
}
