package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"github.com/executor-go/executor"
)

// sizes of pools; one worker must be enough.
var sizes = []int{1, 2, 8}

func TestList(t *testing.T) {
	tree := fstest.MapFS{}
	for i := range 3 {
		for j := range 20 {
			for k := range 5 {
				tree[fmt.Sprintf("a%d/b%d/c%d", i, j, k)] = &fstest.MapFile{Data: make([]byte, k)}
			}
		}
	}
	for _, n := range sizes {
		synctest.Test(t, func(t *testing.T) {
			pool := executor.Fixed(n)
			defer pool.Close()
			files, err := list(t.Context(), pool, tree)
			if err != nil {
				t.Fatal(err)
			}
			if len(files) != len(tree) {
				t.Errorf("%d workers: %d files, want %d", n, len(files), len(tree))
			}
			for _, f := range files {
				if m := tree[f.name]; m == nil || int64(len(m.Data)) != f.size {
					t.Errorf("%d workers: %v", n, f)
				}
			}
		})
	}
}

func TestListMissing(t *testing.T) {
	pool := executor.Fixed(2)
	defer pool.Close()
	_, err := list(t.Context(), pool, os.DirFS(filepath.Join(t.TempDir(), "missing")))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want %v", err, fs.ErrNotExist)
	}
}

// A slice is sorted, stably, by any number of workers, also from a task of the pool.
func TestMergeSort(t *testing.T) {
	type element struct{ key, place int }
	compare := func(a, b element) int { return cmp.Compare(a.key, b.key) }
	for _, n := range sizes {
		synctest.Test(t, func(t *testing.T) {
			pool := executor.Fixed(n)
			defer pool.Close()
			r := rand.New(rand.NewPCG(1, uint64(n)))
			s := make([]element, 50_000)
			for i := range s {
				s[i] = element{r.IntN(1000), i}
			}
			_, err := executor.Submit(t.Context(), pool, executor.Func(func(ctx context.Context) error {
				return mergeSort(ctx, pool, s, compare)
			}).Call).Get(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			whole := func(a, b element) int { return cmp.Or(compare(a, b), cmp.Compare(a.place, b.place)) }
			if !slices.IsSortedFunc(s, whole) {
				t.Errorf("%d workers: not sorted, or not stable", n)
			}
		})
	}
}

func TestMergeSortEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(2)
		defer pool.Close()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := mergeSort(ctx, pool, make([]int, 10_000), cmp.Compare); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	})
}

func TestRun(t *testing.T) {
	pool := executor.Fixed(2)
	defer pool.Close()
	tree := fstest.MapFS{"a/b": {Data: []byte("text")}, "a/c": {Data: []byte("words")}}
	var out strings.Builder
	if err := run(t.Context(), pool, tree, &out); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(strings.Fields(out.String()), " "), "5 a/c 4 a/b 9 in 2 files"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
