package main

import "testing"

// The columns of a table are straight on a terminal, where characters of East Asia
// take two places and marks none.
func TestTableIsStraightInEachScript(t *testing.T) {
	const tab = "# name: plain\n@reboot a\n# name: 備份/資料庫\n@reboot b\n# name: साप्ताहिक\n@reboot c\n# name: ที่หนึ่ง\n@reboot d\n"
	const want = `
JOB          LINE  SCHEDULE  ZONE  NEXT
plain        2     @reboot         once, when executord starts
備份/資料庫  4     @reboot         once, when executord starts
साप्ताहिक     6     @reboot         once, when executord starts
ที่หนึ่ง         8     @reboot         once, when executord starts
`
	out, _, _ := output(t, tab, "check", "-")
	if "\n"+out != want {
		t.Errorf("got\n%swant%s", out, want)
	}
}

// Rows need not have the same number of cells, an empty cell takes its place, and
// a tab in one, as a command may write it, is no end of it.
func TestTableCells(t *testing.T) {
	var tab table
	tab.add("a", "bb", "c")
	tab.add("", "b\tb")
	tab.add("aaa", "", "c", "d")
	const want = "a    bb   c\n     b b\naaa       c  d\n"
	if got := tab.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// What has no place of its own on a terminal takes none in a table.
func TestTableColumns(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "資料": 4, "ＡＢ": 4, "ｱｲ": 2, "한국": 4, "\U0001f680": 2, "a\u200db": 2, "–": 1,
	} {
		if got := columns(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
