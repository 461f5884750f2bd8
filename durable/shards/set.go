package shards

import (
	"fmt"
	"iter"
	"math/bits"
	"strconv"
	"strings"
)

// A Set is a set of virtual shards. The zero Set is empty.
type Set struct{ words [Number / 64]uint64 }

// Range returns the virtual shards from, from+1 and so on, before until. It panics if one is none of 0 to Number-1.
func Range(from, until int) (s Set) {
	for v := from; v < until; v++ {
		s.Add(v)
	}
	return s
}

// Add adds a virtual shard. It panics if v is none of 0 to Number-1.
func (s *Set) Add(v int) { s.words[v/64] |= 1 << (v % 64) }

// Has reports whether a virtual shard is in the set.
func (s Set) Has(v int) bool { return v >= 0 && v < Number && s.words[v/64]>>(v%64)&1 == 1 }

// Len returns how many virtual shards are in the set.
func (s Set) Len() (n int) {
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// All yields the virtual shards, in order.
func (s Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for v := range Number {
			if s.Has(v) && !yield(v) {
				return
			}
		}
	}
}

// with, without and both return the virtual shards in one of the sets, in s alone, and in both.
func (s Set) with(t Set) Set    { return s.each(t, func(a, b uint64) uint64 { return a | b }) }
func (s Set) without(t Set) Set { return s.each(t, func(a, b uint64) uint64 { return a &^ b }) }
func (s Set) both(t Set) Set    { return s.each(t, func(a, b uint64) uint64 { return a & b }) }

func (s Set) each(t Set, op func(a, b uint64) uint64) Set {
	for i := range s.words {
		s.words[i] = op(s.words[i], t.words[i])
	}
	return s
}

// first returns n of the virtual shards.
func (s Set) first(n int) (some Set) {
	for v := range s.All() {
		if n--; n < 0 {
			break
		}
		some.Add(v)
	}
	return some
}

// String returns the virtual shards as ranges, as in "0-1023,2048"; "" for none.
func (s Set) String() string {
	var all []string
	for v := 0; v < Number; v++ {
		from := v
		for s.Has(v) {
			v++
		}
		switch {
		case v == from+1:
			all = append(all, strconv.Itoa(from))
		case v > from:
			all = append(all, fmt.Sprintf("%d-%d", from, v-1))
		}
	}
	return strings.Join(all, ",")
}

// MarshalText returns the text of String.
func (s Set) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text of String.
func (s *Set) UnmarshalText(text []byte) error {
	*s = Set{}
	if len(text) == 0 {
		return nil
	}
	for part := range strings.SplitSeq(string(text), ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || a < 0 || b < a || b >= Number {
			return invalid("virtual shards %q: they must be like 0-1023,2048, up to %d", text, Number-1)
		}
		*s = s.with(Range(a, b+1))
	}
	return nil
}
