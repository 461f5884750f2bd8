package complaint

import (
	"regexp"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// Presentable returns the text of an error as all may see it. Much in it is as it was
// typed: names, which may disturb the terminal, and the name of a database, with its
// password, where something else was expected.
func Presentable(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = job.Printable(WithoutSecrets(line))
	}
	return strings.Join(lines, "\n")
}

// WithoutSecrets returns a line with what may be a password in it left out: what stands before the last @ of an
// address and behind the colon in it, and the values of parameters that are called so, in each of the forms in which a
// database can be named.
func WithoutSecrets(line string) string {
	line = parameter.ReplaceAllString(line, "${1}xxxxx")
	line = userOfURL.ReplaceAllString(line, "${1}xxxxx@")
	return userOfHost.ReplaceAllString(line, "${1}xxxxx@")
}

var (
	// parameter is one of a URL, a pair of the key=value form, or a variable.
	parameter = regexp.MustCompile(`(?i)(pass(?:word|wd|phrase)?\w*\s*[=:]\s*)('(?:[^'\\]|\\.)*'?|"[^"]*"?|[^&"'\s]*[^&"'\s:])`)

	// userOfURL is what is before the last @ of a URL, which may have blanks in it, and userOfHost that of a URL whose
	// begin is missing.
	userOfURL  = regexp.MustCompile(`(:/+[^:@/\s]*:).*@`)
	userOfHost = regexp.MustCompile(`([\w.+-]+:)[^\s/]\S*@`)
)
