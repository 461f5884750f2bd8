//go:build unix

package exposure_test

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/exposure"
)

// A file is exposed to another user who owns it, to all who may write to it, and to a group that is neither the user's nor
// root's. The user as whom a job runs is none of the others.
func TestOfTellsOthers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tab")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	type test struct {
		uid, gid int
		mode     os.FileMode
		user     string
		reason   string
	}
	own, group := os.Geteuid(), os.Getegid()
	tests := []test{
		{own, group, 0o664, "", ""},
		{own, group, 0o666, "", "all users may write to it"},
	}
	if own == 0 { // only root can give files away
		tests = append(tests, test{0, 4711, 0o644, "", ""}, test{0, 4711, 0o664, "", "group 4711 may write to it"},
			test{4711, 4711, 0o600, "", "it belongs to user 4711"}, test{4711, 4711, 0o666, "", "it belongs to user 4711, and all users may write to it"})
		if nobody, err := user.Lookup("nobody"); err == nil {
			uid, _ := strconv.Atoi(nobody.Uid)
			tests = append(tests, test{uid, 0, 0o600, "nobody", ""}, test{4711, 0, 0o600, "nobody", "it belongs to user 4711"},
				test{uid, 0, 0o600, "", "it belongs to user " + nobody.Uid})
		}
	}
	for _, c := range tests {
		if err := os.Chown(name, c.uid, c.gid); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, c.mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		reason := ""
		for _, e := range exposure.Of([]exposure.File{{Name: name, Info: info, User: c.user}}, "") {
			reason += e.Reason
		}
		if reason != c.reason {
			t.Errorf("%+v: %q", c, reason)
		}
	}
}
