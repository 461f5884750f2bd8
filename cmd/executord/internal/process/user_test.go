//go:build unix

package process

import (
	"os"
	"os/user"
	"strings"
	"testing"
)

// One's own user needs no switch, and one that is not there is an error.
func TestLookUpUser(t *testing.T) {
	self, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	if as, err := LookUpUser(self.Username); err != nil || !as.Own || as.Name != self.Username || as.Home != self.HomeDir {
		t.Errorf("own user: %+v, %v", as, err)
	}
	if _, err := LookUpUser("no-such-user-here"); err == nil || !strings.Contains(err.Error(), `user "no-such-user-here" does not exist`) {
		t.Errorf("no user: %v", err)
	}
	if _, err := user.Lookup("nobody"); err != nil || self.Username == "nobody" {
		t.Skip("there is no user nobody")
	}
	as, err := LookUpUser("nobody")
	if os.Getuid() != 0 {
		if err == nil || !strings.Contains(err.Error(), "only root runs commands as another user") {
			t.Errorf("without root: %+v, %v", as, err)
		}
		return
	}
	if err != nil || as.Name != "nobody" || as.UID == 0 || as.GID == 0 {
		t.Errorf("nobody: %+v, %v", as, err)
	}
}
