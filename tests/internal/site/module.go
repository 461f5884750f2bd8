package site

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"
)

// CorePath is the path of the core module; the paths of the others begin with it.
const CorePath = "github.com/executor-go/executor"

// published are the directories of the modules that get a tag, in the order in
// which they get it: each requires those before it only.
var published = []string{".", "durable", "otel", "durable/otel", "durable/etcd", "ui", "cmd/executord"}

// private are the directories of the modules that get none.
var private = []string{"bench", "examples", "tests", "ui/internal/assets"}

// Module is a module that gets a tag.
type Module struct {
	module.Version
	Dir  string // in the tree, "." for the core
	root string // of the tree
}

// Tag returns the tag of the module in its repository, as the go command looks for it.
func (m Module) Tag() string { return path.Join(m.Dir, m.Version.Version) }

// Modules returns the modules of the tree at root that are published, each with
// the version by which the others require it.
func Modules(root string) ([]Module, error) {
	versions := make(map[string]string)
	var newest string
	var all []Module
	for _, dir := range published {
		name := filepath.Join(root, dir, "go.mod")
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := modfile.Parse(name, text, nil)
		if err != nil {
			return nil, err
		}
		if len(file.Replace) > 0 || len(file.Exclude) > 0 {
			return nil, fmt.Errorf("%s has a replace or an exclude, which go install refuses; go.work is the place for it", name)
		}
		for _, r := range file.Require {
			if p := r.Mod.Path; p != CorePath && !strings.HasPrefix(p, CorePath+"/") {
				continue
			}
			if had := versions[r.Mod.Path]; had != "" && had != r.Mod.Version {
				return nil, fmt.Errorf("%s requires %s %s, and another module %s; make both the same", name, r.Mod.Path, r.Mod.Version, had)
			}
			versions[r.Mod.Path] = r.Mod.Version
			if semver.Compare(newest, r.Mod.Version) < 0 {
				newest = r.Mod.Version
			}
		}
		all = append(all, Module{module.Version{Path: file.Module.Mod.Path}, dir, root})
	}
	for i, m := range all {
		all[i].Version.Version = versions[m.Path]
		if versions[m.Path] == "" { // no module requires it
			all[i].Version.Version = newest
		}
	}
	return all, nil
}

// Unlisted returns an error for each module of the tree at root of which it is not
// known whether it gets a tag.
func Unlisted(root string) error {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list -m: %w", err)
	}
	if root, err = filepath.Abs(root); err != nil {
		return err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return err
	}
	var errs []error
	for line := range strings.Lines(string(out)) {
		dir, err := filepath.Rel(root, strings.TrimSpace(line))
		if err != nil {
			return err
		}
		if dir = filepath.ToSlash(dir); !slices.Contains(published, dir) && !slices.Contains(private, dir) {
			errs = append(errs, fmt.Errorf("module %s is neither in published nor in private of tests/internal/site/module.go", dir))
		}
	}
	return errors.Join(errs...)
}

// Zip returns the module's zip, as the go command makes it of a tag.
func (m Module) Zip() ([]byte, error) {
	files, err := m.files()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = zip.Create(&b, m.Version, files)
	return b.Bytes(), err
}

// files returns the files of the module, and perhaps of modules within, which the zip leaves out.
func (m Module) files() (files []zip.File, err error) {
	// What git has, or would have; the go command takes what the tag has.
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", ".")
	cmd.Dir = filepath.Join(m.root, m.Dir)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	licensed := false
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		f := file{name, filepath.Join(cmd.Dir, filepath.FromSlash(name))}
		if _, err := f.Lstat(); errors.Is(err, fs.ErrNotExist) {
			continue // removed, and not committed
		}
		licensed = licensed || name == "LICENSE"
		files = append(files, f)
	}
	if !licensed { // a module of a directory gets the repository's
		files = append(files, file{"LICENSE", filepath.Join(m.root, "LICENSE")})
	}
	return files, nil
}

// file is a zip.File on disk.
type file struct{ path, disk string }

func (f file) Path() string                 { return path.Clean(f.path) }
func (f file) Lstat() (os.FileInfo, error)  { return os.Lstat(f.disk) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.disk) }
