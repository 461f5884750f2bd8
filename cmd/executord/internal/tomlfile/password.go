package tomlfile

import (
	"os"
	"regexp"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
)

// notePassword notes a text of a job that executord itself does, if it has a password: it is an argument of a process. One
// that is a variable is not put in before that has begun.
func (d *decoder) notePassword(key string, value *node, text string, secret bool) {
	const shown = "xxxxx" // as that of a password which is not shown
	variables := 0
	plain := os.Expand(text, func(string) string {
		variables++
		return shown
	})
	switch {
	case secret && variables > 0 && noSecret.MatchString(strings.ReplaceAll(plain, shown, "")):
		return
	case !secret && complaint.WithoutSecrets(plain) == plain:
		return
	}
	d.report.NoteHidden(value.line, "write it as a variable, such as "+variableOf[key]+", with its value in a file of env_file or secret",
		"%s has what may be a password, and all users of the machine can see it while the job runs", key)
}

// variableOf has names of variables for hints.
var variableOf = map[string]string{"url": "$SHOP_TOKEN", "headers": "$SHOP_TOKEN"}

// noSecret is what stands beside a variable that is the secret: the name of a scheme, as Bearer, or of a cookie.
var noSecret = regexp.MustCompile(`^[A-Za-z_-]*[ =:]?$`)

// secretHeader is the name of a header whose value is a secret, as a rule.
var secretHeader = regexp.MustCompile(`(?i)^(proxy-)?authorization$|^cookie$|token|secret|password|api-?key`)
