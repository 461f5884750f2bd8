package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// Assets is a set of files that pages load. Their names have a hash, so that a browser can keep them for ever. The zero
// Assets is empty.
type Assets struct {
	files map[string]file   // by their names with hash
	names map[string]string // with hash, by those without
}

type file struct {
	kind string
	data []byte
}

var kinds = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// Add adds the files of a directory of fsys that end in .css, .js or .svg, and returns a. It panics if one can't be
// read.
func (a *Assets) Add(fsys fs.FS, dir string) *Assets {
	if a.files == nil {
		a.files, a.names = make(map[string]file), make(map[string]string)
	}
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		panic("page: " + err.Error())
	}
	for _, e := range entries {
		name := e.Name()
		kind, ok := kinds[path.Ext(name)]
		if !ok {
			continue
		}
		data, err := fs.ReadFile(fsys, path.Join(dir, name))
		if err != nil {
			panic("page: " + err.Error())
		}
		sum := sha256.Sum256(data)
		base, ext, _ := strings.Cut(name, ".")
		a.names[name] = base + "-" + hex.EncodeToString(sum[:6]) + "." + ext
		a.files[a.names[name]] = file{kind, data}
	}
	return a
}

// Templates returns the templates of all files that the patterns name. They have a function "asset", which returns the
// name with hash of a file of a.
func (a *Assets) Templates(fsys fs.FS, patterns ...string) *template.Template {
	return template.Must(template.New("").
		Funcs(template.FuncMap{"asset": func(name string) string { return a.names[name] }}).
		ParseFS(fsys, patterns...))
}

// Serve answers with the file that has this name with hash, and reports false if there is none.
func (a *Assets) Serve(w http.ResponseWriter, r *http.Request, name string) bool {
	f, ok := a.files[name]
	if !ok {
		return false
	}
	w.Header().Set("Content-Type", f.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.data))
	return true
}

// Style has the file page.css, the style of all pages.
//
//go:embed page.css
var Style embed.FS

// Icon has the files icon.svg, the icon of all pages, and problem.svg, that of pages while something is wrong.
//
//go:embed icon.svg problem.svg
var Icon embed.FS
