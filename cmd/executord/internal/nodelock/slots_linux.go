package nodelock

import (
	"bytes"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// slotSize is how long a slot is: the boot, a space, the name of a node, a newline, and zeros.
const slotSize = 256

// mostSlots bounds a search: so many daemons share no file.
const mostSlots = 1024

// slots are the file. The locks are of this description of it ("open file description locks"): children do not get
// them, and a second one in the same process meets them.
type slots struct {
	file  *os.File
	boot  string
	own   int64   // the slot of this node; -1 for none
	found []int64 // slots of dead nodes, which are locked
}

// openSlots opens the file, or makes it. It returns nil if it can't, or if the file system has no locks.
func openSlots(name string) *slots {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil
	}
	return &slots{file: file, boot: string(bytes.TrimSpace(boot)), own: -1}
}

// lock locks or unlocks a slot, and reports whether it could.
func (s *slots) lock(slot int64, kind int16) bool {
	l := unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: slot * slotSize, Len: slotSize}
	return unix.FcntlFlock(s.file.Fd(), unix.F_OFD_SETLK, &l) == nil
}

// read returns the name in a slot of this boot, "" if there is none.
func (s *slots) read(slot int64) string {
	text := make([]byte, slotSize)
	n, _ := s.file.ReadAt(text, slot*slotSize)
	line, _, ok := strings.Cut(string(text[:n]), "\n")
	boot, node, two := strings.Cut(line, " ")
	if !ok || !two || boot != s.boot {
		return ""
	}
	return node
}

// write fills a slot.
func (s *slots) write(slot int64, line string) {
	text := make([]byte, slotSize)
	copy(text, line)
	s.file.WriteAt(text, slot*slotSize)
}

// take locks the first slot that is free, and writes the name of this node into it. A node that joins again keeps its
// slot.
func (s *slots) take(node string) {
	line := ""
	if s != nil {
		line = s.boot + " " + node + "\n"
	}
	if s == nil || len(line) > slotSize {
		return
	}
	for slot := int64(0); s.own < 0 && slot < mostSlots; slot++ {
		if !s.lock(slot, unix.F_WRLCK) {
			continue
		}
		if s.read(slot) != "" { // of a node that is dead: whoever buries it takes the name
			s.lock(slot, unix.F_UNLCK)
			continue
		}
		s.own = slot
	}
	if s.own >= 0 {
		s.write(s.own, line)
	}
}

// dead returns the nodes whose slots are not locked, and locks these.
func (s *slots) dead() (nodes []string) {
	if s == nil {
		return nil
	}
	info, err := s.file.Stat()
	if err != nil {
		return nil
	}
	for slot := range min(info.Size()/slotSize, mostSlots) {
		if slot == s.own || !s.lock(slot, unix.F_WRLCK) {
			continue
		}
		if node := s.read(slot); node != "" {
			nodes, s.found = append(nodes, node), append(s.found, slot)
		} else {
			s.lock(slot, unix.F_UNLCK)
		}
	}
	return nodes
}

// forget empties the slots that dead has found.
func (s *slots) forget() {
	for _, slot := range s.found {
		s.write(slot, "")
		s.lock(slot, unix.F_UNLCK)
	}
	s.found = nil
}

// close empties the slot of this node and releases all locks.
func (s *slots) close() {
	if s == nil {
		return
	}
	if s.own >= 0 {
		s.write(s.own, "")
	}
	s.file.Close()
}
