package executor_test

import (
	"context"
)

// holder is comparable as a type, but two of them may not be as values: == of
// what they hold panics.
type holder struct{ held any }

func (holder) Run(context.Context) error { return nil }
