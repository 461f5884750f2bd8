package page

import "testing"

// Colours of a terminal become colours, and nothing else does.
func TestColoured(t *testing.T) {
	for line, want := range map[string]string{
		"plain":                             "plain",
		"\x1b[31mred\x1b[0m plain":          `<span class="c1">red</span> plain`,
		"\x1b[1;92mgreen\x1b[22m!":          `<span class="bold c2">green</span><span class="c2">!</span>`,
		"\x1b[33ma\x1b[39mb":                `<span class="c3">a</span>b`,
		"\x1b[38;5;200mpink":                "pink",
		"\x1b[2Jgone":                       `\x1b[2Jgone`,
		"\x1b[31":                           `\x1b[31`,
		"<b>\x1b[m":                         "&lt;b&gt;",
		"\x1b[31;<script>":                  `\x1b[31;&lt;script&gt;`,
		"\x1b[99999999999999999999999mwhat": "what",
	} {
		if got := Coloured(line, func(s string) string { return Printable(s, 1000) }); string(got) != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
