package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The files that are committed are those that their sources make.
func TestCommittedAssets(t *testing.T) {
	if err := run(filepath.FromSlash("../.."), true); err != nil {
		t.Error(err)
	}
}

// A file that differs is reported with the remedy.
func TestDiffReportsChange(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "ui")
	for from, to := range map[string]string{
		".":          filepath.Join(dir, "internal", "assets"),
		"../../page": filepath.Join(dir, "page"),
	} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "internal", "pages", "static"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, false); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, true); err != nil {
		t.Fatalf("of files just made: %v", err)
	}
	style := filepath.Join(dir, "internal", "pages", "static", "app.css")
	if err := os.WriteFile(style, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, true); err == nil || !strings.Contains(err.Error(), "app.css") || !strings.Contains(err.Error(), "go run") {
		t.Errorf("of a changed style: %v", err)
	}
}
