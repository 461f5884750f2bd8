package tomlfile

import (
	"regexp"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
)

// notePassword notes a text of a job that executord itself does, if it has a password: it is an argument of a process. One
// that is a variable is not put in before that has begun.
func (d *decoder) notePassword(key string, value *node, text string, secret bool) {
	if strings.Contains(text, "$") || !secret && complaint.WithoutSecrets(text) == text {
		return
	}
	d.report.NoteHidden(value.line, "write it as a variable, such as "+variableOf[key]+", with its value in a file of env_file or secret",
		"%s has what may be a password, and all users of the machine can see it while the job runs", key)
}

// variableOf has names of variables for hints.
var variableOf = map[string]string{"url": "$SHOP_TOKEN", "headers": "$SHOP_TOKEN"}

// secretHeader is the name of a header whose value is a secret, as a rule.
var secretHeader = regexp.MustCompile(`(?i)^(proxy-)?authorization$|^cookie$|token|secret|password|api-?key`)
