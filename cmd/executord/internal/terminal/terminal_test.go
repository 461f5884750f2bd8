package terminal

import "testing"

// What has no place of its own on a terminal takes none in a table.
func TestColumns(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "資料": 4, "ＡＢ": 4, "ｱｲ": 2, "한국": 4, "\U0001f680": 2, "a\u200db": 2, "–": 1,
	} {
		if got := Columns(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
