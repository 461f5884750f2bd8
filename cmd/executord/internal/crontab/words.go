package crontab

import (
	"iter"
	"slices"
	"strings"
)

// LeavesBackground reports whether a script of the shell starts a command in the background, by &, and does not wait for
// it.
func LeavesBackground(script string) (left bool) {
	for words, operator := range commands(script) {
		if slices.Contains(words, "wait") {
			left = false
		}
		left = left || operator == "&"
	}
	return left
}

// commands returns the commands of a script of the shell, each as its words, without quotes and redirections, and
// nothing expanded, and the operator behind it: & or &&, the first character of another, or "" at the end. There are no
// words between two operators. What it gets wrong is called otherwise, or not noted, and no more.
func commands(script string) iter.Seq2[[]string, string] {
	return func(yield func([]string, string) bool) {
		var words []string
		target := false // the next word is what a redirection goes to
		for script != "" {
			switch c := script[0]; {
			case strings.IndexByte(blanks, c) >= 0:
				script = script[1:]
			case c == '#':
				script = ""
			case c == '<' || c == '>' || strings.HasPrefix(script, "&>"):
				script = strings.TrimLeft(script, "<>&|")
				target = true
			case strings.IndexByte(";&|()\n", c) >= 0:
				operator := script[:1]
				if strings.HasPrefix(script, "&&") {
					operator = "&&"
				}
				script = script[len(operator):]
				if !yield(words, operator) {
					return
				}
				words = nil
			default:
				word, rest := cutWord(script)
				script = rest
				number := rest != "" && (rest[0] == '<' || rest[0] == '>') && strings.Trim(word, "0123456789") == ""
				if !target && !number {
					words = append(words, word)
				}
				target = false
			}
		}
		yield(words, "")
	}
}

// cutWord cuts the first word off a script, without its quotes.
func cutWord(script string) (word, rest string) {
	var b strings.Builder
	quote, depth := byte(0), 0 // depth of $( )
	i := 0
loop:
	for ; i < len(script); i++ {
		c := script[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
			if c == '`' {
				b.WriteByte(c)
			}
			continue
		case quote != '\'' && c == '\\' && i+1 < len(script):
			i++
			c = script[i]
		case quote != 0:
		case c == '\'' || c == '"' || c == '`':
			quote = c
			if c != '`' {
				continue
			}
		case c == '$' && i+1 < len(script) && script[i+1] == '(', depth > 0 && c == '(':
			if c == '$' {
				b.WriteByte(c)
				i++
				c = '('
			}
			depth++
		case depth > 0 && c == ')':
			depth--
		case depth == 0 && strings.IndexByte(blanks+";&|()<>\n", c) >= 0:
			break loop
		}
		b.WriteByte(c)
	}
	return b.String(), script[i:]
}
