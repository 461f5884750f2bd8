package main

import (
	"os"
	"path/filepath"
	"time"
)

// watchEvery is how often --watch looks at the files. It is documented.
const watchEvery = 2 * time.Second

// watch finds out when files have changed, by looking at them from time to time. Events of the kernel lost: they
// say nothing of files on other machines, and of the links of a ConfigMap, which are exchanged two directories
// above the file, not the same on each system.
type watch struct {
	sources sources
	was     snapshot // that was answered, or was there at the begin
	seen    snapshot // at the last look
}

// snapshot is what shows of files without reading them.
type snapshot []sight

// sight is what shows of one file: which one has the name, and when it was written.
type sight struct {
	name string
	info os.FileInfo // nil if it cannot be looked at
}

func newWatch(s sources) *watch {
	now := sightsOf(s)
	return &watch{sources: s, was: now, seen: now}
}

// changed looks at the files, and reports whether they are others than when it last reported that, or at the begin.
// They have to be the same at two looks: what is being written is not read.
func (w *watch) changed() bool {
	now := sightsOf(w.sources)
	settled := now.equal(w.seen)
	w.seen = now
	if !settled || now.equal(w.was) {
		return false
	}
	w.was = now
	return true
}

// sightsOf looks at all files, past links.
func sightsOf(s sources) (all snapshot) {
	files, _, err := s.files()
	if err != nil {
		return snapshot{{name: err.Error()}}
	}
	for _, f := range files {
		seen := sight{name: f.name}
		if path, err := filepath.EvalSymlinks(f.name); err == nil {
			seen.name += " " + path
		}
		if info, err := os.Stat(f.name); err == nil {
			seen.info = info
		}
		all = append(all, seen)
	}
	return all
}

func (s snapshot) equal(other snapshot) bool {
	if len(s) != len(other) {
		return false
	}
	for i, a := range s {
		b := other[i]
		switch {
		case a.name != b.name, (a.info == nil) != (b.info == nil):
			return false
		case a.info == nil:
		case !os.SameFile(a.info, b.info), a.info.Size() != b.info.Size(), !a.info.ModTime().Equal(b.info.ModTime()):
			return false
		}
	}
	return true
}
