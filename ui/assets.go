package ui

import (
	"embed"
	"html/template"

	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/page"
)

//go:embed static templates
var files embed.FS

// assets are what pages load.
var assets = new(page.Assets).Add(files, "static").Add(page.Icon, ".")

var templates = template.Must(assets.Templates(files, "templates/*.html").ParseFS(poolview.Templates, "*.html"))
