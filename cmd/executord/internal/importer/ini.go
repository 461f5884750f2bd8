package importer

import (
	"slices"
	"strings"
)

// section is one of an INI file.
type section struct {
	name string
	keys []Variable // in order; a name may come again
}

// kind returns the first word of its name.
func (s section) kind() string {
	kind, _, _ := strings.Cut(s.name, " ")
	return kind
}

func hasSection(sections []section, name string) bool {
	return slices.ContainsFunc(sections, func(s section) bool { return s.name == name })
}

// readINI reads the files of systemd and ofelia. A backslash at the end continues a line.
func readINI(data []byte) (sections []section) {
	text := strings.ReplaceAll(string(data), "\\\n", " ")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			sections = append(sections, section{name: strings.TrimSuffix(line[1:], "]")})
		case len(sections) > 0:
			key, value, _ := strings.Cut(line, "=")
			s := &sections[len(sections)-1]
			s.keys = append(s.keys, Variable{strings.TrimSpace(key), strings.TrimSpace(value)})
		}
	}
	return sections
}

// words cuts a command into words, with quotes as a shell has them. It is false if a quote does not end.
func words(text string) (list []string, ok bool) {
	var b strings.Builder
	in, quote := false, rune(0)
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '"' || r == '\'':
			quote, in = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if in {
				list = append(list, b.String())
				b.Reset()
			}
			in = false
		default:
			b.WriteRune(r)
			in = true
		}
	}
	if in {
		list = append(list, b.String())
	}
	return list, quote == 0 && !escaped
}
