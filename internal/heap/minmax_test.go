package heap

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"weak"
)

// mm is an element of a MinMax, which knows its place.
type mm struct {
	key, id, place int
	_              *mm // or a small one shares its memory with others, and is retained by them
}

func (e *mm) before(o *mm) int { return cmp.Or(cmp.Compare(e.key, o.key), cmp.Compare(e.id, o.id)) }

// minMaxProgram runs code, two bytes a step, on a MinMax and on a sorted slice.
func minMaxProgram(t *testing.T, code []byte) {
	h := NewMinMax[int](func(e *mm, place int) { e.place = place })
	var model []*mm
	for id := 0; len(code) >= 2; code = code[2:] {
		id++
		arg := int(code[1])
		switch code[0] % 8 {
		default:
			e := &mm{key: arg % 16, id: id}
			h.Push(e.key, e)
			model = append(model, e)
			slices.SortFunc(model, (*mm).before)
		case 4:
			e, ok := h.Pop()
			if ok != (len(model) > 0) || ok && e != model[0] {
				t.Fatalf("Pop: %v, %t; want the first of %v", e, ok, model)
			}
			model = model[min(1, len(model)):]
		case 5:
			e, ok := h.PopGreatest()
			if ok != (len(model) > 0) || ok && e != model[len(model)-1] {
				t.Fatalf("PopGreatest: %v, %t; want the last of %v", e, ok, model)
			}
			model = model[:max(0, len(model)-1)]
		case 6:
			if len(model) > 0 {
				i := arg % len(model)
				if e := h.At(model[i].place); e != model[i] {
					t.Fatalf("At(%d): %v, want %v", model[i].place, e, model[i])
				}
				if e := h.Remove(model[i].place); e != model[i] {
					t.Fatalf("Remove(%d): %v, want %v", model[i].place, e, model[i])
				}
				model = slices.Delete(model, i, i+1)
			}
		case 7:
			match := func(e *mm) bool { return e.id%(arg%7+2) == 0 }
			removed := h.RemoveFunc(match)
			before := len(model)
			model = slices.DeleteFunc(model, match)
			if len(removed) != before-len(model) {
				t.Fatalf("RemoveFunc: %d, want %d", len(removed), before-len(model))
			}
		}
		if h.Len() != len(model) {
			t.Fatalf("Len: %d, want %d", h.Len(), len(model))
		}
		if key, ok := h.Greatest(); ok != (len(model) > 0) || ok && key != model[len(model)-1].key {
			t.Fatalf("Greatest: %d, %t; want the last of %v", key, ok, model)
		}
		n := 0
		for e := range h.All() {
			n++
			if h.items[e.place].elem != e {
				t.Fatalf("%v is not where it says", e)
			}
		}
		if n != len(model) {
			t.Fatalf("All: %d elements, want %d", n, len(model))
		}
	}
	if all := h.Drain(); !slices.Equal(all, model) || h.Len() != 0 {
		t.Fatalf("Drain: %v, want %v", all, model)
	}
}

// After every step of a random program both ends of the queue, and all places, are those of
// a sorted slice.
func TestMinMaxModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		code := make([]byte, r.IntN(600))
		for i := range code {
			code[i] = byte(r.Uint32())
		}
		minMaxProgram(t, code)
	}
}

func FuzzMinMax(f *testing.F) {
	f.Add([]byte{0, 3, 0, 1, 0, 2, 0, 2, 4, 0, 5, 0, 6, 0, 0, 9, 0, 0, 7, 0, 5, 0})
	f.Fuzz(minMaxProgram)
}

// An element that has left can be collected, and so can the memory of many.
func TestMinMaxRetainsNothing(t *testing.T) {
	h := new(MinMax[int, *mm])
	var all []weak.Pointer[mm]
	for i := range 1000 {
		e := &mm{key: i * 7919 % 1000}
		all = append(all, weak.Make(e))
		h.Push(e.key, e)
	}
	for range 498 {
		h.Pop()
		h.PopGreatest()
	}
	h.RemoveFunc(func(*mm) bool { return true })
	runtime.GC()
	for i, p := range all {
		if p.Value() != nil {
			t.Fatalf("element %d is retained", i)
		}
	}
	if cap(h.items) > 64 {
		t.Errorf("room for %d is retained", cap(h.items))
	}
	runtime.KeepAlive(h)
}
