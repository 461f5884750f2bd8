package tomlfile

import (
	"bytes"
	"errors"
	"regexp"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// reader turns a document into a tree, past its mistakes of syntax.
//
// See the package's doc for why the parser is that of package unstable.
type reader struct {
	report *job.Report
	data   []byte
	starts []int // offset of each line
	base   int   // offset in data of what the parser was given; begins a line
	parser unstable.Parser
	root   *node
}

// read returns the document as a table. What is wrong is in the report.
func read(report *job.Report, data []byte) *node {
	r := &reader{report: report, data: data, starts: []int{0}, root: newTable(1)}
	for i, c := range data {
		if c == '\n' {
			r.starts = append(r.starts, i+1)
		}
	}
	for current := r.root; ; {
		r.parser.Reset(data[r.base:])
		next := r.base // where the expression begins that is not read yet
		for r.parser.NextExpression() {
			n := r.parser.Expression()
			switch n.Kind {
			case unstable.Table:
				current = r.openTable(r.keysOf(n))
			case unstable.ArrayTable:
				current = r.openItem(r.keysOf(n))
			case unstable.KeyValue:
				r.keyValue(current, n)
			}
			next = r.after(n)
		}
		err := r.parser.Error()
		if err == nil {
			return r.root
		}
		e, at := r.failure(err)
		next = r.skipComments(next, at)
		if data[next] == '[' {
			// The keys below must not be taken for those of the table above.
			line := r.lineAt(next)
			if current = newTable(line); bytes.HasPrefix(data[next:], []byte("[[")) {
				current = r.openItem([]key{{"job", line}})
			}
		} else if key := firstKey.FindSubmatch(data[next:]); key != nil && current.table[string(key[1])] == nil {
			current.set(string(key[1]), &node{kind: broken, line: r.lineAt(next)})
		}
		r.base = r.wrong(e, at, next)
		if r.base == len(data) || report.Full() {
			return r.root
		}
	}
}

// failure returns what the parser has to say, and the line it says it of.
func (r *reader) failure(err error) (message string, line int) {
	var e *unstable.ParserError
	if errors.As(err, &e) {
		return e.Message, r.line(r.parser.Range(e.Highlight))
	}
	return err.Error(), r.lineAt(r.base)
}

// wrong reports a mistake of syntax on a line of the expression that begins at
// the given offset, and returns where to read on.
func (r *reader) wrong(message string, line, begin int) int {
	from := r.lineAt(begin)
	hint := syntaxHint(message)
	if line == from {
		r.report.Mistake(line, hint, "%s", message)
		return r.lineStart(line + 1)
	}
	// A value over several lines is broken, and where it was to end cannot be
	// known. The next table is a safe place to read on.
	r.report.Mistake(line, hint, "%s (in the value that begins in line %d)", message, from)
	begin = r.lineStart(from + 1)
	if header := nextHeader.FindIndex(r.data[begin:]); header != nil {
		return begin + header[0]
	}
	return len(r.data)
}

var firstKey = regexp.MustCompile(`^([A-Za-z0-9_-]+)[ \t]*=`)

var nextHeader = regexp.MustCompile(`(?m)^[ \t]*\[\[?[ \t]*[A-Za-z_-]`)

func syntaxHint(message string) string {
	for _, m := range []struct{ part, hint string }{
		{"escape", `write text with backslashes in single quotes: command = 'date +\%F'`},
		{"need a character after", `write text with backslashes in single quotes: command = 'date +\%F'`},
		{"new lines", `close the quote on the same line, or write """ around text of several lines`},
		{"not terminated", "close it with the same three quotes"},
		{"unterminated", "close the quote on the same line"},
		{"start of value", `write text in quotes: key = "text"`},
		{"keyword", `write text in quotes: key = "text"`},
		{"must be quoted", `write text in quotes: key = "text"`},
		{"start of key", `begin a comment with #, and write everything else as key = "text"`},
		{"after key", `write key = "text", one to a line`},
		{"expected newline", `write text in quotes, and one key = "text" to a line`},
		{"after array", "put a comma between values, and close the list with ]"},
		{"after inline", "put a comma between values, and close the table with }"},
		{"close", "write a table as [env], and every job as [[job]]"},
		{"UTF-8", "save the file as UTF-8"},
		{"control character", `write \t for a tab and \u001b for other control characters`},
		{"incomplete", "close the bracket"},
	} {
		if strings.Contains(message, m.part) {
			return m.hint
		}
	}
	return `write key = "text", one to a line; the language is TOML, see toml.io`
}

// after returns the offset of the line after an expression.
func (r *reader) after(n *unstable.Node) int {
	raw := n.Raw
	if n.Kind != unstable.KeyValue {
		for it := n.Key(); it.Next(); {
			raw = it.Node().Raw
		}
	}
	return r.lineStart(r.lineAt(r.base+int(raw.Offset+raw.Length)) + 1)
}

// skipComments returns the offset of the first character that is neither blank
// nor in a comment, looking from a line's begin and no further than the given
// line: there, even a comment may be what is wrong.
func (r *reader) skipComments(at, line int) int {
	for stop := r.lineStart(line); at < stop; {
		switch r.data[at] {
		case ' ', '\t', '\n', '\r':
			at++
		case '#':
			at = r.lineStart(r.lineAt(at) + 1)
		default:
			return at
		}
	}
	for at < len(r.data)-1 && (r.data[at] == ' ' || r.data[at] == '\t') {
		at++
	}
	return at
}

// line returns the number of the line a range begins in.
func (r *reader) line(raw unstable.Range) int { return r.lineAt(r.base + int(raw.Offset)) }

func (r *reader) lineAt(offset int) int {
	return sort.Search(len(r.starts), func(i int) bool { return r.starts[i] > offset })
}

// lineStart returns the offset of a line, or the end of the data for lines
// behind the last.
func (r *reader) lineStart(line int) int {
	if line > len(r.starts) {
		return len(r.data)
	}
	return r.starts[line-1]
}
