package terminal

import (
	"bufio"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// Table is text in columns, each as wide as its widest cell, for people at a
// terminal. Package tabwriter counts characters, of which some take two columns
// there, and others none.
type Table struct{ rows [][]string }

// leastCell is how narrow a column is made at the least, where a table is to fit.
const leastCell = 8

// Fit makes the table fit a terminal that is so wide, as far as it can: the widest column becomes narrower, and what
// does not fit a cell is cut. Zero stands for no terminal, and cuts nothing.
func (t *Table) Fit(wide int) *Table {
	for wide > 0 {
		sum, widest, at := -gap, 0, 0
		for i, w := range t.widths() {
			if sum += w + gap; w > widest {
				widest, at = w, i
			}
		}
		if sum <= wide || widest <= leastCell {
			return t
		}
		for _, row := range t.rows {
			if at < len(row) {
				row[at] = Cut(row[at], max(widest-(sum-wide), widest*3/4, leastCell))
			}
		}
	}
	return t
}

// gap is how many blanks are between two columns.
const gap = 2

// widths returns how wide each column is.
func (t *Table) widths() (widest []int) {
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widest) {
				widest = append(widest, 0)
			}
			widest[i] = max(widest[i], Columns(cell))
		}
	}
	return widest
}

// Add adds a row. What a cell has that a terminal would obey, or that would end the row, is shown as escapes, so that
// a text of a file, a store or another machine can be a cell as it is.
func (t *Table) Add(cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = job.Printable(cell)
	}
	t.rows = append(t.rows, row)
}

// Lines returns the rows, with their ends and without blanks before those.
func (t *Table) Lines() iter.Seq[string] {
	return func(yield func(string) bool) {
		widest := t.widths()
		var b strings.Builder
		for _, row := range t.rows {
			b.Reset()
			for column, cell := range row {
				b.WriteString(strings.ReplaceAll(cell, "\t", " ")) // whose width is that of a character
				b.WriteString(strings.Repeat(" ", widest[column]-Columns(cell)+gap))
			}
			if !yield(strings.TrimRight(b.String(), " ") + "\n") {
				return
			}
		}
	}
}

// Width returns how wide the widest row is.
func (t *Table) Width() (widest int) {
	for line := range t.Lines() {
		widest = max(widest, Columns(strings.TrimSuffix(line, "\n")))
	}
	return widest
}

// Write writes the rows as they come: a table of many is never in memory as one text.
func (t *Table) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	for line := range t.Lines() {
		out.WriteString(line)
	}
	return out.Flush()
}

func (t *Table) String() string { return strings.Join(slices.Collect(t.Lines()), "") }
