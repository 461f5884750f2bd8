// Etl reads lines of JSON from several files at once, converts them, and writes them as CSV:
//
//	go run ./examples/etl a.json b.json > out.csv
//
// Each file is read by a worker of its own, lines are converted by as many workers as there are processors, and are
// written in the order in which they were read. What waits between the stages is bounded, so that a slow stage slows
// those before it, and the first error ends all stages.
package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"runtime"
	"strconv"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/queue"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var sources []source
	for _, name := range os.Args[1:] {
		sources = append(sources, source{name, func() (io.ReadCloser, error) { return os.Open(name) }})
	}
	if err := run(ctx, sources, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "etl:", err)
		os.Exit(1)
	}
}

// source is something with lines in it.
type source struct {
	name string
	open func() (io.ReadCloser, error)
}

// line is a line of a source.
type line struct {
	source string
	number int
	text   []byte
}

// run copies all sources to w.
func run(ctx context.Context, sources []source, w io.Writer) error {
	stages := executor.PerTask()
	defer stages.Close()
	readers := executor.Fixed(4)
	defer readers.Close()
	converters := executor.Fixed(runtime.GOMAXPROCS(0))
	defer converters.Close()

	lines := queue.NewBounded[line](100)
	g := executor.NewGroup(ctx, stages)
	g.Go(func(ctx context.Context) error {
		defer lines.Close() // the other stage ends when it has taken what is left
		files := executor.NewGroup(ctx, readers)
		for _, s := range sources {
			files.Go(func(ctx context.Context) error { return extract(ctx, s, lines) })
		}
		return files.Wait()
	})
	g.Go(func(ctx context.Context) error {
		return load(w, executor.Map(ctx, converters, 64, values(lines.TakeAll(ctx)), transform))
	})
	return g.Wait()
}

// extract puts the lines of a source into a queue.
func extract(ctx context.Context, s source, lines *queue.Blocking[line]) error {
	r, err := s.open()
	if err != nil {
		return err
	}
	defer r.Close()
	scanner := bufio.NewScanner(r)
	for n := 1; scanner.Scan(); n++ {
		if err := lines.Put(ctx, line{s.name, n, append([]byte(nil), scanner.Bytes()...)}); err != nil {
			return err
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// transform converts one line.
func transform(_ context.Context, l line) ([]string, error) {
	var v struct {
		City    string
		Celsius *float64
	}
	if err := json.Unmarshal(l.text, &v); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", l.source, l.number, err)
	}
	if v.Celsius == nil {
		return nil, fmt.Errorf("%s:%d: no Celsius", l.source, l.number)
	}
	return []string{v.City, strconv.FormatFloat(*v.Celsius*1.8+32, 'f', 1, 64)}, nil
}

// load writes the records, and ends at the first error.
func load(w io.Writer, records iter.Seq2[[]string, error]) error {
	out := csv.NewWriter(w)
	for record, err := range records {
		if err != nil {
			return err
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// values has the values before the first error. That is the end of the context, which ends [executor.Map], too.
func values[T any](pairs iter.Seq2[T, error]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for v, err := range pairs {
			if err != nil || !yield(v) {
				return
			}
		}
	}
}
