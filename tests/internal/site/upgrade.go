package site

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"
)

// Upgrade vets each module with the next version of all the others, as users have it who upgrade them and not that one.
// In the next version each internal package is somewhere else: the largest change that its module may make to it. So a
// module that imports an internal package of another fails, and one that needs what another no longer has.
func (s *Site) Upgrade(mods []Module) error {
	for _, m := range mods {
		if err := s.publishNext(m); err != nil {
			return err
		}
	}
	for _, m := range mods {
		dir, err := s.unzip(m)
		if err != nil {
			return err
		}
		edit := []string{"mod", "edit"}
		for _, other := range mods {
			if other.Path != m.Path {
				edit = append(edit, "-require="+other.Path+"@"+other.next())
			}
		}
		if err := s.Command(dir, "go", edit...); err != nil {
			return err
		}
		if err := s.Command(dir, "go", "vet", "./..."); err != nil {
			return fmt.Errorf("%s %s fails with the next version of the other modules: %w", m.Path, m.Version.Version, err)
		}
	}
	return nil
}

// next returns a version that is later than that of m, and compatible.
func (m Module) next() string { return semver.MajorMinor(m.Version.Version) + ".9999" }

// publishNext publishes the next version of a module, which has the same files but for its internal packages, each of
// which is moved.
func (s *Site) publishNext(m Module) error {
	files, err := m.files()
	if err != nil {
		return err
	}
	imported := regexp.MustCompile(`"` + regexp.QuoteMeta(m.Path) + `/([^"\n]*/)?internal/`)
	for i, f := range files {
		text, err := os.ReadFile(f.(file).disk)
		if err != nil {
			return err
		}
		if path.Ext(f.Path()) == ".go" {
			text = imported.ReplaceAll(text, []byte("${0}next/"))
		}
		files[i] = moved{f, text}
	}
	later := m.Version
	later.Version = m.next()
	var b bytes.Buffer
	if err := zip.Create(&b, later, files); err != nil {
		return err
	}
	return s.put(m, later.Version, b.Bytes())
}

// moved is a file of the next version of a module.
type moved struct {
	zip.File // in this version
	text     []byte
}

func (f moved) Path() string {
	return strings.TrimPrefix(strings.ReplaceAll("/"+f.File.Path(), "/internal/", "/internal/next/"), "/")
}

func (f moved) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.text)), nil }

func (f moved) Lstat() (fs.FileInfo, error) {
	info, err := f.File.Lstat()
	return sized{info, int64(len(f.text))}, err
}

// sized is the information on a file with another size.
type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Size() int64 { return s.size }
