// Package argument makes the errors about what a caller has given.
package argument

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	executor "github.com/executor-go/executor"
)

// fault is an error that matches executor.ErrInvalid, without the text of that, which names another package than the
// one that was called.
type fault struct{ error }

func (f *fault) Unwrap() []error { return []error{executor.ErrInvalid, f.error} }

// Invalid returns an error that matches executor.ErrInvalid, and what format wraps. Its text is that of format alone:
// the name of the package that was called, what is wrong, and how to fix it.
func Invalid(format string, args ...any) error {
	return &fault{fmt.Errorf(format, args...)}
}

// Name returns what is wrong with a name, nil if it is good: it must have 1 to most bytes of UTF-8 without control
// characters. what says which name it is.
func Name(what, name string, most int) error {
	switch {
	case name == "":
		return Invalid("%s: it must not be empty", what)
	case len(name) > most:
		return Invalid("%s %.20q...: it has %d bytes; at most %d are allowed", what, name, len(name), most)
	case !utf8.ValidString(name):
		return Invalid("%s %q: it must be valid UTF-8", what, name)
	}
	for i, r := range name {
		if unicode.IsControl(r) {
			return Invalid("%s %q: it must have no control character (byte %d)", what, name, i)
		}
	}
	return nil
}
