package executor_test

import (
	"context"
	"testing"

	"github.com/executor-go/executor"
)

// Run and RunAndReset panic with a nil context, before anything else happens.
func TestRunWithNilContext(t *testing.T) {
	var none context.Context
	for name, call := range map[string]func(*executor.Future[int]){
		"Run":         func(f *executor.Future[int]) { f.Run(none) },
		"RunAndReset": func(f *executor.Future[int]) { f.RunAndReset(none) },
	} {
		f := executor.NewFuture(func(context.Context) (int, error) { return 1, nil })
		func() {
			defer func() {
				if r := recover(); r != "executor: nil Context" {
					t.Errorf("%s panicked with %v", name, r)
				}
			}()
			call(f)
		}()
		expect(t, name+": state", f.State(), executor.Pending)
	}
}
