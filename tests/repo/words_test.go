package repo

import (
	"fmt"
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// columns is how wide a line may be; a tab counts as tabWidth columns.
const (
	columns  = 120
	tabWidth = 4
)

// mostPrivateWords is how often privateWord may occur: some have another sense.
const mostPrivateWords = 60

// privateWord finds words that this project used in a way of its own. Say
// returns or reports, and a noun.
var privateWord = regexp.MustCompile(`(?i)\b(?:` + strings.Join([]string{
	"giv" + "es", "tel" + "ls", "tol" + "d", "who" + "ever", "who" + "m", "part" + "ed", "men" + "d",
}, "|") + `)\b`)

// Comments and documents are in plain words.
func TestPlainWords(t *testing.T) {
	total := 0
	var most []string
	for name, text := range texts(t) {
		n := len(privateWord.FindAllString(text, -1))
		total += n
		if n > 0 {
			most = append(most, fmt.Sprintf("%s: %d", name, n))
		}
	}
	if total > mostPrivateWords {
		t.Errorf("the words of privateWord occur %d times, the most is %d:\n%s", total, mostPrivateWords, strings.Join(most, "\n"))
	}
}

// No line of a comment, a program or a document is too wide to be read, unless it
// cannot be broken.
func TestLineWidth(t *testing.T) {
	files, _ := workspace(t)
	for _, f := range files {
		for i, line := range breakable(f.text) {
			if width(line) > columns && !row.MatchString(line) {
				t.Errorf("%s:%d is %d columns wide, the most is %d", f.name, i+1, width(line), columns)
			}
		}
	}
	for _, name := range documents(t) {
		for i, line := range prose(read(t, name)) {
			if width(line) > columns {
				t.Errorf("%s:%d is %d columns wide, the most is %d", name, i+1, width(line), columns)
			}
		}
	}
}

// A document has each sentence on a line of its own, so that a change shows the
// sentence that it changes.
func TestOneSentenceALine(t *testing.T) {
	for _, name := range documents(t) {
		for i, line := range prose(read(t, name)) {
			if second := secondSentence(line); second != "" {
				t.Errorf("%s:%d has a second sentence: %.40s", name, i+1, second)
			}
		}
	}
}

// The checks of lines tell what they are for from what they are not for.
func TestLineChecks(t *testing.T) {
	for line, want := range map[string]string{
		"One. Two.":                             "Two.",
		"One.":                                  "",
		"e.g. This, or i.e. That":               "",
		"- **Lead.** One. Two.":                 "Two.",
		"**Lead.** One.":                        "",
		"1. One.":                               "",
		"1. One. `two` is code.":                "`two` is code.",
		"Is it? It is.":                         "It is.",
		"It is (see x.) Two.":                   "Two.",
		"Go 1.26 or later, of December 2026. ":  "",
		"A sentence about `x. Y`.":              "",
		"See [a. B](c.md).":                     "",
		"A semantic version is of v1. It is so": "It is so",
	} {
		if got := secondSentence(prose(line)[0]); got != want {
			t.Errorf("secondSentence(%q) = %q, want %q", line, got, want)
		}
	}
	for text, want := range map[string][]string{
		"a\n\n| a table |\n```\ncode\n```\nb <!-- c -->\n": {"a", "", "", "", "", "", "b <!-- c -->", ""},
		"- a\n\n      code\n- b":                           {"- a", "", "      code", "- b"},
		"see [the list](https://a.b/c) of all\n[a]: b":     {"see [the list]() of all", ""},
	} {
		if got := prose(text); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("prose(%q) = %q, want %q", text, got, want)
		}
	}
	long := `"` + strings.Repeat("x", 200) + `"`
	for text, want := range map[string]int{
		"package p\nvar s = " + long:                                 8,
		"package p\nvar s = `" + long + "\n" + long + "`; var yyyyy": 11,
		"package p\n// " + strings.Repeat("x ", 100):                 203,
		"package p\n//go:generate " + strings.Repeat("x ", 100):      0,
		"package p\n\t// https://" + strings.Repeat("x", 100):        7,
	} {
		widest := 0
		for _, line := range breakable(text) {
			if !strings.HasPrefix(line, "package") {
				widest = max(widest, width(line))
			}
		}
		if widest != want {
			t.Errorf("%.30q: the widest line has %d columns, want %d", text, widest, want)
		}
	}
}

// texts returns the text of all Go files and documents, by name.
func texts(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	files, _ := workspace(t)
	for _, f := range files {
		all[f.name] = f.text
	}
	for _, name := range documents(t) {
		all[name] = read(t, name)
	}
	return all
}

func width(line string) int {
	return utf8.RuneCountInString(line) + (tabWidth-1)*strings.Count(line, "\t")
}

var url = regexp.MustCompile(`https?://\S+`)

// row matches a row of a table, without its strings: an element of a composite
// literal, with or without a key.
var row = regexp.MustCompile(`^\t+(?::\s+)?\{.*\},`)

// breakable returns the lines of a Go file without what cannot be broken: the
// texts of strings, directives, and addresses in comments.
func breakable(text string) []string {
	src := []byte(text)
	out := []byte(text)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' {
				out[i] = 0
			}
		}
	}
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		start := file.Offset(pos)
		switch tok {
		case token.EOF:
			return strings.Split(strings.ReplaceAll(string(out), "\x00", ""), "\n")
		case token.STRING:
			blank(start, start+len(lit))
		case token.COMMENT:
			if strings.HasPrefix(lit, "//go:") || strings.HasPrefix(lit, "//nolint") || strings.HasPrefix(lit, "//lint:") {
				blank(start, start+len(lit))
			}
			for _, m := range url.FindAllStringIndex(lit, -1) {
				blank(start+m[0], start+m[1])
			}
		}
	}
}

var (
	target    = regexp.MustCompile(`\]\([^)\s]*\)`)
	reference = regexp.MustCompile(`^\[[^\]]+\]: \S+$`)
)

// prose returns the lines of a Markdown document, those of tables, of code and of
// link definitions empty, and links without their targets, which cannot be broken.
func prose(text string) []string {
	lines := strings.Split(text, "\n")
	code := false
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		fence := strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")
		switch {
		case fence:
			code = !code
			lines[i] = ""
		case code, strings.HasPrefix(trimmed, "|"), reference.MatchString(trimmed):
			lines[i] = ""
		case indented(line) && (i == 0 || lines[i-1] == "" || indented(lines[i-1])) && !listed(lines[:i]):
			lines[i] = ""
		default:
			lines[i] = url.ReplaceAllString(target.ReplaceAllString(line, "]()"), "")
		}
	}
	return lines
}

// indented reports whether a line is one of code, unless it is in a list.
func indented(line string) bool { return strings.HasPrefix(line, "    ") }

var item = regexp.MustCompile(`^\s*(?:[-*+]|\d+\.) `)

// listed reports whether the lines end in a list, where an indented line is text.
func listed(lines []string) bool {
	for i := len(lines) - 1; i >= 0; i-- {
		if item.MatchString(lines[i]) {
			return true
		}
		if lines[i] != "" && !strings.HasPrefix(lines[i], " ") {
			return false
		}
	}
	return false
}

var (
	quoted       = regexp.MustCompile("`[^`]*`|\\[[^\\]]*\\]\\(\\)")
	lead         = regexp.MustCompile(`^\s*(?:[-*+] |\d+\. |#+ |> )*(?:\*\*[^*]+\*\*:? *)?`)
	sentence     = regexp.MustCompile("[.!?][)\"*_”]* +[A-Z`\\[(*“\"]")
	abbreviation = regexp.MustCompile(`\b(?:e\.g|i\.e|etc|vs|cf|St|No|[A-Z])\.$`)
)

// secondSentence returns what follows the first sentence of a line, a lead in
// bold type apart.
func secondSentence(line string) string {
	masked := []byte(line)
	for _, m := range quoted.FindAllStringIndex(line, -1) {
		for i := m[0] + 1; i < m[1]-1; i++ {
			masked[i] = 'x'
		}
	}
	from := len(lead.FindString(line))
	for _, m := range sentence.FindAllIndex(masked[from:], -1) {
		end := from + m[0] + 1
		if !abbreviation.Match(masked[from:end]) {
			return strings.TrimSpace(line[from+m[1]-1:])
		}
	}
	return ""
}
