package daemon

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/record"
)

// The values of files reach the command, and nothing else: neither the log, nor what is kept of its output, nor the
// history.
func TestRunHidesSecrets(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"env": "TOKEN=tokentoken\n", "db": "hunter2hunter2\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		file := parse(t, "# name: a\n# env_file: "+dir+"/env\n# secret: DB="+dir+"/db\n@every 1h x\n")
		var given []string
		h := beginWith(t, Config{File: file, Record: record.New(record.Limits{Output: 1000, Runs: 10, Bytes: 1000, Age: time.Hour})},
			func(_ context.Context, c process.Command, o process.Observer) process.Result {
				given = c.Env
				o.Started(1, time.Now())
				o.Output(process.Stdout, []byte("TOKEN=tokentoken"), false)
				o.Output(process.Stderr, []byte("password hunter2"), true) // a long line comes in pieces
				o.Output(process.Stderr, []byte("hunter2 is wrong"), false)
				return process.Result{Code: 1}
			})
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		jobs, err := h.Jobs(t.Context())
		if err != nil || len(jobs) != 1 || jobs[0].Last == nil {
			t.Fatalf("jobs %+v, error %v", jobs, err)
		}
		last := *jobs[0].Last
		_, output, _ := h.Output("a", 1)
		lines, _ := output.After(0)
		h.end()
		for _, name := range []string{"TOKEN", "DB"} {
			want := map[string]string{"TOKEN": "tokentoken", "DB": "hunter2hunter2"}[name]
			if got, _ := process.Variable(given, name); got != want {
				t.Errorf("the command got %s=%s", name, got)
			}
		}
		var kept strings.Builder
		for _, line := range lines {
			kept.WriteString(string(line.Text) + "\n")
		}
		shown := h.log.String() + kept.String() + strings.Join(last.Stderr, "\n")
		if strings.Contains(shown, "tokentoken") || strings.Contains(shown, "hunter2") || strings.Count(shown, "TOKEN=***") != 2 ||
			strings.Count(shown, "password ") != 3 || strings.Count(shown, "*** is wrong") != 3 {
			t.Error(shown)
		}
	})
}

// A run whose file with variables is missing does not start, and says which file that is.
func TestRunNeedsItsFiles(t *testing.T) {
	for key, want := range map[string]string{
		"env_file: /nosuch/env":  "env_file: /nosuch/env does not exist",
		"secret: DB=/nosuch/env": "secret DB: /nosuch/env does not exist",
	} {
		synctest.Test(t, func(t *testing.T) {
			h := begin(t, Config{File: parse(t, "# name: a\n# "+key+"\n@every 1h sleep 1s\n")})
			time.Sleep(time.Hour + time.Second)
			h.end()
			if lines := h.logged("run not started"); len(lines) != 1 || !strings.Contains(lines[0], `reason="`+want+`"`) {
				t.Errorf("%s: %q", key, lines)
			}
		})
	}
}
