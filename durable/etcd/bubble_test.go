package etcd

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The tests of package durable pass with this store in the place of package memory: its mirror and its transactions, on
// a cluster that is a map, since there is no network in the bubbles of these tests.
func TestDurablePasses(t *testing.T) {
	if os.Getenv("EXECUTOR_LONG") == "" {
		t.Skip("takes minutes")
	}
	replaced := make(map[string]string)
	for file, by := range map[string]string{"bubble.go": "bubble.go", "../memory/memory.go": "memory.go"} {
		file, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		if replaced[file], err = filepath.Abs(filepath.Join("testdata", by)); err != nil {
			t.Fatal(err)
		}
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err == nil {
		err = os.WriteFile(overlay, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "test", "-short", "-vet=off", "-count=1", "-timeout=0", "-overlay", overlay,
		"-skip", "^TestJobsAwaitKeepsNoMemory$", // it measures what contexts leave behind, which package memory ignores
		"github.com/executor-go/executor/durable").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
