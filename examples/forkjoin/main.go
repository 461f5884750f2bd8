// Forkjoin adds up the sizes of the files below a directory and shows the largest:
//
//	go run ./examples/forkjoin .
//
// Both the walk and the sort divide their work into parts, and wait for them in a task of the same pool. No worker is
// held by a wait, since a task that waits runs what no worker has begun.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"runtime"
	"slices"
	"sync"

	"github.com/executor-go/executor"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	pool := executor.Fixed(runtime.GOMAXPROCS(0))
	defer pool.Close()
	if err := run(ctx, pool, os.DirFS(root), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "forkjoin:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, pool *executor.Pool, fsys fs.FS, out io.Writer) error {
	files, err := list(ctx, pool, fsys)
	if err != nil {
		return err
	}
	bySize := func(a, b file) int { return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.name, b.name)) }
	if err := mergeSort(ctx, pool, files, bySize); err != nil {
		return err
	}
	total := int64(0)
	for _, f := range files {
		total += f.size
	}
	for _, f := range files[:min(10, len(files))] {
		fmt.Fprintf(out, "%12d %s\n", f.size, f.name)
	}
	fmt.Fprintf(out, "%12d in %d files\n", total, len(files))
	return nil
}

// file is a file with its size.
type file struct {
	name string
	size int64
}

// list returns the files of a tree, in no particular order. Each directory is a task, which waits for none: one group
// has all of them.
func list(ctx context.Context, pool *executor.Pool, fsys fs.FS) ([]file, error) {
	var mu sync.Mutex
	var files []file
	g := executor.NewGroup(ctx, pool)
	var visit func(dir string)
	visit = func(dir string) {
		g.Go(func(context.Context) error {
			entries, err := fs.ReadDir(fsys, dir)
			if err != nil {
				return err
			}
			for _, e := range entries {
				name := path.Join(dir, e.Name())
				if e.IsDir() {
					visit(name)
					continue
				}
				info, err := e.Info()
				if err != nil {
					return err
				}
				mu.Lock()
				files = append(files, file{name, info.Size()})
				mu.Unlock()
			}
			return nil
		})
	}
	visit(".")
	return files, g.Wait()
}

// mergeSort sorts s, which stays as it is as a whole if ctx ends meanwhile: the parts may be sorted.
func mergeSort[E any](ctx context.Context, pool *executor.Pool, s []E, compare func(a, b E) int) error {
	if len(s) <= 1000 { // a part that takes much longer than a task costs
		slices.SortStableFunc(s, compare)
		return ctx.Err()
	}
	a, b := s[:len(s)/2], s[len(s)/2:]
	halves := executor.NewGroup(ctx, pool)
	halves.Go(func(ctx context.Context) error { return mergeSort(ctx, pool, a, compare) })
	halves.Go(func(ctx context.Context) error { return mergeSort(ctx, pool, b, compare) })
	if err := halves.Wait(); err != nil {
		return err
	}
	copy(s, merge(a, b, compare))
	return nil
}

// merge returns the elements of two sorted slices in order.
func merge[E any](a, b []E, compare func(a, b E) int) []E {
	all := make([]E, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compare(b[0], a[0]) < 0 {
			all, b = append(all, b[0]), b[1:]
		} else {
			all, a = append(all, a[0]), a[1:]
		}
	}
	return append(append(all, a...), b...)
}
