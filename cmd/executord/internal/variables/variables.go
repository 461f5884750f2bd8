// Package variables reads environment variables from files: those of env_file, with NAME=value in each line, and those
// of secret, each with one value.
//
// No error has a value in it, or a part of a line: what stands in these files is not for logs.
package variables

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/executor-go/executor/cmd/executord/internal/inputfile"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// most is the largest file that is read. Linux refuses a variable of more than 128 KiB.
const most = 128 << 10

// Of returns the variables of a file with NAME=value in each line, in its order. Blanks around the two and quotes
// around the value are removed, and nothing is expanded. Empty lines and those that begin with # do not count, and
// "export " may be before a name.
func Of(file string) (env []string, err error) {
	data, err := read(file)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		text = strings.TrimLeft(strings.TrimPrefix(text, "export "), " \t")
		name, value, ok := strings.Cut(text, "=")
		name = strings.TrimRight(name, " \t")
		switch {
		case !ok:
			return nil, fmt.Errorf("%s:%d: the line has no =; write NAME=value", file, n)
		case !job.ValidVariable(name):
			return nil, fmt.Errorf("%s:%d: the text before = is not the name of a variable; use letters, digits and _ only, and no digit first", file, n)
		}
		if value, ok = unquote(strings.TrimLeft(value, " \t")); !ok {
			return nil, fmt.Errorf("%s:%d: the quoted value of %s does not end with its quote; close it at the end of the line", file, n, name)
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// unquote takes the quotes off a value that begins with one. No character is special between quotes.
func unquote(value string) (string, bool) {
	if value == "" || value[0] != '"' && value[0] != '\'' {
		return value, true
	}
	end := len(value) - 1
	if end == 0 || strings.IndexByte(value[1:], value[0])+1 != end {
		return "", false
	}
	return value[1:end], true
}

// Value returns what is in a file, without the end of its last line.
func Value(file string) (string, error) {
	data, err := read(file)
	if err != nil {
		return "", err
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if value == "" {
		return "", fmt.Errorf("%s is empty; write the value into it", file)
	}
	return value, nil
}

// read returns the text in a file.
func read(file string) ([]byte, error) {
	data, err := inputfile.Read(file, most)
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s does not exist", file)
	case errors.Is(err, syscall.EISDIR):
		return nil, fmt.Errorf("%s is a directory, and has to be a file", file)
	case errors.As(err, &path):
		return nil, fmt.Errorf("%s cannot be read: %w", file, path.Err)
	case err != nil:
		return nil, err
	case len(data) > most:
		return nil, fmt.Errorf("%s is larger than %d KiB, which the environment of a command has no room for", file, most>>10)
	case bytes.IndexByte(data, 0) >= 0:
		return nil, fmt.Errorf("%s has a zero byte, which no variable can have", file)
	}
	return data, nil
}

// Veil hides values in texts. The zero Veil hides none.
type Veil struct{ values [][]byte }

// leastHidden is the length of the shortest value that is hidden, in bytes: others, as a number or a word, would take
// half of a text with them. It is documented.
const leastHidden = 6

// mask stands for a value.
var mask = []byte("***")

// Add has a value hidden. Of one with several lines each is hidden by itself, as texts come in lines. A nil Veil hides
// nothing.
func (v *Veil) Add(value string) {
	if v == nil {
		return
	}
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); utf8.RuneCountInString(line) >= leastHidden {
			v.insert([]byte(line))
		}
	}
}

// insert keeps the values from the longest to the shortest: one may be a part of another.
func (v *Veil) insert(value []byte) {
	at := 0
	for at < len(v.values) && len(v.values[at]) >= len(value) {
		if bytes.Equal(v.values[at], value) {
			return
		}
		at++
	}
	v.values = append(v.values, nil)
	copy(v.values[at+1:], v.values[at:])
	v.values[at] = value
}

// Hide returns the text with *** for each value. It does not change what it gets.
func (v *Veil) Hide(text []byte) []byte {
	for _, value := range v.values {
		if bytes.Contains(text, value) {
			text = bytes.ReplaceAll(text, value, mask)
		}
	}
	return text
}

// A Line hides values in a line that comes in pieces, also where they are cut between two. A Veil has to be set.
type Line struct {
	Veil *Veil
	kept []byte // the end of the last piece, in which a value may begin
}

// Hide returns what of the line is known by now, with *** for each value. The next piece, if there is more, has the
// rest: a value that has begun is kept back. It does not change what it gets.
func (l *Line) Hide(piece []byte, more bool) []byte {
	if len(l.kept) > 0 {
		piece = append(l.kept, piece...)
		l.kept = nil
	}
	if more {
		end := l.Veil.begun(piece)
		piece, l.kept = piece[:end], bytes.Clone(piece[end:])
	}
	return l.Veil.Hide(piece)
}

// begun returns where the end of a text begins that must wait for the next piece, since a value may have begun in it.
// An end of more than twice the longest value is of a text that repeats itself: then nothing waits, and begun returns
// the length of the text.
func (v *Veil) begun(text []byte) int {
	end := len(text)
	for _, value := range v.values {
		for n := min(len(value)-1, len(text)); n > len(text)-end; n-- {
			if bytes.HasSuffix(text, value[:n]) {
				end = len(text) - n
			}
		}
	}
	for straddled := end < len(text); straddled; {
		straddled = false
		for _, value := range v.values { // a whole value that would be cut at end
			from, to := max(end-len(value)+1, 0), min(end+len(value)-1, len(text))
			if i := bytes.Index(text[from:to], value); i >= 0 {
				end, straddled = from+i, true
			}
		}
	}
	if len(v.values) > 0 && len(text)-end > 2*len(v.values[0]) {
		return len(text)
	}
	return end
}
