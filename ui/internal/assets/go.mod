// The program that bundles the scripts and styles of module ui. It is a module of its own, so that users of ui do not
// depend on esbuild. It is never published.
module github.com/executor-go/executor/ui/internal/assets

go 1.26.0

require github.com/evanw/esbuild v0.28.2

require golang.org/x/sys v0.50.0 // indirect
