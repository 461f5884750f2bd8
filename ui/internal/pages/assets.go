package pages

import (
	"embed"
	"html/template"

	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/page"
)

//go:embed static templates
var files embed.FS

// Assets are what pages load.
var Assets = new(page.Assets).Add(files, "static").Add(page.Icon, ".")

var templates = template.Must(Assets.Templates(files, "templates/*.html").ParseFS(poolview.Templates, "*.html"))
