package terminal

import (
	"strings"
	"testing"
)

// Columns are straight in each script: characters of East Asia take two places, and marks none.
func TestTableIsStraightInEachScript(t *testing.T) {
	var tab Table
	for _, name := range []string{"plain", "備份/資料庫", "साप्ताहिक", "ที่หนึ่ง"} {
		tab.Add(name, "x")
	}
	const want = "plain        x\n備份/資料庫  x\nसाप्ताहिक     x\nที่หนึ่ง         x\n"
	if got := tab.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Rows need not have the same number of cells, an empty cell takes its place, and
// a tab in one, as a command may write it, is no end of it.
func TestTableCells(t *testing.T) {
	var tab Table
	tab.Add("a", "bb", "c")
	tab.Add("", "b\tb")
	tab.Add("aaa", "", "c", "d")
	const want = "a    bb   c\n     b b\naaa       c  d\n"
	if got := tab.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A table that fits is not changed.
func TestTableFitKeepsNarrow(t *testing.T) {
	var tab Table
	tab.Add("JOB", "STATE")
	tab.Add("a", strings.Repeat("x", 75))
	if before := tab.String(); tab.Fit(80).String() != before {
		t.Errorf("got %s, want %s", &tab, before)
	}
}
