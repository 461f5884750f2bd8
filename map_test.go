package executor_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// count yields 0 to n-1, and notes how many were asked for.
func count(n int, asked *int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			*asked++
			if !yield(i) {
				return
			}
		}
	}
}

// Map yields results in the order of the values, whatever time each takes.
func TestMapKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(4)
		defer pool.Close()
		var got []int
		var asked int
		body := func(_ context.Context, i int) (int, error) {
			time.Sleep(time.Duration(i*7%5) * time.Second)
			return i * 10, nil
		}
		for v, err := range executor.Map(t.Context(), pool, 8, count(50, &asked), body) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v)
		}
		if len(got) != 50 || !slices.IsSorted(got) {
			t.Errorf("%v", got)
		}
	})
}

// MapUnordered yields results as they come.
func TestMapUnorderedYieldsSoonestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(3)
		defer pool.Close()
		var got []int
		body := func(_ context.Context, i int) (int, error) {
			time.Sleep(time.Duration(i) * time.Second)
			return i, nil
		}
		for v, err := range executor.MapUnordered(t.Context(), pool, 3, slices.Values([]int{5, 1, 3, 1}), body) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v)
		}
		if want := []int{1, 1, 3, 5}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// mapping is the type of Map and MapUnordered.
type mapping = func(context.Context, executor.Executor, int, iter.Seq[int],
	func(context.Context, int) (int, error), ...executor.Option) iter.Seq2[int, error]

var bothMaps = map[string]mapping{
	"Map": executor.Map[int, int], "MapUnordered": executor.MapUnordered[int, int],
}

// No more values are asked for than may be in flight, beside those that were yielded.
func TestMapBoundsFlight(t *testing.T) {
	for name, apply := range bothMaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := executor.Fixed(2)
				defer pool.Close()
				var asked, yielded int
				identity := func(_ context.Context, i int) (int, error) { return i, nil }
				for range apply(t.Context(), pool, 5, count(100, &asked), identity) {
					yielded++
					synctest.Wait()
					if asked > yielded+5 {
						t.Fatalf("%d values were asked for when %d were yielded", asked, yielded)
					}
				}
				if yielded != 100 {
					t.Errorf("%d were yielded", yielded)
				}
			})
		})
	}
}

// Leaving the loop ends the context of what is in flight, and waits for it.
func TestMapEndsEarly(t *testing.T) {
	for name, apply := range bothMaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := executor.Fixed(3)
				defer pool.Close()
				var asked int
				var inside atomic.Int32
				body := func(ctx context.Context, i int) (int, error) {
					inside.Add(1)
					defer inside.Add(-1)
					if i > 0 {
						<-ctx.Done()
						time.Sleep(time.Second)
					}
					return i, nil
				}
				for range apply(t.Context(), pool, 10, count(1000, &asked), body) {
					break
				}
				if n := inside.Load(); n != 0 || asked > 11 {
					t.Errorf("%d calls have not returned; %d values were asked for", n, asked)
				}
			})
		})
	}
}

// An error is that of its value, and the loop goes on.
func TestMapYieldsErrors(t *testing.T) {
	for name, apply := range bothMaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := executor.Fixed(1)
				defer pool.Close()
				var asked int
				var got []string
				body := func(_ context.Context, i int) (int, error) {
					if i == 1 {
						return 0, errors.New("odd")
					}
					return i, nil
				}
				for v, err := range apply(t.Context(), pool, 2, count(3, &asked), body) {
					got = append(got, fmt.Sprint(v, err))
				}
				if s := strings.Join(got, ", "); s != "0 <nil>, 0 odd, 2 <nil>" {
					t.Error(s)
				}
			})
		})
	}
}

// The end of the context ends the loop, with its error as the last.
func TestMapEndsWithContext(t *testing.T) {
	for name, apply := range bothMaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := executor.Fixed(2)
				defer pool.Close()
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				var asked int
				var last error
				body := func(ctx context.Context, i int) (int, error) {
					time.Sleep(3 * time.Second)
					return i, nil
				}
				for _, err := range apply(ctx, pool, 2, count(1000, &asked), body) {
					last = err
				}
				if !errors.Is(last, context.DeadlineExceeded) || asked > 12 {
					t.Errorf("last error %v, %d asked", last, asked)
				}
			})
		})
	}
}

// A task may range over a Map on its own pool, however few workers there are.
func TestMapNested(t *testing.T) {
	for name, apply := range bothMaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := executor.Single()
				defer pool.Close()
				sum, err := executor.Submit(t.Context(), pool, func(ctx context.Context) (sum int, err error) {
					var asked int
					identity := func(_ context.Context, i int) (int, error) { return i, nil }
					for v, err := range apply(ctx, pool, 4, count(20, &asked), identity) {
						if err != nil {
							return 0, err
						}
						sum += v
					}
					return sum, nil
				}).Get(t.Context())
				if sum != 190 || err != nil {
					t.Errorf("%d, %v; want 190", sum, err)
				}
			})
		})
	}
}

// Misuse panics, at the call and not in the loop.
func TestMapPanics(t *testing.T) {
	pool := executor.Fixed(1)
	defer pool.Close()
	var asked int
	seq, fn := count(1, &asked), func(_ context.Context, i int) (int, error) { return i, nil }
	for name, apply := range bothMaps {
		for want, call := range map[string]func(){
			"executor: nil Context":                                 func() { apply(nil, pool, 1, seq, fn) },
			"executor: " + name + ": nil Executor":                  func() { apply(t.Context(), nil, 1, seq, fn) },
			"executor: " + name + ": n is 0; it must be at least 1": func() { apply(t.Context(), pool, 0, seq, fn) },
			"executor: " + name + ": nil function":                  func() { apply(t.Context(), pool, 1, seq, nil) },
		} {
			func() {
				defer func() {
					if v := recover(); v != want {
						t.Errorf("panic %v, want %s", v, want)
					}
				}()
				call()
			}()
		}
	}
}
