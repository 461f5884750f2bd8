package crontab

import "strings"

// commands returns the commands of a script of the shell, each as its words: without quotes and redirections, and
// nothing expanded. It is for names: what it gets wrong is called otherwise, and no more.
func commands(script string) [][]string {
	var all [][]string
	var words []string
	end := func() {
		if len(words) > 0 {
			all, words = append(all, words), nil
		}
	}
	target := false // the next word is what a redirection goes to
	for script != "" {
		switch c := script[0]; {
		case strings.IndexByte(blanks, c) >= 0:
			script = script[1:]
		case c == '#':
			script = ""
		case strings.IndexByte(";&|()\n", c) >= 0:
			script = script[1:]
			end()
		case c == '<' || c == '>':
			script = strings.TrimLeft(script, "<>&|")
			target = true
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
	end()
	return all
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
