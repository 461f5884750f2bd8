package executor_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain runs the tests and then looks for goroutines of ours: whatever a test
// started has to be gone by its end. A bubble of testing/synctest says which
// test it was; this finds those of the tests in real time as well.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if left := ourGoroutines(); left != "" {
			fmt.Fprintf(os.Stderr, "goroutines are left after the tests:\n\n%s\n", left)
			code = 1
		}
	}
	os.Exit(code)
}

// ourGoroutines gives the stacks of all goroutines but the caller's in which
// there is code of this module, once those that were about to end have ended.
func ourGoroutines() string {
	buf := make([]byte, 1<<22)
	var ours []string
	for range 2000 {
		ours = nil
		all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
		for _, g := range all[1:] { // the first is the caller
			if strings.Contains(g, "github.com/executor-go/executor") {
				ours = append(ours, g)
			}
		}
		if ours == nil {
			break
		}
		<-time.After(time.Millisecond)
	}
	return strings.Join(ours, "\n\n")
}
