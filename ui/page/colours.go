package page

import (
	"html"
	"html/template"
	"strings"
)

// Coloured returns a line of output as HTML, with the colours of a terminal: classes "bold" and "c0" to "c7". Other
// characters that can't be seen are shown as printable returns them.
func Coloured(line string, printable func(string) string) template.HTML {
	var b strings.Builder
	classes := ""
	piece := func(text string) {
		text = html.EscapeString(printable(text))
		if text != "" && classes != "" {
			text = `<span class="` + classes + `">` + text + "</span>"
		}
		b.WriteString(text)
	}
	for len(line) > 0 {
		i := strings.Index(line, "\x1b[")
		if i < 0 {
			break
		}
		end := strings.IndexFunc(line[i+2:], func(r rune) bool { return r != ';' && (r < '0' || r > '9') })
		if end < 0 || line[i+2+end] != 'm' {
			piece(line[:i+2])
			line = line[i+2:]
			continue
		}
		piece(line[:i])
		classes = colour(classes, line[i+2:i+2+end])
		line = line[i+2+end+1:]
	}
	piece(line)
	return template.HTML(b.String())
}

// colour returns the classes after the codes of a sequence: bold, and one of eight colours. Others change nothing.
func colour(classes, codes string) string {
	for _, code := range strings.Split(codes, ";") {
		switch {
		case code == "" || code == "0":
			classes = ""
		case code == "1":
			classes = strings.TrimSpace("bold " + strings.ReplaceAll(classes, "bold", ""))
		case code == "22":
			classes = strings.TrimSpace(strings.ReplaceAll(classes, "bold", ""))
		case len(code) == 2 && (code[0] == '3' || code[0] == '9') && code[1] >= '0' && code[1] <= '9':
			kept := ""
			if strings.Contains(classes, "bold") {
				kept = "bold "
			}
			if code[1] <= '7' {
				kept += "c" + code[1:]
			}
			classes = strings.TrimSpace(kept)
		case code == "38" || code == "48":
			return classes // what follows is one colour of many
		}
	}
	return classes
}
