// Package fresh keeps what some files say, and reads them again when they have changed, as those of a certificate that
// is renewed.
package fresh

import (
	"os"
	"slices"
	"sync"
	"time"
)

// every is how often the files are looked at, at most. It is documented.
const every = 10 * time.Second

// Value is what the files say. Its methods may be called by any goroutine.
type Value[T any] struct {
	files []string
	read  func() (T, error)

	mu struct {
		sync.Mutex
		value  T
		seen   []os.FileInfo // what the files looked like when they were read, whether or not they were right
		looked time.Time
		wrong  bool // those were not, and may be in the middle of a change
		told   func(T, error)
	}
}

// Open reads the files by a function, which is called again after a change.
func Open[T any](read func() (T, error), files ...string) (*Value[T], error) {
	v := &Value[T]{files: files, read: read}
	v.mu.looked, v.mu.seen = time.Now(), v.look()
	value, err := read()
	if err != nil {
		return nil, err
	}
	v.mu.value, v.mu.told = value, func(T, error) {}
	return v, nil
}

// Tell has a function called, from then on, with what was read again, or why the files are not used: then the value
// stays what it was. Fn must not call v.
func (v *Value[T]) Tell(fn func(T, error)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.mu.told = fn
}

// Get returns the value. Each ten seconds it looks at the files, and reads them if they are others. What is wrong then
// is told when it is the same at the next look: several files do not change at once.
func (v *Value[T]) Get() T {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now := time.Now(); now.Sub(v.mu.looked) >= every {
		v.mu.looked = now
		if seen := v.look(); !slices.EqualFunc(seen, v.mu.seen, same) {
			v.mu.seen, v.mu.wrong = seen, false
			v.again(false)
		} else if v.mu.wrong {
			v.mu.wrong = false
			v.again(true)
		}
	}
	return v.mu.value
}

// Again reads the files again, whatever they look like.
func (v *Value[T]) Again() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.mu.looked, v.mu.seen, v.mu.wrong = time.Now(), v.look(), false
	v.again(true)
}

// again reads the files. Sure says that what is wrong is told at once.
func (v *Value[T]) again(sure bool) {
	value, err := v.read()
	switch {
	case err == nil:
		v.mu.value = value
		v.mu.told(value, nil)
	case sure:
		v.mu.told(v.mu.value, err)
	default:
		v.mu.wrong = true
	}
}

// look returns what the files look like, without reading them: nil for one that is not there. It follows links, which
// is how they are often replaced.
func (v *Value[T]) look() (seen []os.FileInfo) {
	for _, name := range v.files {
		info, err := os.Stat(name)
		if err != nil {
			info = nil
		}
		seen = append(seen, info)
	}
	return seen
}

// same reports whether a file is the same as it was.
func same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
