package durable_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// squares are Jobs with a kind whose result is the square of its payload, and fails for a negative one, and a kind that
// adds up the results of its parents.
func squares(t *testing.T) (jobs *durable.Jobs, square, sum *durable.Kind[int, int]) {
	t.Helper()
	jobs = newJobs(t, memory.New())
	square = durable.Handle(jobs, "square", func(_ context.Context, n int) (int, error) {
		if n < 0 {
			return 0, executor.Permanent(errors.New("negative"))
		}
		return n * n, nil
	})
	sum = durable.Handle(jobs, "sum", func(ctx context.Context, _ int) (int, error) {
		total := 0
		results, err := durable.ParentResults[int](ctx)
		for _, n := range results {
			total += n
		}
		return total, err
	})
	return jobs, square, sum
}

// The results of parents come from the codec, each as one of its kind.
func TestParentResultsAreDecoded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New(), withCodec(newSealed(key16)))
		double := durable.Handle(jobs, "double", func(_ context.Context, n int) (int, error) { return 2 * n, nil })
		triple := durable.Handle(jobs, "triple", func(_ context.Context, n int) (int, error) { return 3 * n, nil })
		list := durable.Handle(jobs, "list", func(ctx context.Context, _ int) ([]int, error) {
			return durable.ParentResults[int](ctx)
		})
		start(t, jobs)
		after := durable.After(must(double.Add(t.Context(), 5)), must(triple.Add(t.Context(), 5)))
		id := must(list.Add(t.Context(), 0, after))
		if got := must(list.Await(t.Context(), id)); !slices.Equal(got, []int{10, 15}) {
			t.Errorf("the results are %v, want [10 15]", got)
		}
	})
}

// A job runs as soon as its parents have succeeded, and reads their results.
func TestAfterRunsWithResultsOfParents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, square, sum := squares(t)
		start(t, jobs)
		parents := must(square.AddAll(t.Context(), time.Hour, []int{1, 2, 3}))
		late := must(square.AddAfter(t.Context(), 2*time.Hour+350*time.Millisecond, 10))
		id := must(sum.Add(t.Context(), 0, durable.After(parents...), durable.After(late)))
		time.Sleep(90 * time.Minute)
		if j := must(jobs.Get(t.Context(), id)); j.State != durable.Blocked {
			t.Errorf("it is %v", j.State)
		}
		if c := must(jobs.CountParents(t.Context(), id)); c != (durable.ParentCounts{Total: 4, Succeeded: 3, Need: 4}) {
			t.Errorf("the counts are %+v", c)
		}
		begun := time.Now()
		if total := must(sum.Await(t.Context(), id)); total != 114 {
			t.Errorf("the sum is %d, want 114", total)
		}
		if took := time.Since(begun); took != 30*time.Minute+350*time.Millisecond { // no poll is at that time
			t.Errorf("its last parent was due in 30m0.35s, and it has ended after %v", took)
		}
	})
}

// A job whose parent fails is canceled, and so are those after it. Its error names the parent.
func TestAfterCancelsWithTheParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, square, sum := squares(t)
		parent := must(square.Add(t.Context(), -1))
		child := must(sum.Add(t.Context(), 0, durable.After(parent)))
		grandchild := must(sum.Add(t.Context(), 0, durable.After(child)))
		start(t, jobs)
		for id, parent := range map[durable.ID]durable.ID{child: parent, grandchild: child} {
			_, err := sum.Await(t.Context(), id)
			if job := (*durable.JobError)(nil); !errors.As(err, &job) || job.State != durable.Canceled || !strings.Contains(job.Text, parent.String()) {
				t.Errorf("the error is %v, want one that names %v", err, parent)
			}
		}
	})
}

// With AtLeast a job runs as soon as so many parents have succeeded.
func TestAtLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, square, sum := squares(t)
		start(t, jobs)
		var parents []durable.ID
		for i, n := range []int{-1, 2, 3} {
			parents = append(parents, must(square.AddAfter(t.Context(), time.Duration(i)*time.Hour, n)))
		}
		id := must(sum.Add(t.Context(), 0, durable.After(parents...), durable.AtLeast(1)))
		if total := must(sum.Await(t.Context(), id)); total != 4 {
			t.Errorf("the sum is %d, want 4", total)
		}
	})
}

// With EvenIfFailed a job runs when its parents have ended, however, and learns how.
func TestEvenIfFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, square, _ := squares(t)
		report := durable.Handle(jobs, "report", func(ctx context.Context, _ int) (string, error) {
			c, err := durable.CountParents(ctx)
			states := ""
			for p, err := range durable.Parents(ctx) {
				states += fmt.Sprint(" ", p.State, " ", p.Error, must(p, err).Payload)
			}
			return fmt.Sprint(c.Succeeded, " of ", c.Total, ":", states), err
		})
		start(t, jobs)
		parents := must(square.AddAll(t.Context(), time.Minute, []int{-1, 7}))
		gone := must(square.AddAfter(t.Context(), time.Hour, 1))
		id := must(report.Add(t.Context(), 0, durable.After(append(parents, gone)...), durable.EvenIfFailed()))
		must(jobs.Delete(t.Context(), gone))
		want := "1 of 3: dead negative[45 49] succeeded [55] canceled []"
		if got := must(report.Await(t.Context(), id)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// A result that was deleted with its job is an error that says so.
func TestParentResultsOfDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, square, sum := squares(t)
		start(t, jobs)
		parent := must(square.Add(t.Context(), 1))
		must(square.Await(t.Context(), parent))
		id := must(sum.AddAfter(t.Context(), time.Hour, 0, durable.After(parent), durable.Key("sum")))
		must(jobs.Delete(t.Context(), parent))
		time.Sleep(61 * time.Minute)
		if j := must(jobs.Get(t.Context(), id)); !strings.Contains(j.Error, parent.String()) || !strings.Contains(j.Error, durable.ErrNotFound.Error()) {
			t.Errorf("it is %+v", j)
		}
	})
}

// What can't be waited for is an error, and nothing is added.
func TestAfterDeclines(t *testing.T) {
	jobs, square, sum := squares(t)
	parent := must(square.AddAfter(t.Context(), time.Hour, 1))
	many := make([]durable.ID, durable.MaxParents+1)
	for i := range many {
		many[i] = durable.NewID()
	}
	for name, opts := range map[string][]durable.Option{
		"zero ID":        {durable.After(durable.ID{})},
		"too many":       {durable.After(many...)},
		"need none":      {durable.After(parent), durable.AtLeast(0)},
		"need too many":  {durable.After(parent, parent), durable.AtLeast(2)},
		"no parents":     {durable.AtLeast(1)},
		"none to fail":   {durable.EvenIfFailed()},
		"reuse of a key": {durable.After(parent), durable.Key("k"), durable.ReuseKey()},
		"replacement":    {durable.Replace(), durable.After(parent), durable.Key("k")},
	} {
		if _, err := sum.Add(t.Context(), 0, opts...); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := sum.AtFixedRate(t.Context(), "key", 0, time.Hour, 0, durable.After(parent)); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("a periodic job: %v", err)
	}
	if _, err := sum.Add(t.Context(), 0, durable.After(durable.NewID())); !errors.Is(err, durable.ErrNotFound) {
		t.Errorf("a parent that is not there: %v", err)
	}
	if all := must(jobs.List(t.Context(), durable.Filter{})); len(all) != 1 {
		t.Errorf("there are %d jobs, want the parent alone", len(all))
	}
}

// A job after none is one that waits for none.
func TestAfterNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, _, sum := squares(t)
		start(t, jobs)
		id := must(sum.Add(t.Context(), 0, durable.After(), durable.EvenIfFailed()))
		if total := must(sum.Await(t.Context(), id)); total != 0 {
			t.Errorf("the sum is %d", total)
		}
		if _, err := jobs.CountParents(t.Context(), id); !errors.Is(err, durable.ErrNotFound) {
			t.Errorf("its counts: %v", err)
		}
	})
}

// Parents and children are sequences, which read page after page and can be read again. A loop may leave them.
func TestParentsAndChildren(t *testing.T) {
	jobs, square, sum := squares(t)
	root := must(square.AddAfter(t.Context(), time.Hour, 0))
	middle := must(square.AddAll(t.Context(), 0, make([]int, 250), durable.After(root)))
	last := must(sum.Add(t.Context(), 0, durable.After(middle...)))
	ids := func(seq iter.Seq2[durable.Job, error], limit int) (all []durable.ID) {
		for j, err := range seq {
			if all = append(all, must(j, err).ID); len(all) == limit {
				break
			}
		}
		return all
	}
	parents, children := jobs.Parents(t.Context(), last), jobs.Children(t.Context(), root)
	for range 2 {
		if got := ids(parents, 0); !slices.Equal(got, middle) {
			t.Errorf("there are %d parents, or in another order, want %d", len(got), len(middle))
		}
		if got := ids(children, 0); len(got) != len(middle) {
			t.Errorf("there are %d children, want %d", len(got), len(middle))
		}
	}
	if c := must(jobs.CountChildren(t.Context(), root)); len(c) != 1 || c[0].State != durable.Blocked || c[0].Jobs != len(middle) {
		t.Errorf("the children are counted as %+v", c)
	}
	if got := ids(parents, 120); !slices.Equal(got, middle[:120]) {
		t.Error("the first 120 parents are others")
	}
	for range durable.Parents(t.Context()) {
		t.Error("there is a parent without a handler")
	}
}

// firstError returns the error of the first of a sequence, nil if there is none.
func firstError(seq iter.Seq2[durable.Job, error]) error {
	for _, err := range seq {
		return err
	}
	return nil
}

// Jobs that were prepared are added together, whatever their kinds, as a batch: the last runs after the others.
func TestAddBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, square, sum := squares(t)
		start(t, jobs)
		var batch []durable.Prepared
		var ids []durable.ID
		for _, n := range []int{1, -1, 3} {
			p := square.Prepare(time.Minute, n)
			batch, ids = append(batch, p), append(ids, p.ID())
		}
		batch = append(batch, sum.Prepare(0, 0, durable.After(ids...), durable.EvenIfFailed()))
		added := must(jobs.Add(t.Context(), batch...))
		if !slices.Equal(added[:3], ids) {
			t.Errorf("added %v, want %v", added, ids)
		}
		if total := must(sum.Await(t.Context(), added[3])); total != 10 {
			t.Errorf("the sum is %d, want 10", total)
		}
		if again := must(jobs.Add(t.Context(), batch...)); !slices.Equal(again, added) {
			t.Errorf("added again they are %v, want %v", again, added)
		}
		if all := must(jobs.List(t.Context(), durable.Filter{})); len(all) != 4 {
			t.Errorf("there are %d jobs, want 4", len(all))
		}
	})
}

// A list that can't be added as a whole is an error, and adds nothing.
func TestAddDeclines(t *testing.T) {
	jobs, square, sum := squares(t)
	_, foreign, _ := squares(t)
	first, keyed := square.Prepare(0, 1), square.Prepare(0, 1, durable.Key("k"))
	child := sum.Prepare(0, 0, durable.After(first.ID()))
	for name, list := range map[string][]durable.Prepared{
		"child before its parent": {child, first},
		"twice":                   {first, first},
		"same key":                {keyed, square.Prepare(0, 2, durable.Key("k"))},
		"invalid":                 {first, square.Prepare(0, 1, durable.Attempts(0))},
		"of other Jobs":           {first, foreign.Prepare(0, 1)},
		"none":                    {first, {}},
	} {
		if _, err := jobs.Add(t.Context(), list...); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := jobs.Add(t.Context(), child); !errors.Is(err, durable.ErrNotFound) {
		t.Errorf("a parent that is not there: %v", err)
	}
	must(square.AddAfter(t.Context(), time.Hour, 1, durable.Key("k")))
	if _, err := jobs.Add(t.Context(), first, sum.Prepare(0, 0, durable.Key("k"))); !errors.Is(err, durable.ErrKeyTaken) || !strings.Contains(err.Error(), `"k"`) {
		t.Errorf("a key of another kind: %v", err)
	}
	if _, err := jobs.AddTx(t.Context(), nil, first); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("no transaction: %v", err)
	}
	if ids, err := jobs.Add(t.Context()); ids != nil || err != nil {
		t.Errorf("nothing: %v, %v", ids, err)
	}
	if all := must(jobs.List(t.Context(), durable.Filter{})); len(all) != 1 {
		t.Errorf("there are %d jobs, want 1", len(all))
	}
}
