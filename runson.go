package executor

import "context"

// runsOn reports whether ctx is that of a task of ex.
func runsOn(ctx context.Context, ex Executor) bool { return false }
