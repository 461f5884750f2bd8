module github.com/executor-go/executor/cmd/executord

go 1.26

require (
	github.com/executor-go/executor v0.1.0
	github.com/pelletier/go-toml/v2 v2.4.3
	github.com/spf13/cobra v1.10.2
	golang.org/x/sys v0.43.0
	golang.org/x/term v0.42.0
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
)
