package durable_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// Meta that can't be kept is an error that names what is wrong, and the job is not added.
func TestWithMetaDeclinesWhatCannotBeKept(t *testing.T) {
	jobs := newJobs(t, memory.New())
	k := durable.KindOf[int, int](jobs, "k")
	for says, meta := range map[string]map[string]string{
		"2049 bytes as JSON; at most 2048 are allowed": {"a": strings.Repeat("x", durable.MaxMeta-7)},
		"a name must not be empty":                     {"": "x"},
		`meta "\xff": the name must be valid UTF-8`:    {"\xff": "x"},
		`meta "a": the value must be valid UTF-8`:      {"a": "\xff"},
	} {
		_, err := k.Add(t.Context(), 1, durable.WithMeta(meta))
		if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	most := map[string]string{"a": strings.Repeat("x", durable.MaxMeta-8)}
	id, err := k.AddAfter(t.Context(), time.Hour, 1, durable.WithMeta(most))
	if err != nil || must(jobs.Get(t.Context(), id)).Meta["a"] != most["a"] {
		t.Errorf("the most: %v", err)
	}
	if all := must(jobs.List(t.Context(), durable.Filter{})); len(all) != 1 {
		t.Errorf("there are %d jobs", len(all))
	}
}

// Several WithMeta add up, and what the caller does to the map afterwards has no effect.
func TestWithMetaAddsUp(t *testing.T) {
	jobs := newJobs(t, memory.New())
	meta := map[string]string{"a": "1", "b": "1"}
	id := must(durable.KindOf[int, int](jobs, "k").AddAfter(t.Context(), time.Hour, 1, durable.WithMeta(meta),
		durable.WithMeta(map[string]string{"b": "2"})))
	meta["a"] = "changed"
	if got := must(jobs.Get(t.Context(), id)).Meta; len(got) != 2 || got["a"] != "1" || got["b"] != "2" {
		t.Errorf("meta is %v", got)
	}
}
