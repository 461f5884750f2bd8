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

// Repository is the root directory of the repository.
type Repository string

// Locate returns root if it is not empty. Otherwise it looks for the repository in the
// working directory and the directories above it.
func Locate(root string) (Repository, error) {
	if root != "" {
		return Repository(root), nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "bench", "results")); err == nil {
			return Repository(dir), nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no repository here; run the program within one, or set -root")
		}
	}
}

// latest is the name of the saved report in bench/results.
const latest = "latest.json"

func (p Repository) results(name string) string {
	return filepath.Join(string(p), "bench", "results", name)
}

// Save writes the report to bench/results/latest.json.
func (p Repository) Save(r *Report) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(p.results(latest), append(text, '\n'), 0o644)
}

// Load reads what Save wrote.
func (p Repository) Load() (*Report, error) {
	text, err := os.ReadFile(p.results(latest))
	if err != nil {
		return nil, err
	}
	r := new(Report)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", p.results(latest), err)
	}
	return r, nil
}

// Render writes docs/benchmarks.md, the table in README.md and the charts in
// bench/results from the saved report, and prints the tables.
func (p Repository) Render(out io.Writer) error {
	r, err := p.Load()
	if err != nil {
		return err
	}
	r.Print(out)
	for name, svg := range r.Charts() {
		if err := os.WriteFile(p.results(name), svg, 0o644); err != nil {
			return err
		}
	}
	docs := filepath.Join(string(p), "docs")
	if err := os.MkdirAll(docs, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(docs, "benchmarks.md"), r.Markdown(), 0o644); err != nil {
		return err
	}
	front := filepath.Join(string(p), "README.md")
	text, err := os.ReadFile(front)
	if err != nil {
		return err
	}
	if text, err = r.Readme(text); err != nil {
		return err
	}
	return os.WriteFile(front, text, 0o644)
}

// Here returns s with the properties of this machine and of the repository at p.
func (s Setting) Here(ctx context.Context, p Repository) Setting {
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

func (p Repository) commit(ctx context.Context) string {
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

// after returns the rest of the first line that begins with name.
func after(text, name string) (string, bool) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}
