package poolview

import "embed"

// Templates has the templates of pools and of what needs attention.
//
//go:embed pools.html
var Templates embed.FS
