package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/executor-go/executor/tests/internal/tree"
)

func TestMain(m *testing.M) { tree.Main(m) }

// The directory api says what the packages export.
func TestListingsAreCurrent(t *testing.T) {
	files, err := listings(".")
	if err != nil {
		t.Fatal(err)
	}
	if err := compare("api", files); err != nil {
		t.Log(err) // an error once names have settled
	}
}

// A listing has all that users can depend on, and nothing else.
func TestListing(t *testing.T) {
	const source = `package p

import "time"

const C, c = 1, 2
const S State = "s"
type State string
var V, v time.Duration

func F[T any, U comparable](a, b T, more ...U) (n int, err error) { return }
func f() {}

type St[T any] struct {
	Exported time.Time
	hidden   int
	inner
	Other
}
func (St[T]) Value() T { panic(0) }
func (s *St[T]) Pointer(func(x int)) {}
func (St[T]) hide() {}

type inner struct{}
func (inner) Promoted() {}
type Other struct{}
func (Other) NotTwice() {}

type I interface { M(n int); m() }
type A = time.Month
`
	const want = `const C untyped int = 1
const S State = "s"
func F[T any, U comparable](T, T, ...U) (int, error)
method (*St[T]) Pointer(func(int))
method (Other) NotTwice()
method (St[T]) Promoted()
method (St[T]) Value() T
type A = time.Month
type I interface
type I interface, M(int)
type I interface, unexported methods
type Other struct
type St[T any] struct
type St[T any] struct, Exported time.Time
type St[T any] struct, embedded Other
type State string
var V time.Duration
`
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":            "module example.com/p\n\ngo 1.26\n",
		"p.go":              source,
		"durable/d.go":      "package durable\n\ntype D int\n",
		"internal/x/x.go":   "package x\n\ntype X int\n",
		"cmd/c/main.go":     "package main\n\nfunc main() {}\n",
		"durable/sub/s.go":  "package sub\n\ntype X int\n",
		"durable/d_test.go": "package durable\n\ntype T int\n",
		"otel/o.go":         "package execotel\n\ntype O int\n",
		"durable/otel/o.go": "package durableotel\n\ntype O int\n",
		"durable/etcd/e.go": "package etcd\n\ntype E int\n",
		"ui/u.go":           "package ui\n\ntype U int\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	files, err := listings(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"p.txt": want, "durable.txt": "type D int\n", "durable-sub.txt": "type X int\n", "otel.txt": "type O int\n",
		"durable-otel.txt": "type O int\n",
		"durable-etcd.txt": "type E int\n",
		"ui.txt":           "type U int\n",
	} {
		if files[name] != text {
			t.Errorf("%s differs (-want +got):\n%s", name, strings.Join(difference(text, files[name]), "\n"))
		}
		delete(files, name)
	}
	for name, text := range files {
		t.Errorf("%s is not wanted:\n%s", name, text)
	}
}

// What was written is what is compared, and a change is shown.
func TestCompare(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "api")
	if err := write(dir, map[string]string{"gone.txt": "a\n", "p.txt": "a\nb\nd\n"}); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"new.txt": "a\n", "p.txt": "b\nc\nd\ne\n"}
	err := compare(dir, files)
	if err == nil {
		t.Fatal("no difference found")
	}
	_, changes, _ := strings.Cut(err.Error(), "\n")
	want := "gone.txt: -a\nnew.txt: +a\np.txt: -a\np.txt: +c\np.txt: +e"
	if got := strings.ReplaceAll(changes, dir+string(filepath.Separator), ""); got != want {
		t.Errorf("changes:\n%s\nwant:\n%s", got, want)
	}
	if err := write(dir, files); err != nil {
		t.Fatal(err)
	}
	if err := compare(dir, files); err != nil {
		t.Error(err)
	}
}
