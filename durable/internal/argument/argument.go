// Package argument makes the errors about what a caller has given.
package argument

import (
	"fmt"

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
