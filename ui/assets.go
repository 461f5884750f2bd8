package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"strings"
	"time"
)

//go:embed static templates
var files embed.FS

// asset is a file that pages load. Its name has a hash, so that a browser can keep it for ever.
type asset struct {
	kind string
	data []byte
}

// assets are by their names with hash; hashed has these by the names without.
var assets, hashed = func() (map[string]asset, map[string]string) {
	assets, hashed := make(map[string]asset), make(map[string]string)
	for name, kind := range map[string]string{
		"app.css": "text/css; charset=utf-8", "app.js": "text/javascript; charset=utf-8",
	} {
		data, err := files.ReadFile("static/" + name)
		if err != nil {
			panic("ui: " + err.Error())
		}
		sum := sha256.Sum256(data)
		base, ext, _ := strings.Cut(name, ".")
		hashed[name] = base + "-" + hex.EncodeToString(sum[:6]) + "." + ext
		assets[hashed[name]] = asset{kind, data}
	}
	return assets, hashed
}()

var templates = template.Must(template.New("").
	Funcs(template.FuncMap{"asset": func(name string) string { return hashed[name] }}).
	ParseFS(files, "templates/*.html"))

// serveAsset answers with a file that pages load, and reports false if there is none.
func serveAsset(w http.ResponseWriter, r *http.Request, name string) bool {
	a, ok := assets[name]
	if !ok {
		return false
	}
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.data))
	return true
}
