module github.com/executor-go/executor

go 1.26
