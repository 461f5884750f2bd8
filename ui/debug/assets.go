package debug

import (
	"embed"
	"html/template"

	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/page"
)

//go:embed assets
var files embed.FS

// assets are what pages load.
var assets = new(page.Assets).Add(files, "assets").Add(page.Style, ".").Add(page.Icon, ".")

var templates = template.Must(assets.Templates(files, "assets/*.html").ParseFS(poolview.Templates, "*.html"))
