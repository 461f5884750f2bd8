// Zips makes the zip of each published module as the go command would, and uses
// them as others do: it runs the tests of each from its zip, against the zips of
// the others, adds the library to a new module, and installs the daemon.
//
//	go run ./tests/zips              all
//	go run ./tests/zips -vet         without the tests, which are vetted
//	go run ./tests/zips -published   the same with the versions that are published
//
// The zips have what git has or would add, so changes need not be committed. A module proxy
// in a directory serves them; third parties come from the usual one. All that it makes is
// in a directory beside the build cache, with a module cache of its own, so that no other
// program sees these versions.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	vet := flag.Bool("vet", false, "vet the modules, and do not run their tests")
	public := flag.Bool("published", false, "take the modules from where they are published, not from this tree")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *vet, *public); err != nil {
		fmt.Fprintf(os.Stderr, "zips: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, vet, public bool) error {
	if err := unlisted("."); err != nil {
		return err
	}
	mods, err := modules(".")
	if err != nil {
		return err
	}
	s, err := newSite(ctx)
	if err != nil {
		return err
	}
	if !public {
		for _, m := range mods {
			if err := s.publish(m); err != nil {
				return fmt.Errorf("%s: %w", m.Path, err)
			}
		}
		s.serve()
	}
	for _, m := range mods {
		fmt.Printf("%s@%s\n", m.Path, m.Version.Version)
		if err := s.test(m, vet); err != nil {
			return fmt.Errorf("%s fails from its zip: %w", m.Path, err)
		}
	}
	if err := s.use(mods); err != nil {
		return fmt.Errorf("using the library in a new module: %w", err)
	}
	if err := s.install(mods[len(mods)-1]); err != nil {
		return fmt.Errorf("installing the daemon: %w", err)
	}
	return nil
}

// site has a module proxy in a directory, a module cache, and room to work.
type site struct {
	ctx                context.Context
	proxy, cache, work string
	goproxy, goflags   string // those of the user
	env                []string
}

// newSite makes the directories. Third parties stay in the module cache from one
// run to the next.
func newSite(ctx context.Context) (*site, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOCACHE", "GOPROXY", "GOFLAGS").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	lines := strings.Split(string(out), "\n")
	cache, goproxy, goflags := lines[0], lines[1], lines[2]
	root := filepath.Join(cache, "executor-ci", "zips")
	s := &site{
		ctx:   ctx,
		proxy: filepath.Join(root, "proxy"),
		cache: filepath.Join(root, "mod"),
		work:  filepath.Join(root, "work"),
	}
	if err := os.MkdirAll(filepath.Dir(root), 0o777); err != nil {
		return nil, err
	}
	if err := lock(root); err != nil {
		return nil, err
	}
	ours := filepath.FromSlash("github.com/executor-go")
	for _, dir := range []string{
		s.proxy, s.work, filepath.Join(s.cache, ours), filepath.Join(s.cache, "cache", "download", ours),
	} {
		if err := remove(dir); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(s.work, 0o777); err != nil {
		return nil, err
	}
	s.goproxy, s.goflags = goproxy, goflags
	s.env = append(os.Environ(),
		"GOWORK=off",
		"GOMODCACHE="+s.cache,
		// No index of the module cache, where one version has other files in each run.
		"GODEBUG="+strings.TrimPrefix(os.Getenv("GODEBUG")+",goindex=0", ","),
	)
	return s, nil
}

// serve has the go command take our modules from the proxy of the site.
func (s *site) serve() {
	s.env = append(s.env,
		"GOPROXY=file://"+filepath.ToSlash(s.proxy)+","+s.goproxy,
		"GONOSUMDB="+corePath,
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

// publish puts a module into the proxy, in the layout of the module proxy protocol.
func (s *site) publish(m mod) error {
	data, err := m.zip()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(m.root, m.dir, "go.mod"))
	if err != nil {
		return err
	}
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	dir := filepath.Join(s.proxy, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	version := m.Version.Version
	info := fmt.Sprintf("{%q: %q, %q: %q}\n", "Version", version, "Time", time.Now().UTC().Format(time.RFC3339))
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "list"), []byte(version+"\n"), 0o666),
		os.WriteFile(filepath.Join(dir, version+".info"), []byte(info), 0o666),
		os.WriteFile(filepath.Join(dir, version+".mod"), text, 0o666),
		os.WriteFile(filepath.Join(dir, version+".zip"), data, 0o666),
	)
}

// test runs the tests of a module from its zip, or only vets it.
func (s *site) test(m mod, vet bool) error {
	cmd := exec.CommandContext(s.ctx, "go", "mod", "download", "-json", m.Path+"@"+m.Version.Version)
	cmd.Dir, cmd.Env = s.work, s.env
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go mod download: %w: %s", err, out)
	}
	var got struct{ Zip string }
	if err := json.Unmarshal(out, &got); err != nil {
		return err
	}
	dir := filepath.Join(s.work, filepath.FromSlash(m.Path)+"@"+m.Version.Version)
	if err := zip.Unzip(dir, m.Version, got.Zip); err != nil {
		return err
	}
	if vet {
		return s.command(dir, "go", "vet", "./...")
	}
	return s.command(dir, "go", "test", "-vet=off", "./...") // files and paths may be missing
}

// use adds the library to a new module, with a program that uses it, and runs that.
func (s *site) use(mods []mod) error {
	dir := filepath.Join(s.work, "user")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o666); err != nil {
		return err
	}
	if err := s.command(dir, "go", "mod", "init", "example.com/user"); err != nil {
		return err
	}
	for _, m := range mods[:len(mods)-1] {
		if err := s.command(dir, "go", "get", m.Path+"@"+m.Version.Version); err != nil {
			return err
		}
		if err := s.command(dir, "go", "list", "-m", m.Path); err != nil {
			return err
		}
	}
	return s.command(dir, "go", "run", ".")
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

// install installs the daemon and asks it for its version and for help.
func (s *site) install(daemon mod) error {
	bin := filepath.Join(s.work, "bin")
	s.env = append(s.env, "GOBIN="+bin)
	if err := s.command(s.work, "go", "install", daemon.Path+"@"+daemon.Version.Version); err != nil {
		return err
	}
	program := filepath.Join(bin, filepath.Base(daemon.dir))
	out, err := exec.CommandContext(s.ctx, program, "version").Output()
	if err != nil {
		return err
	}
	fmt.Printf("   %s", out)
	if want := " " + daemon.Version.Version + " "; !strings.Contains(string(out), want) {
		return fmt.Errorf("it says version %q, want%s", out, want)
	}
	return s.command(s.work, program, "--help")
}

// command runs a command and prints its output.
func (s *site) command(dir, name string, args ...string) error {
	cmd := exec.CommandContext(s.ctx, name, args...)
	cmd.Dir, cmd.Env = dir, s.env
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
