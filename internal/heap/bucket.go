package heap

import (
	"cmp"
	"iter"
	"math/bits"
)

const (
	blockSize  = 63
	blocks     = 16
	bucketSize = blocks * blockSize

	// An index in a bucket is the block and, in the low bits, the index in the block.
	blockBits = 6
	indexBits = blockBits + 4

	allUsed = 1<<blockSize - 1

	// maxBuckets is such that a place has 32 bits. It is enough for 67 million
	// elements: of two buckets side by side one is not small, so that the two have
	// 128 elements or more together.
	maxBuckets = 1 << (32 - 2 - indexBits)
)

// block is memory for a few items. The allocator puts a header of eight bytes before
// an object of this size. With that header and the padding, a block of interfaces
// under keys of 64 bits has 2,048 bytes, and no item crosses a cache line.
type block[K cmp.Ordered, E any] struct {
	_     [3]uint64
	items [blockSize]item[K, E]
}

// bucket has items in no order. One that is removed leaves a hole, which the next to
// come fills, so that no other item moves. What is in a hole has no meaning.
type bucket[K cmp.Ordered, E any] struct {
	n      int // items
	open   int // no block before this one has a hole
	used   [blocks]uint64
	blocks [blocks]*block[K, E] // nil where nothing is used
}

// add adds it to a bucket that is not full, and returns its index.
func (b *bucket[K, E]) add(it item[K, E], free *freeBlocks[K, E]) (index int) {
	for b.used[b.open] == allUsed {
		b.open++
	}
	i := b.open
	if b.blocks[i] == nil {
		b.blocks[i] = free.get()
	}
	j := bits.TrailingZeros64(^b.used[i])
	index = i<<blockBits | j
	*b.at(index) = it
	b.used[i] |= 1 << j
	b.n++
	return index
}

// has reports whether there is an item at index.
func (b *bucket[K, E]) has(index int) bool {
	return b.used[index>>blockBits]&(1<<(index%(1<<blockBits))) != 0
}

// at returns the item at index, or the hole. The comparison with nil takes the place
// of the one that the compiler would make by reading the first word of the block,
// which is in no cache: a cancellation in a long queue takes 0.93 of the time.
func (b *bucket[K, E]) at(index int) *item[K, E] {
	if block := b.blocks[index>>blockBits]; block != nil {
		return &block.items[index%(1<<blockBits)]
	}
	return nil
}

// free makes a hole of the item at index, and reports whether its block is empty now.
func (b *bucket[K, E]) free(index int) (empty bool) {
	i, j := index>>blockBits, index%(1<<blockBits)
	b.used[i] &^= 1 << j
	b.open = min(b.open, i)
	b.n--
	return b.used[i] == 0
}

// last returns the index of the last item; there is one.
func (b *bucket[K, E]) last() (index int) {
	i := blocks - 1
	for b.used[i] == 0 {
		i--
	}
	return i<<blockBits | (bits.Len64(b.used[i]) - 1)
}

// all returns all items with their indices. Each may be removed when it is yielded.
func (b *bucket[K, E]) all() iter.Seq2[int, *item[K, E]] {
	return func(yield func(int, *item[K, E]) bool) {
		for i, used := range b.used {
			for block := b.blocks[i]; used != 0; used &= used - 1 {
				j := bits.TrailingZeros64(used)
				if !yield(i<<blockBits|j, &block.items[j]) {
					return
				}
			}
		}
	}
}

// slots returns the slots of all items.
func (b *bucket[K, E]) slots() iter.Seq[slot[K]] {
	return func(yield func(slot[K]) bool) {
		for _, it := range b.all() {
			if !yield(it.slot) {
				return
			}
		}
	}
}

// freeBlocks has a few blocks that were emptied, to be used next. They are zero.
type freeBlocks[K cmp.Ordered, E any] struct{ blocks []*block[K, E] }

func (f *freeBlocks[K, E]) get() *block[K, E] {
	n := len(f.blocks)
	if n == 0 {
		return new(block[K, E])
	}
	b := f.blocks[n-1]
	f.blocks = f.blocks[:n-1]
	return b
}

func (f *freeBlocks[K, E]) put(b *block[K, E]) {
	if len(f.blocks) < blocks {
		f.blocks = append(f.blocks, b)
	}
}
