package request

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
)

// Uses returns those of some variables that stand in the URL or in a header.
func (r Request) Uses(names []string) (used []string) {
	for _, text := range append([]string{r.URL}, r.Headers...) {
		os.Expand(text, func(name string) string {
			if slices.Contains(names, name) && !slices.Contains(used, name) {
				used = append(used, name)
			}
			return ""
		})
	}
	return used
}

// expand returns the request with the values of the environment in it.
func (r Request) expand() (Request, error) {
	return r.expandWith(r.Parameters, os.LookupEnv)
}

// expandWith returns the request with values in place of variables. Those of parameters change nothing but the place in
// which they stand: they are escaped for a path or a query, and refused where they would choose the host, or the header.
func (r Request) expandWith(parameters []string, value func(name string) (string, bool)) (Request, error) {
	var err error
	if r.URL, err = expandURL(r.URL, parameters, value); err != nil {
		return r, err
	}
	headers := make([]string, len(r.Headers))
	for i, h := range r.Headers {
		if headers[i], err = expandHeader(h, parameters, value); err != nil {
			return r, err
		}
	}
	r.Headers = headers
	return r, nil
}

// A hole is a parameter in a text. No value has a zero byte, which marks it.
type hole struct{ name, value string }

const holeMark = "\x00"

// fill returns a text with the values of its variables, and a mark in place of each parameter.
func fill(text string, parameters []string, value func(string) (string, bool)) (filled string, holes []hole, err error) {
	filled = os.Expand(text, func(name string) string {
		v, set := value(name)
		switch {
		case !set && err == nil:
			err = fmt.Errorf("the variable %s is not set; set it, such as in env of the job", name)
		case slices.Contains(parameters, name):
			holes = append(holes, hole{name, v})
			return holeMark
		}
		return strings.ReplaceAll(v, holeMark, "")
	})
	return filled, holes, err
}

// expandURL returns a URL with the values of its variables.
func expandURL(text string, parameters []string, value func(string) (string, bool)) (string, error) {
	filled, holes, err := fill(text, parameters, value)
	if err != nil || len(holes) == 0 {
		return filled, err
	}
	_, after, _ := strings.Cut(filled, "://")
	authority := len(filled) - len(after)
	if end := strings.IndexAny(after, "/?#"); end >= 0 {
		authority += end
	} else {
		authority = len(filled)
	}
	var b strings.Builder
	for i, part := range strings.Split(filled, holeMark) {
		if i > 0 {
			h := holes[i-1]
			switch begin := filled[:indexOf(filled, holeMark, i)]; {
			case len(begin) < authority:
				return "", fmt.Errorf("the parameter %s stands where it would choose the server; write the server itself, or a variable of env", h.name)
			case strings.ContainsAny(begin, "?#"):
				b.WriteString(url.QueryEscape(h.value))
			case slices.ContainsFunc(strings.FieldsFunc(h.value, func(r rune) bool { return r == '/' || r == '\\' }), isDots):
				return "", fmt.Errorf("the value of the parameter %s has %q in it, which leads to another path", h.name, "..")
			default:
				b.WriteString(url.PathEscape(h.value))
			}
		}
		b.WriteString(part)
	}
	path, _, _ := strings.Cut(b.String()[authority:], "?")
	path, _, _ = strings.Cut(path, "#")
	if slices.ContainsFunc(strings.Split(path, "/"), isDots) {
		return "", fmt.Errorf("with the values of its parameters the path of the URL has %q in it, which leads to another path", "..")
	}
	return b.String(), nil
}

// indexOf returns where the nth mark of a text is, counted from 1.
func indexOf(text, mark string, n int) int {
	at := -1
	for range n {
		at += 1 + strings.Index(text[at+1:], mark)
	}
	return at
}

// isDots reports whether a part of a path means the part itself, or the one before it.
func isDots(part string) bool { return part == "." || part == ".." }

// expandHeader returns a header with the values of its variables.
func expandHeader(text string, parameters []string, value func(string) (string, bool)) (string, error) {
	name, rest, ok := strings.Cut(text, ":")
	if !ok {
		return text, nil // Check says what is wrong with it
	}
	filledName, inName, err := fill(name, parameters, value)
	if err != nil {
		return "", err
	}
	if len(inName) > 0 {
		return "", fmt.Errorf("the parameter %s stands in the name of a header; write the name itself", inName[0].name)
	}
	filled, holes, err := fill(rest, parameters, value)
	if err != nil {
		return "", err
	}
	if len(holes) > 0 && strings.EqualFold(strings.TrimSpace(filledName), "Host") {
		return "", fmt.Errorf("the parameter %s stands where it would choose the server, in the header Host", holes[0].name)
	}
	for _, h := range holes {
		filled = strings.Replace(filled, holeMark, h.value, 1)
	}
	return filledName + ":" + filled, nil
}
