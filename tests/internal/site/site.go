// Package site publishes the modules of this repository for a test: in a module proxy in a
// directory, from which the go command takes them as it takes others from the usual one.
package site

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// Site has a module proxy in a directory, a module cache, and room to work.
type Site struct {
	Work string   // an empty directory
	Env  []string // of commands that take our modules from the site, after Serve

	ctx              context.Context
	proxy, cache     string
	goproxy, goflags string // those of the user
	served           bool
}

// New makes a site in a directory beside the build cache, with a module cache of its own, so
// that no other program sees the versions. Third parties stay in the module cache from
// one site to the next. A process has one site, and waits while another process has one.
func New(ctx context.Context) (*Site, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "executor-ci", "zips")
	if err := os.MkdirAll(filepath.Dir(root), 0o777); err != nil {
		return nil, err
	}
	if err := lock(root); err != nil {
		return nil, err
	}
	return newSite(ctx, root)
}

// newSite makes the directories of a site below root.
func newSite(ctx context.Context, root string) (*Site, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOPROXY", "GOFLAGS").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	goproxy, goflags, _ := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	goflags += " -trimpath" // packages are compiled once for all module caches
	s := &Site{
		ctx:     ctx,
		proxy:   filepath.Join(root, "proxy"),
		cache:   filepath.Join(root, "mod"),
		Work:    filepath.Join(root, "work"),
		goproxy: goproxy,
		goflags: goflags,
	}
	ours := filepath.FromSlash("github.com/executor-go")
	for _, dir := range []string{
		s.proxy, s.Work, filepath.Join(s.cache, ours), filepath.Join(s.cache, "cache", "download", ours),
	} {
		if err := remove(dir); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(s.Work, 0o777); err != nil {
		return nil, err
	}
	s.Env = append(os.Environ(),
		"GOWORK=off",
		"GOMODCACHE="+s.cache,
		"GOFLAGS="+s.goflags,
		// No index of the module cache, where one version has other files in each run.
		"GODEBUG="+strings.TrimPrefix(os.Getenv("GODEBUG")+",goindex=0", ","),
	)
	return s, nil
}

// Serve has the go command take our modules from the proxy of the site. Without it they come from where they are
// published.
func (s *Site) Serve() {
	s.served = true
	s.Env = append(s.Env,
		"GOPROXY=file://"+filepath.ToSlash(s.proxy)+","+s.goproxy,
		"GONOSUMDB="+CorePath,
		"GOFLAGS="+s.goflags+" -mod=mod", // no go.sum has the hashes of these zips
	)
}

// remove removes a directory, in which the go command makes files read-only.
func remove(dir string) error {
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(name, 0o777)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(dir)
}

// Publish puts a module into the proxy.
func (s *Site) Publish(m Module) error {
	data, err := m.Zip()
	if err != nil {
		return err
	}
	return s.put(m, m.Version.Version, data)
}

// put puts the zip of a version of a module into the proxy, in the layout of the module proxy protocol.
func (s *Site) put(m Module, version string, data []byte) error {
	text, err := os.ReadFile(filepath.Join(m.root, m.Dir, "go.mod"))
	if err != nil {
		return err
	}
	name, err := s.file(m, version)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	info := fmt.Sprintf("{%q: %q, %q: %q}\n", "Version", version, "Time", time.Now().UTC().Format(time.RFC3339))
	list := m.Version.Version + "\n" // the latest, also beside a next version
	return errors.Join(
		os.WriteFile(filepath.Join(filepath.Dir(name), "list"), []byte(list), 0o666),
		os.WriteFile(name+".info", []byte(info), 0o666),
		os.WriteFile(name+".mod", text, 0o666),
		os.WriteFile(name+".zip", data, 0o666),
	)
}

// file returns the name of the files of a version in the proxy, without their extension.
func (s *Site) file(m Module, version string) (string, error) {
	escaped, err := module.EscapePath(m.Path)
	return filepath.Join(s.proxy, filepath.FromSlash(escaped), "@v", version), err
}

// Zip returns the name of the zip of a module that was published here.
func (s *Site) Zip(m Module) (string, error) {
	name, err := s.file(m, m.Version.Version)
	return name + ".zip", err
}

// Test runs the tests of a module from its zip, or only vets it.
func (s *Site) Test(m Module, vet bool) error {
	dir, err := s.unzip(m)
	if err != nil {
		return err
	}
	if vet {
		return s.Command(dir, "go", "vet", "./...")
	}
	return s.Command(dir, "go", "test", "-vet=off", "./...") // files and paths may be missing
}

// unzip returns a new directory with the files of a module.
func (s *Site) unzip(m Module) (dir string, err error) {
	cmd := exec.CommandContext(s.ctx, "go", "mod", "download", "-json", m.Path+"@"+m.Version.Version)
	cmd.Dir, cmd.Env = s.Work, s.Env
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go mod download: %w: %s", err, out)
	}
	var got struct{ Zip string }
	if err := json.Unmarshal(out, &got); err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp(s.Work, filepath.Base(m.Path)+"-"); err != nil {
		return "", err
	}
	if err := zip.Unzip(dir, m.Version, got.Zip); err != nil || !s.served {
		return dir, err
	}
	return dir, dropHashes(filepath.Join(dir, "go.sum"))
}

// dropHashes removes those of our modules from a go.sum, if there is one: they are of the last release, and the site
// may have other files under the same version.
func dropHashes(name string) error {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var others strings.Builder
	for line := range strings.Lines(string(text)) {
		if p, _, _ := strings.Cut(line, " "); p != CorePath && !strings.HasPrefix(p, CorePath+"/") {
			others.WriteString(line)
		}
	}
	return errors.Join(err, os.WriteFile(name, []byte(others.String()), 0o666))
}

// Use adds the libraries, all modules but the last, to a new module, with a program that uses them, and runs that.
func (s *Site) Use(mods []Module) error {
	dir, err := os.MkdirTemp(s.Work, "user-")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o666); err != nil {
		return err
	}
	if err := s.Command(dir, "go", "mod", "init", "example.com/user"); err != nil {
		return err
	}
	for _, m := range mods[:len(mods)-1] {
		if err := s.Command(dir, "go", "get", m.Path+"@"+m.Version.Version); err != nil {
			return err
		}
		if err := s.Command(dir, "go", "list", "-m", m.Path); err != nil {
			return err
		}
	}
	return s.Command(dir, "go", "run", ".")
}

const program = `package main

import (
	"context"
	"fmt"
	"log"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

func main() {
	pool := executor.Fixed(2)
	defer pool.Close()
	f := executor.Submit(context.Background(), pool, func(context.Context) (string, error) { return "a future", nil })
	v, err := f.Get(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	var _ durable.Store = memory.New()
	fmt.Println(v, "and a store")
}
`

// Install installs the daemon, and asks it for its version and for help.
func (s *Site) Install(daemon Module) error {
	bin := filepath.Join(s.Work, "bin")
	cmd := exec.CommandContext(s.ctx, "go", "install", daemon.Path+"@"+daemon.Version.Version)
	cmd.Dir, cmd.Env = s.Work, append(s.Env, "GOBIN="+bin)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go install: %w\n%s", err, out)
	}
	program := filepath.Join(bin, filepath.Base(daemon.Dir))
	out, err := exec.CommandContext(s.ctx, program, "version").Output()
	if err != nil {
		return err
	}
	fmt.Printf("   %s", out)
	if want := " " + daemon.Version.Version + " "; !strings.Contains(string(out), want) {
		return fmt.Errorf("it says version %q, want%s", out, want)
	}
	if out, err := exec.CommandContext(s.ctx, program, "--help").CombinedOutput(); err != nil {
		return fmt.Errorf("%s --help: %w\n%s", program, err, out)
	}
	return nil
}

// Command runs a command with the environment of the site, and prints its output.
func (s *Site) Command(dir, name string, args ...string) error {
	cmd := exec.CommandContext(s.ctx, name, args...)
	cmd.Dir, cmd.Env = dir, s.Env
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
