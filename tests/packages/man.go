package main

import (
	"fmt"
	"regexp"
	"strings"
)

// manPage returns the manual, which is Markdown, as a page for man(1). Tables become lists: their texts are too long
// for columns. The list of sections, and pictures, are left out.
func manPage(markdown, version string) string {
	w := &manWriter{}
	w.request(`.TH EXECUTORD 1 "" "executord %s" "User Commands"`, version)
	w.request(".SH NAME")
	w.text("executord - run the jobs of crontabs and TOML files")
	w.request(".SH DESCRIPTION")
	_, body, _ := strings.Cut(markdown, "\n") // after the title
	lines := strings.Split(body, "\n")
	for len(lines) > 0 {
		lines = lines[w.block(lines):]
	}
	return w.String()
}

// manWriter writes roff.
type manWriter struct{ strings.Builder }

func (w *manWriter) request(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

var (
	fence    = regexp.MustCompile("^```")
	heading  = regexp.MustCompile(`^(##+) (.*)$`)
	bullet   = regexp.MustCompile(`^(-|[0-9]+\.) (.*)$`)
	contents = regexp.MustCompile(`^- \[[^\]]*\]\(#[^)]*\)$`)
	picture  = regexp.MustCompile(`^!\[`)
)

// block writes what the lines begin with, and returns how many lines that was.
func (w *manWriter) block(lines []string) int {
	first := lines[0]
	switch {
	case first == "", contents.MatchString(first), picture.MatchString(first):
		return 1
	case fence.MatchString(first):
		n := 1
		w.request(".PP\n.RS 4\n.EX")
		for ; n < len(lines) && !fence.MatchString(lines[n]); n++ {
			w.request("%s", verbatim(lines[n]))
		}
		w.request(".EE\n.RE")
		return n + 1
	case heading.MatchString(first):
		m := heading.FindStringSubmatch(first)
		if m[1] == "##" {
			w.request(".SH %s", quoted(strings.ToUpper(m[2])))
		} else {
			w.request(".SS %s", quoted(m[2]))
		}
		return 1
	case strings.HasPrefix(first, "|"):
		n := 0
		var rows [][]string
		for ; n < len(lines) && strings.HasPrefix(lines[n], "|"); n++ {
			rows = append(rows, cells(lines[n]))
		}
		w.table(rows)
		return n
	case bullet.MatchString(first):
		m := bullet.FindStringSubmatch(first)
		if m[1] == "-" {
			m[1] = `\(bu`
		}
		w.request(".IP %s 4", m[1])
		text, n := joined(m[2], lines[1:])
		w.text(text)
		return n + 1
	}
	w.request(".PP")
	text, n := joined(first, lines[1:])
	w.text(text)
	return n + 1
}

// joined returns the text that begins so, and how many of the lines below belong to it.
func joined(text string, lines []string) (string, int) {
	for n, line := range lines {
		if line == "" || fence.MatchString(line) || heading.MatchString(line) || bullet.MatchString(line) || line[0] == '|' {
			return text, n
		}
		text += "\n" + strings.TrimSpace(line)
	}
	return text, len(lines)
}

// cells returns the cells of a row. \| is a bar in a cell.
func cells(row string) []string {
	const bar = "\x00"
	row = strings.ReplaceAll(strings.TrimSpace(row), `\|`, bar)
	all := strings.Split(strings.Trim(row, "|"), "|")
	for i := range all {
		all[i] = strings.TrimSpace(strings.ReplaceAll(all[i], bar, "|"))
	}
	return all
}

// table writes a table as a list: the first cell is the term, and of the others each is a sentence, behind the title of
// its column.
func (w *manWriter) table(rows [][]string) {
	if len(rows) < 2 {
		return
	}
	titles := rows[0]
	for _, row := range rows[2:] { // below the line
		w.request(".TP")
		w.text(row[0])
		var rest []string
		for i, cell := range row[1:] {
			if cell == "" {
				continue
			}
			if title := titles[i+1]; title != "" {
				cell = title + ": " + cell
			}
			rest = append(rest, cell)
		}
		if len(rest) == 0 {
			rest = []string{`\&`}
		}
		w.text(strings.Join(rest, ". "))
	}
}

var (
	code = regexp.MustCompile("`([^`]*)`")
	bold = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	link = regexp.MustCompile(`\[([^\]]+)\]\(([^)]*)\)`)
	url  = regexp.MustCompile(`<(https?://[^>]*)>`)
)

// text writes a text, which may have several lines.
func (w *manWriter) text(text string) {
	if text == `\&` {
		w.request("%s", text)
		return
	}
	// Code is set aside: nothing in it is Markdown.
	var codes []string
	text = code.ReplaceAllStringFunc(text, func(s string) string {
		codes = append(codes, `\fB`+strings.ReplaceAll(escaped(strings.Trim(s, "`")), "-", `\-`)+`\fR`)
		return "\x00"
	})
	text = link.ReplaceAllStringFunc(text, func(s string) string {
		m := link.FindStringSubmatch(s)
		if strings.HasPrefix(m[2], "http") {
			return m[1] + " <" + m[2] + ">"
		}
		return m[1]
	})
	text = url.ReplaceAllString(text, "$1")
	text = bold.ReplaceAllString(escaped(text), `\fB$1\fR`)
	for _, c := range codes {
		text = strings.Replace(text, "\x00", c, 1)
	}
	for line := range strings.SplitSeq(text, "\n") {
		w.request("%s", protected(line))
	}
}

// escaped returns text in which roff sees no commands.
func escaped(s string) string { return strings.ReplaceAll(s, `\`, `\e`) }

// protected returns a line that is no request.
func protected(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}

// verbatim returns a line of an example.
func verbatim(line string) string {
	return protected(strings.ReplaceAll(strings.ReplaceAll(escaped(line), "-", `\-`), "\t", "        "))
}

// quoted returns an argument of a request.
func quoted(s string) string { return `"` + strings.ReplaceAll(escaped(s), `"`, `\(dq`) + `"` }
