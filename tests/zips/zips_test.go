package main

import (
	"testing"

	"github.com/executor-go/executor/tests/internal/site"
	"github.com/executor-go/executor/tests/internal/tree"
)

func TestMain(m *testing.M) { tree.Main(m) }

// It is known of each module of the workspace whether it gets a tag.
func TestModulesAreListed(t *testing.T) {
	if err := site.Unlisted("."); err != nil {
		t.Error(err)
	}
}
