package job

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mistake is one thing wrong in a job file: where, what, and a hint.
type Mistake struct {
	File string
	Line int    // from 1; 0 if it is about the file as a whole
	Text string // the line as written
	What string // "minute 61 is out of range 0-59"
	Hint string // "write a minute between 0 and 59"
}

// Error returns FILE:LINE: what, which is one line, whatever the file is called.
func (m Mistake) Error() string {
	place := Printable(m.File)
	if m.Line > 0 {
		place += ":" + strconv.Itoa(m.Line)
	}
	return place + ": " + Printable(m.What)
}

// String returns the mistake as it is shown: FILE:LINE and what on the first
// line, so that editors can jump there, then the text, then the hint.
func (m Mistake) String() string {
	var b strings.Builder
	b.WriteString(m.Error())
	if text := strings.TrimSpace(m.Text); text != "" {
		b.WriteString("\n    " + visible(shorten(text)))
	}
	if m.Hint != "" {
		b.WriteString("\n    hint: " + Printable(m.Hint))
	}
	return b.String()
}

// Mistakes are the mistakes of one file, in the order of its lines; of more than
// maxMistakes the others are counted. It is the error a reader returns; nothing of a
// file with a mistake is run.
type Mistakes []Mistake

// Error returns all mistakes, one after the other.
func (ms Mistakes) Error() string {
	shown := make([]string, len(ms))
	for i, m := range ms {
		shown[i] = m.String()
	}
	return strings.Join(shown, "\n")
}

// Notes are remarks on what a file may say, but probably does not mean.
type Notes []Mistake

// Report collects the mistakes and notes of one file while it is read.
type Report struct {
	File     string
	Lines    []string // the file's lines, without their ends; for Mistake.Text
	mistakes findings
	notes    findings
}

// maxMistakes is how many mistakes of a file are shown, and how many notes. A file that
// is no job file has one in each of its lines.
const maxMistakes = 100

// findings are mistakes, or notes: the first that were found.
type findings struct {
	shown []Mistake
	more  int // that are not shown
	line  int // of the first one of them
}

// Mistake adds a mistake on a line. The hint says what to do, as an order.
func (r *Report) Mistake(line int, hint, format string, args ...any) {
	r.add(&r.mistakes, line, hint, format, args)
}

// Note adds a note on a line.
func (r *Report) Note(line int, hint, format string, args ...any) {
	r.add(&r.notes, line, hint, format, args)
}

// NoteHidden is Note without the text of the line, which is not for all to see.
func (r *Report) NoteHidden(line int, hint, format string, args ...any) {
	before := len(r.notes.shown)
	if r.Note(line, hint, format, args...); len(r.notes.shown) > before {
		r.notes.shown[before].Text = ""
	}
}

func (r *Report) add(to *findings, line int, hint, format string, args []any) {
	if len(to.shown) < maxMistakes {
		to.shown = append(to.shown, r.at(line, hint, format, args))
		return
	}
	if to.more++; to.more == 1 {
		to.line = line
	}
}

// Wrong reports whether there is a mistake.
func (r *Report) Wrong() bool { return len(r.mistakes.shown) > 0 }

// Full reports whether further mistakes would only be counted: the rest of the file need
// not be read.
func (r *Report) Full() bool { return len(r.mistakes.shown) == maxMistakes }

// list returns what was found, by line, and at the end how much is not shown.
func (r *Report) list(fs findings, what string) []Mistake {
	slices.SortStableFunc(fs.shown, func(a, b Mistake) int { return cmp.Compare(a.Line, b.Line) })
	if fs.more == 0 {
		return fs.shown
	}
	return append(fs.shown, Mistake{File: r.File, Line: fs.line, What: fmt.Sprintf("%d more %s are not shown", fs.more, what),
		Hint: "fix those above first"})
}

func (r *Report) at(line int, hint, format string, args []any) Mistake {
	m := Mistake{File: r.File, Line: line, What: fmt.Sprintf(format, args...), Hint: hint}
	if 1 <= line && line <= len(r.Lines) {
		m.Text = r.Lines[line-1]
	}
	return m
}

// Close returns what was found: notes, and an error of type Mistakes, nil if there is
// none.
func (r *Report) Close() (Notes, error) {
	notes := Notes(r.list(r.notes, "notes"))
	if mistakes := Mistakes(r.list(r.mistakes, "mistakes")); len(mistakes) > 0 {
		return notes, mistakes
	}
	return notes, nil
}
