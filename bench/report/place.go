package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/executor-go/executor/bench/subject"
)

// Place is the repository's directory, where the report is written.
type Place string

// Locate gives root, or finds the repository from the present directory.
func Locate(root string) (Place, error) {
	if root != "" {
		return Place(root), nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "bench", "report", "place.go")); err == nil {
			return Place(dir), nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("run it within the repository, or say where that is with -root")
		}
	}
}

func (p Place) latest() string { return filepath.Join(string(p), "bench", "report", "latest.json") }

// Save writes the records.
func (p Place) Save(r *Report) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(p.latest(), append(text, '\n'), 0o644)
}

// Load reads the records.
func (p Place) Load() (*Report, error) {
	text, err := os.ReadFile(p.latest())
	if err != nil {
		return nil, err
	}
	r := new(Report)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", p.latest(), err)
	}
	return r, nil
}

// Render writes the documents from the records, and prints the tables.
func (p Place) Render(out io.Writer) error {
	r, err := p.Load()
	if err != nil {
		return err
	}
	r.Print(out)
	docs := filepath.Join(string(p), "docs")
	if err := os.MkdirAll(docs, 0o755); err != nil {
		return err
	}
	for name, svg := range r.Charts() {
		if err := os.WriteFile(filepath.Join(docs, name), svg, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(docs, "benchmarks.md"), r.Markdown(), 0o644)
}

// Here completes s with what can be found out about this machine and tree.
func (s Setting) Here(ctx context.Context, p Place) Setting {
	s.Machine = machine()
	s.Go = runtime.Version()
	s.Commit = p.commit(ctx)
	s.Versions = map[string]string{}
	for _, sub := range subject.All() {
		if v := sub.Version(); v != "" {
			s.Versions[sub.ID] = v
		}
	}
	return s
}

func (p Place) commit(ctx context.Context) string {
	git := func(args ...string) string {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", string(p)}, args...)...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	commit := git("rev-parse", "--short=12", "HEAD")
	if commit != "" && git("status", "--porcelain") != "" {
		commit += "+"
	}
	return commit
}

func machine() Machine {
	m := Machine{OS: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(), CPU: "unknown"}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if name, ok := after(string(text), "model name"); ok {
			m.CPU = strings.TrimLeft(name, "\t :")
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if words, ok := after(string(text), "MemTotal:"); ok {
			var kb float64
			fmt.Sscan(words, &kb)
			m.Memory = float64(int(kb * 1024 / 1e9))
		}
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.OS += " " + strings.TrimSpace(string(text))
	}
	return m
}

// after gives the rest of the first line that begins with name.
func after(text, name string) (string, bool) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}
