package heap_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/executor-go/executor/internal/heap"
)

// item is an element that knows its place, as a scheduled task does.
type item struct {
	key, id int
	place   int
	_       [2]int // too large for the runtime to pack with others
}

func newItems() *heap.Queue[int, *item] {
	return heap.New[int](oneByOne(func(it *item, place int) { it.place = place }))
}

// model drives a queue and a sorted list side by side.
type model struct {
	t      *testing.T
	queue  *heap.Queue[int, *item]
	sorted []*item // by key, then id
	pushed int
}

// newModel returns a model whose queue numbers its arrivals anew after some, and has
// buckets of at most size elements.
func newModel(t *testing.T, arrivals, size int) *model {
	m := &model{t: t, queue: newItems()}
	m.queue.RenumberIn(arrivals)
	m.queue.SetBucketSize(size)
	return m
}

// step does one operation, chosen by op, on both, and compares the results.
func (m *model) step(op, arg byte) {
	m.t.Helper()
	many := 1 + int(op/16)*int(op/16) // 1 to 226
	op %= 12
	switch op {
	default:
		m.push(int(arg % 32))
	case 8: // in order
		for i := range many {
			m.push(int(arg) + i/2)
		}
	case 9: // out of order
		for i := range many {
			m.push((int(arg) + i*i) % 64)
		}
	case 10:
		for range many {
			m.remove(int(arg))
		}
	case 0, 1:
		m.pop()
	case 2:
		for range many {
			m.pop()
		}
	case 3, 4, 5:
		m.remove(int(arg))
	case 6:
		match := func(it *item) bool { return it.id%int(arg%7+2) == 0 }
		if arg > 200 { // nearly all
			match = func(it *item) bool { return it.id%16 != 0 }
		}
		var want []*item
		m.sorted = slices.DeleteFunc(m.sorted, func(it *item) bool {
			if match(it) {
				want = append(want, it)
			}
			return match(it)
		})
		m.same(m.queue.RemoveFunc(match), want)
	case 7:
		if arg%8 > 0 { // rarely, or the queue would never be long
			return
		}
		all := m.queue.Drain()
		if !slices.Equal(all, m.sorted) {
			m.t.Fatalf("Drain returned another order than the list")
		}
		m.sorted = nil
	}
	m.peek()
	m.check()
}

func (m *model) push(key int) {
	m.t.Helper()
	it := &item{key: key, id: m.pushed}
	it.place = m.queue.Push(it.key, it)
	m.pushed++
	i, _ := slices.BinarySearchFunc(m.sorted, it.key+1, func(it *item, key int) int { return cmp.Compare(it.key, key) })
	m.sorted = slices.Insert(m.sorted, i, it)
}

func (m *model) pop() {
	m.t.Helper()
	k, it, ok := m.queue.Pop()
	if ok != (len(m.sorted) > 0) {
		m.t.Fatalf("Pop = %v with %d elements", ok, len(m.sorted))
	}
	if ok {
		if want := m.sorted[0]; it != want || k != want.key {
			m.t.Fatalf("popped %d %v, want %d %v", k, it, want.key, want)
		}
		m.sorted = m.sorted[1:]
	}
}

// remove removes the i-th element, modulo the length.
func (m *model) remove(i int) {
	m.t.Helper()
	if len(m.sorted) == 0 {
		return
	}
	i %= len(m.sorted)
	want := m.sorted[i]
	if it := m.queue.Take(want.place); it != want {
		m.t.Fatalf("removed %v, want %v", it, want)
	}
	m.sorted = slices.Delete(m.sorted, i, i+1)
}

// same checks that removed and want have the same elements, in any order.
func (m *model) same(removed, want []*item) {
	m.t.Helper()
	byID := func(a, b *item) int { return cmp.Compare(a.id, b.id) }
	slices.SortFunc(removed, byID)
	slices.SortFunc(want, byID)
	if !slices.Equal(removed, want) {
		m.t.Fatalf("removed %v, want %v", removed, want)
	}
}

func (m *model) peek() {
	m.t.Helper()
	k, it, ok := m.queue.Peek()
	switch {
	case ok != (len(m.sorted) > 0):
		m.t.Fatalf("Peek = %v with %d elements", ok, len(m.sorted))
	case ok && (it != m.sorted[0] || k != it.key):
		m.t.Fatalf("Peek = %d %v, want %v", k, it, m.sorted[0])
	}
}

func (m *model) check() {
	m.t.Helper()
	if err := m.queue.Check(); err != nil {
		m.t.Fatal(err)
	}
	if m.queue.Len() != len(m.sorted) {
		m.t.Fatalf("Len = %d, want %d", m.queue.Len(), len(m.sorted))
	}
	seen := make(map[int]bool) // by place
	for k, it := range m.queue.All() {
		if seen[it.place] || it.key != k {
			m.t.Fatalf("under key %d: %v", k, it)
		}
		seen[it.place] = true
	}
	for _, it := range m.sorted {
		if !seen[it.place] {
			m.t.Fatalf("All does not have %v", it)
		}
	}
}

// A queue agrees with a sorted list, and keeps its invariants, after every step of a
// random program.
func TestQueueAgreesWithSortedList(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 60 {
		m := newModel(t, random.IntN(3000), 2+random.IntN(200))
		for range 300 {
			m.step(byte(random.Uint32()), byte(random.Uint32()))
		}
	}
}

// A queue agrees with a sorted list after every step of any program, two bytes a step.
func FuzzQueue(f *testing.F) {
	f.Add(byte(9), []byte{
		11, 10, 11, 100, 11, 20, 11, 30, 11, 40, 11, 110, 11, 120, 11, 130, 11, 140, 11, 25, 3, 5, 0, 0, 0, 0,
	})
	f.Add(byte(3), []byte{11, 1, 11, 1, 11, 1, 6, 0, 7, 0})
	f.Add(byte(200), []byte{248, 7, 249, 3, 248, 60, 249, 9, 11, 0, 3, 5, 6, 255, 242, 0, 250, 2, 7, 8})
	f.Add(byte(0), []byte{0xa9, 0xa9, 0xa9})
	f.Fuzz(func(t *testing.T, first byte, ops []byte) {
		m := newModel(t, int(first), 2+int(first)%150)
		ops = ops[:min(len(ops), 600)] // each step looks at all elements
		for ; len(ops) >= 2; ops = ops[2:] {
			m.step(ops[0], ops[1])
		}
	})
}

// oneByOne returns a function that calls moved for each of its elements.
func oneByOne[E any](moved func(e E, place int)) func([]E, []int32) {
	return func(elems []E, places []int32) {
		for i, e := range elems {
			moved(e, int(places[i]))
		}
	}
}

func popAll[K int | float64, E any](q *heap.Queue[K, E]) (keys []K, elems []E) {
	for {
		k, e, ok := q.Pop()
		if !ok {
			return keys, elems
		}
		keys, elems = append(keys, k), append(elems, e)
	}
}

// The zero Queue is empty and ready to use.
func TestQueueZeroValue(t *testing.T) {
	var q heap.Queue[int, string]
	if _, _, ok := q.Peek(); ok {
		t.Error("Peek of an empty queue returned an element")
	}
	if _, _, ok := q.Pop(); ok {
		t.Error("Pop of an empty queue returned an element")
	}
	if q.Len() != 0 || q.Drain() != nil || q.RemoveFunc(func(string) bool { return true }) != nil {
		t.Error("empty queue is not empty")
	}
	q.Push(2, "b")
	q.Push(1, "a")
	if k, e, ok := q.Peek(); !ok || k != 1 || e != "a" {
		t.Errorf("Peek = %v, %q, %v", k, e, ok)
	}
}

// Elements under equal keys leave in order of arrival, also after a RemoveFunc.
func TestQueueTiesInOrderOfArrival(t *testing.T) {
	var q heap.Queue[int, int]
	for i := range 1000 {
		q.Push(i%3, i)
	}
	q.RemoveFunc(func(i int) bool { return i%7 == 0 })
	_, elems := popAll(&q)
	last := [3]int{-1, -1, -1}
	for _, i := range elems {
		if i < last[i%3] {
			t.Fatalf("%d left after %d", i, last[i%3])
		}
		last[i%3] = i
	}
}

// Elements under equal keys leave in order of arrival also if the arrivals are numbered
// anew meanwhile, in the lane and in the tree.
func TestQueueTiesAfterRenumber(t *testing.T) {
	for n := range 40 {
		var q heap.Queue[int, int]
		q.RenumberIn(n)
		want := [2][]int{}
		for i := range 40 {
			key := i / 3 % 2
			q.Push(key, i)
			want[key] = append(want[key], i)
		}
		if _, elems := popAll(&q); !slices.Equal(elems, slices.Concat(want[0], want[1])) {
			t.Errorf("numbered anew after %d: popped %v, want %v", n, elems, want)
		}
	}
}

// NaN is an ordinary key, less than any number and equal to itself, in the lane and in
// the tree.
func TestQueueNaN(t *testing.T) {
	nan := math.NaN()
	for _, blocker := range []float64{nan, math.Inf(1)} {
		var q heap.Queue[float64, int]
		q.Push(blocker, -1)
		for i, k := range []float64{nan, nan, nan, nan, nan, nan, 1, nan, math.Inf(-1), nan, 0} {
			q.Push(k, i)
		}
		_, elems := popAll(&q)
		elems = slices.DeleteFunc(elems, func(e int) bool { return e < 0 })
		if want := []int{0, 1, 2, 3, 4, 5, 7, 9, 8, 10, 6}; !slices.Equal(elems, want) {
			t.Errorf("after %v: popped %v, want %v", blocker, elems, want)
		}
	}
}

// Remove panics, and changes nothing, if there is no element at the place.
func TestQueueRemoveNothing(t *testing.T) {
	var q heap.Queue[int, int]
	lane, tree := q.Push(1, 1), q.Push(0, 0)
	q.Push(2, 2)
	q.Pop()
	q.Pop()
	for _, place := range []int{
		lane, tree, 2, 100, 101, 102, -1, -2, -4,
		math.MinInt, math.MinInt + 2, math.MaxInt, math.MaxInt - 1,
	} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, ": no element at place") {
					t.Errorf("Remove(%d) panicked with %q", place, text)
				}
			}()
			q.Remove(place)
		}()
	}
	if q.Len() != 1 {
		t.Error("a refused removal removed something")
	}
}

// An element that has left a short queue, by any method, can be collected.
func TestQueueRetainsNothing(t *testing.T) {
	q := newItems()
	var gone []weak.Pointer[item]
	var items []*item
	push := func(keys ...int) {
		for _, key := range keys {
			it := &item{key: key}
			gone = append(gone, weak.Make(it))
			it.place = q.Push(key, it)
			items = append(items, it)
		}
	}
	push(0, 1, 2, 3, 4, 1, 2, 3, 4) // five to the lane and four to the tree
	q.Pop()
	q.Pop()
	q.Remove(items[3].place)
	q.Remove(items[8].place)
	q.Remove(items[7].place)
	q.RemoveFunc(func(it *item) bool { return true })
	push(0, 1, 2, 3, 1, 2, 3)
	q.Drain()
	clear(items)

	runtime.GC()
	for i, p := range gone {
		if p.Value() != nil {
			t.Errorf("element %d is retained", i)
		}
	}
	runtime.KeepAlive(q)
}

// A queue releases its memory when many elements have left, by any method, but for that
// of a tree and a bucket.
func TestQueueReleasesMemory(t *testing.T) {
	const n = 300_000
	for name, empty := range map[string]func(q *heap.Queue[int, int], places []int){
		"Drain":      func(q *heap.Queue[int, int], _ []int) { q.Drain() },
		"RemoveFunc": func(q *heap.Queue[int, int], _ []int) { q.RemoveFunc(func(i int) bool { return i > 0 }) },
		"Remove": func(q *heap.Queue[int, int], places []int) { // Pop would take long under -race
			for _, place := range places[n/2:] {
				q.Remove(place)
			}
			q.RemoveFunc(func(int) bool { return true })
		},
	} {
		t.Run(name, func(t *testing.T) {
			places := make([]int, n)
			q := heap.New[int](oneByOne(func(e, place int) { places[e] = place }))
			for i := range n {
				places[i] = q.Push(-i, i) // all but the first out of order
			}
			empty(q, places)
			if q.Cap() > 2500 {
				t.Errorf("%d slots for %d elements", q.Cap(), q.Len())
			}
		})
	}
}

// A queue that grows and shrinks around any length allocates nothing.
func TestQueueDoesNotThrash(t *testing.T) {
	for size := 1; size < 3000; size += 23 {
		var q heap.Queue[int, int]
		for i := range size {
			q.Push(i, i)
		}
		for q.Len() > size/2 {
			q.Pop()
		}
		n := testing.AllocsPerRun(20, func() {
			q.Push(1, 1)
			q.Push(1, 1)
			q.Pop()
			q.Pop()
		})
		if n > 0 {
			t.Fatalf("%v allocations in pushing and popping around %d", n, size/2)
		}
	}
}
