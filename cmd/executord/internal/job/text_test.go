package job

import (
	"encoding/json"
	"slices"
	"testing"
	"unicode"
)

// What nobody can see is an escape, also if it is a letter or a mark; what is seen by its effect is not.
func TestPrintableShowsInvisible(t *testing.T) {
	for _, r := range "\u3164\u115f\u1160\uffa0\u034f\u17b4\u180b\ufe00\U000e0100\U000e0001" {
		if got := Printable("a" + string(r)); got == "a"+string(r) {
			t.Errorf("%U is shown as it is", r)
		}
	}
	if text := "✔\ufe0f 한국어"; Printable(text) != text {
		t.Errorf("%q became %q", text, Printable(text))
	}
}

// JSON has no character that disturbs a terminal, and says the same as before.
func TestPrintableJSONSaysTheSame(t *testing.T) {
	var all []rune
	for r := rune(0); r <= unicode.MaxRune; r += 1 + r/512 {
		all = append(all, r)
	}
	all = append(all, '\u009b', '\u202e', '\u200b', '\u3164', '\U000e0001', '\x7f')
	for chunk := range slices.Chunk(all, 100) {
		text := string(chunk) + "\xff"
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var before, after string
		safe := PrintableJSON(raw)
		if err := json.Unmarshal(raw, &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(safe, &after); err != nil || after != before {
			t.Errorf("%q became %q, error %v", before, after, err)
		}
		if shown := string(safe); Printable(shown) != shown {
			t.Errorf("%q has what disturbs a terminal", shown)
		}
	}
}
