package admin

import (
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/executor-go/executor/durable/internal/argument"
)

// searchTerms are the names of the terms of a search, and the parameters of ParseQuery that they stand for.
var searchTerms = []struct {
	name, parameter string
	several         bool // the term may be there more than once
}{
	{"state", "state", true}, {"kind", "kind", false}, {"queue", "queue", false}, {"key", "key", false}, {"tag", "tag", true},
	{"error", "error", false}, {"changed", "within", false},
}

// ParseSearch reads a query that somebody has typed into one box, such as "kind:mail error:refused tag:shop=eu changed:1h",
// and returns the parameters of it for ParseQuery. The terms have blanks between them, and the names state, kind, queue,
// key, tag, error and changed. Words without one of these names are what a key begins with. In double quotes a word or a
// value may have blanks, or begin like a term; "" there is a double quote. An error matches executor.ErrInvalid.
func ParseSearch(text string) (url.Values, error) {
	v := make(url.Values)
	var words []string
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		var value string
		var err error
		term := termOf(rest)
		if term < 0 {
			if value, rest, err = cutWord(rest); err != nil {
				return nil, err
			}
			words = append(words, value)
			continue
		}
		t := searchTerms[term]
		switch value, rest, err = cutWord(rest[len(t.name)+1:]); {
		case err != nil:
			return nil, err
		case strings.TrimSpace(value) == "":
			return nil, argument.Invalid("%s: has no value; write it without a blank before it, as kind:mail", t.name)
		case v.Has(t.parameter) && !t.several:
			return nil, argument.Invalid("%s: is there twice; it may be there once", t.name)
		}
		v.Add(t.parameter, value)
	}
	if words == nil {
		return v, nil
	}
	if v.Has("key") {
		return nil, argument.Invalid("key: is there, and %.60q without a name, which is a key, too; write one of them", words[0])
	}
	v.Set("key", strings.Join(words, " "))
	return v, nil
}

// termOf returns which of searchTerms a text begins with, -1 for none.
func termOf(text string) int {
	for i, t := range searchTerms {
		if rest, ok := strings.CutPrefix(text, t.name); ok && strings.HasPrefix(rest, ":") {
			return i
		}
	}
	return -1
}

// cutWord returns the word that a text begins with, without its quotes, and the rest.
func cutWord(text string) (word, rest string, err error) {
	quoted, is := strings.CutPrefix(text, `"`)
	if !is {
		if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
			return text[:end], text[end:], nil
		}
		return text, "", nil
	}
	for rest = quoted; ; {
		before, after, closed := strings.Cut(rest, `"`)
		word += before
		switch {
		case !closed:
			return "", "", argument.Invalid(`%.60q: the quote is not closed; end it with "`, text)
		case strings.HasPrefix(after, `"`):
			word += `"`
			rest = after[1:]
		case after != "" && strings.TrimLeftFunc(after, unicode.IsSpace) == after:
			return "", "", argument.Invalid(`%.60q: a blank must follow the closing quote; a quote in it is written as ""`, text)
		default:
			return word, after, nil
		}
	}
}

// Search returns the text that ParseSearch reads as q, without its After.
func (q Query) Search() string {
	var terms []string
	add := func(name string, values ...string) {
		for _, value := range values {
			if value != "" {
				terms = append(terms, name+quoted(value, name == ""))
			}
		}
	}
	add("", q.Key)
	add("state:", q.States...)
	add("kind:", q.Kind)
	add("queue:", q.Queue)
	add("tag:", q.Tags...)
	add("error:", q.Error)
	if q.Within > 0 {
		add("changed:", Span(q.Within))
	}
	return strings.Join(terms, " ")
}

// quoted returns a word as cutWord reads it. One that stands alone is no term.
func quoted(word string, alone bool) string {
	if strings.HasPrefix(word, `"`) || strings.ContainsFunc(word, unicode.IsSpace) || alone && termOf(word) >= 0 {
		return `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
	}
	return word
}

// Span returns a duration as people write it, without the units that are zero at its end: 1h30m for 1h30m0s.
func Span(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}
