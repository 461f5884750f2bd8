// The tests that look beyond one package: at the tree, the JDK, the real clock,
// or broken copies of the code. This module is never published: it has no tag,
// and no go.mod requires it, which TestTestsArePrivate checks.
module github.com/executor-go/executor/tests

go 1.26.0

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/executor-go/executor v0.1.0
	github.com/executor-go/executor/durable v0.1.0
	github.com/executor-go/executor/ui v0.1.0
	golang.org/x/mod v0.42.0
	golang.org/x/tools v0.51.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	golang.org/x/sync v0.23.0 // indirect
)
