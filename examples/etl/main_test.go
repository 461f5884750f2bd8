package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// text is a source with n lines, the bad-th of which is none that can be converted.
func text(name string, n, bad int) source {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if i == bad {
			b.WriteString("{}\n")
			continue
		}
		fmt.Fprintf(&b, "{\"City\": \"%s\", \"Celsius\": %d}\n", name, i)
	}
	return source{name, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(b.String())), nil }}
}

// All lines of all sources are written, those of each in order.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		var sources []source
		for i := range 10 {
			sources = append(sources, text(fmt.Sprint("s", i), 500, 0))
		}
		if err := run(t.Context(), sources, &out); err != nil {
			t.Fatal(err)
		}
		bySource := make(map[string][]string)
		for l := range strings.Lines(out.String()) {
			city, fahrenheit, _ := strings.Cut(strings.TrimSpace(l), ",")
			bySource[city] = append(bySource[city], fahrenheit)
		}
		var want []string
		for i := 1; i <= 500; i++ {
			want = append(want, fmt.Sprintf("%.1f", float64(i)*1.8+32))
		}
		for i := range 10 {
			if got := bySource[fmt.Sprint("s", i)]; !slices.Equal(got, want) {
				t.Errorf("source %d: %d lines, or not in order", i, len(got))
			}
		}
	})
}

// The first error ends all stages, with the place in its text; readers that wait for room end, too.
func TestRunEndsAtError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := run(t.Context(), []source{text("good", 3_000, 0), text("bad", 1000, 7)}, io.Discard)
		if err == nil || err.Error() != "bad:7: no Celsius" {
			t.Errorf("error %v", err)
		}
		missing := source{"missing", func() (io.ReadCloser, error) { return nil, fs.ErrNotExist }}
		if err := run(t.Context(), []source{text("good", 3_000, 0), missing}, io.Discard); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v, want %v", err, fs.ErrNotExist)
		}
	})
}

// full is a writer that is full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestRunEndsAtFullOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := run(t.Context(), []source{text("good", 3_000, 0)}, full{}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("error %v, want %v", err, io.ErrShortWrite)
		}
	})
}

// endless is a source without an end, which is slow.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return copy(b, "{\"City\": \"x\", \"Celsius\": 1}\n"), nil
}

// The end of the context ends all stages.
func TestRunEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		s := source{"endless", func() (io.ReadCloser, error) { return io.NopCloser(endless{}), nil }}
		if err := run(ctx, []source{s}, io.Discard); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
		}
	})
}
