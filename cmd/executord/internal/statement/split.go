package statement

import (
	"regexp"
	"strings"
)

// split returns the statements of a text, as SQLite takes them: semicolons in quotes, in comments and in the body of a
// trigger end none. What has no token is no statement.
func split(text string) (statements []string) {
	var tokens []string // of the statement so far: its first words, and the last two tokens
	begin, trigger := 0, false
	cut := func(end int) {
		if len(tokens) > 0 {
			statements = append(statements, text[begin:end])
		}
		begin, tokens, trigger = end, nil, false
	}
	for at := 0; at < len(text); {
		length, blank := next(text[at:])
		token := strings.ToLower(text[at : at+length])
		at += length
		switch {
		case blank:
			continue
		case token == ";" && (!trigger || strings.Join(tokens[len(tokens)-2:], " ") == "; end"):
			cut(at)
			continue
		}
		tokens = append(tokens, token)
		switch {
		case len(tokens) <= leadOfTrigger:
			trigger = trigger || createsTrigger.MatchString(strings.Join(tokens, " "))
		case len(tokens) > leadOfTrigger+2:
			tokens = append(tokens[:leadOfTrigger], tokens[leadOfTrigger+1:]...)
		}
	}
	cut(len(text))
	return statements
}

// createsTrigger is how a statement begins that has others in it, in at most leadOfTrigger tokens.
var createsTrigger = regexp.MustCompile(`^(explain (query plan )?)?create (temp |temporary )?trigger$`)

const leadOfTrigger = 6

// next returns the length of the first token of a text that is not empty, and whether it is a blank or a comment.
func next(text string) (length int, blank bool) {
	upTo := func(end string, from int) int {
		if i := strings.Index(text[from:], end); i >= 0 {
			return from + i + len(end)
		}
		return len(text)
	}
	switch c := text[0]; {
	case strings.IndexByte(" \t\n\f\r", c) >= 0:
		return 1, true
	case strings.HasPrefix(text, "--"):
		return upTo("\n", 2), true
	case strings.HasPrefix(text, "/*"):
		return upTo("*/", 2), true
	case c == '\'' || c == '"' || c == '`': // one that is doubled ends a token, and begins the next
		return upTo(string(c), 1), false
	case c == '[':
		return upTo("]", 1), false
	case isOfWord(c):
		for length < len(text) && isOfWord(text[length]) {
			length++
		}
		return length, false
	}
	return 1, false
}

func isOfWord(c byte) bool {
	return c >= 0x80 || c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
