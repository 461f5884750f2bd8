module github.com/executor-go/executor/ui

go 1.26.0

require (
	github.com/executor-go/executor v0.1.0
	github.com/executor-go/executor/durable v0.1.0
	go.uber.org/goleak v1.3.0
)
