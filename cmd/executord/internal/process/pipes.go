package process

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
)

const (
	// maxLine is the longest line that is passed on in one piece.
	maxLine = 16 << 10

	// firstRead is how much is read at once before there is more: most commands write a few lines.
	firstRead = 512

	// pipeGrace is how long output is still waited for when the group is gone
	// but something that left it holds the pipe, in all.
	pipeGrace = 250 * time.Millisecond

	// pipeSize is how much a pipe holds at most, on all systems by default. A command can have it hold more on Linux.
	pipeSize = 64 << 10
)

// source is the end of a pipe that is read, by one goroutine.
type source struct {
	*os.File
	ending int // how far its end has come; the reader's
	left   int // what is read after the end of the run, at most: what the pipe can hold
}

// The end of a source.
const (
	running  = iota
	emptying // the run's processes are gone: what they have left in the pipe is read
	waiting  // what others write is waited for, if they hold the pipe
)

// end has the reader know that the run's processes are gone. It fails where pipes
// have no deadlines (Windows).
func (s *source) end() error { return s.SetReadDeadline(time.Unix(1, 0)) }

// Read ends soon after the run, but not before all is read that the run has
// written: that is in the pipe by then, and is read without a look at the time, as
// lines may wait for the reader of the log, or the reader for a processor. Only then
// does the grace begin, once: if it began anew with each line, a process that writes
// one now and then would keep the run from ending.
func (s *source) Read(b []byte) (int, error) {
	if s.ending == running {
		n, err := s.File.Read(b)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		s.ending, s.left = emptying, capacity(s.File)
		s.SetReadDeadline(time.Time{})
	}
	b = b[:min(len(b), s.left)]
	n, err := 0, io.EOF
	if s.ending == emptying {
		if n, err = present(s.File, b); errors.Is(err, syscall.EAGAIN) {
			s.ending = waiting
			s.SetReadDeadline(time.Now().Add(pipeGrace))
		}
	}
	if s.ending == waiting && len(b) > 0 {
		n, err = s.File.Read(b)
	}
	if s.left -= n; n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// pipes are the ends that stay with the caller. They are made here, and not by
// package exec, whose Wait would wait for all that still hold a pipe.
type pipes struct {
	stdout, stderr source
	stdin          *os.File // nil if there is no input
	child          []*os.File
	reading        sync.WaitGroup // copies out of stdout and stderr
	writing        sync.WaitGroup // copies into stdin
}

// attach sets the three standard streams of cmd.
func attach(cmd *exec.Cmd, stdin string) (*pipes, error) {
	p := new(pipes)
	var errs [3]error
	var ends [3]*os.File // the child's
	p.stdout.File, ends[1], errs[1] = os.Pipe()
	p.stderr.File, ends[2], errs[2] = os.Pipe()
	if stdin != "" {
		ends[0], p.stdin, errs[0] = os.Pipe()
	}
	for _, end := range ends {
		if end != nil {
			p.child = append(p.child, end)
		}
	}
	if err := cmp.Or(errs[:]...); err != nil { // one is enough: too many files are open
		p.closeChildEnds()
		p.close()
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = ends[1], ends[2]
	if stdin != "" {
		cmd.Stdin = ends[0]
	}
	return p, nil
}

// closeChildEnds lets the pipes end when the child's side does.
func (p *pipes) closeChildEnds() {
	for _, f := range p.child {
		f.Close()
	}
}

// copy begins to move data, after a call of started. An observer that is stuck must not keep a run from being ended,
// so this is done by a goroutine, which closes begun when it and all that it starts can be waited for by finish.
func (p *pipes) copy(stdin string, o Observer, started func()) (begun <-chan struct{}) {
	ready := make(chan struct{})
	p.reading.Go(func() {
		started()
		p.reading.Go(func() { copyLines(&p.stderr, Stderr, o.Output) })
		if p.stdin != nil {
			p.writing.Go(func() {
				io.WriteString(p.stdin, stdin) // a command need not read its input
				p.stdin.Close()
			})
		}
		close(ready)
		copyLines(&p.stdout, Stdout, o.Output)
	})
	return ready
}

// finish reads what is left in the pipes and closes them. By now all processes
// of the run are gone; only what has left their group can still hold an end.
func (p *pipes) finish() {
	if p.stdin != nil {
		p.stdin.Close() // wakes the writer, if there is no reader
	}
	p.writing.Wait()
	for _, s := range []*source{&p.stdout, &p.stderr} {
		if s.end() != nil {
			s.Close()
		}
	}
	p.reading.Wait()
	p.close()
}

func (p *pipes) close() {
	for _, f := range []*os.File{p.stdout.File, p.stderr.File, p.stdin} {
		if f != nil {
			f.Close()
		}
	}
}

// copyLines passes on what it reads from r, line by line, until its end or an error.
// A last line without an end is a line too. The last piece of each line says that it is, and may be empty.
func copyLines(r io.Reader, stream Stream, out Output) {
	buf := make([]byte, firstRead)
	kept := 0     // buf[:kept] is the begin of a line, or of the rest of one
	open := false // a part of the line was passed on
	for {
		n, err := r.Read(buf[kept:])
		rest := buf[:kept+n]
		if len(rest) == len(buf) && len(buf) < maxLine { // there is more
			buf = make([]byte, maxLine)
		}
		for {
			line, after, found := bytes.Cut(rest, []byte("\n"))
			if !found {
				break
			}
			out(stream, bytes.TrimSuffix(line, []byte("\r")), false)
			rest, open = after, false
		}
		if len(rest) == len(buf) {
			cut := len(rest) - incomplete(rest)
			out(stream, rest[:cut], true)
			rest, open = rest[cut:], true
		}
		kept = copy(buf, rest)
		if err != nil {
			if kept > 0 || open {
				out(stream, buf[:kept], false)
			}
			return
		}
	}
}

// incomplete returns the length of the character that b ends in the middle of.
func incomplete(b []byte) int {
	for n := 1; n < utf8.UTFMax && n < len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
