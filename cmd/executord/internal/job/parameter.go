package job

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parameter is a value that may be another one in each run of a job. Its tags are those of the
// store and of JSON, and documented.
type Parameter struct {
	Name    string   `json:"name"`              // of the variable by which the command gets it
	Default string   `json:"default"`           // of the runs that nobody gives another one
	Values  []string `json:"values,omitempty"`  // the only ones that are allowed; nil for any
	Pattern string   `json:"pattern,omitempty"` // a regular expression of the whole value; "" for any
	Doc     string   `json:"description,omitempty"`
}

const (
	// MaxParameters is how many parameters a job may have. It is documented.
	MaxParameters = 32

	// MaxValue is how many bytes a value of a parameter may have. It is documented.
	MaxValue = 1024
)

// Check returns what is wrong with a parameter that a file declares.
func (p Parameter) Check() error {
	switch {
	case !ValidVariable(p.Name):
		return fmt.Errorf("%q cannot be the name of a parameter, which is that of a variable: use letters, digits and _ only, and no digit first", p.Name)
	case strings.HasPrefix(p.Name, "EXECUTORD_"):
		return fmt.Errorf("%s cannot be the name of a parameter: variables that begin with EXECUTORD_ are executord's own", p.Name)
	case steers(p.Name):
		return fmt.Errorf("%s cannot be the name of a parameter: by it the shell, the loader or another program is told what to run, and who runs a job may set a parameter", p.Name)
	case p.Values != nil && p.Pattern != "":
		return fmt.Errorf("parameter %s has values and a pattern: remove one of the two", p.Name)
	}
	if _, err := p.compile(); err != nil {
		return fmt.Errorf("the pattern of parameter %s is not a regular expression: %w", p.Name, err)
	}
	for _, value := range p.Values {
		if err := checkValue(value); err != nil {
			return fmt.Errorf("a value of parameter %s %w", p.Name, err)
		}
	}
	if err := p.Allows(p.Default); err != nil {
		return fmt.Errorf("the default is not allowed: %w", err)
	}
	return nil
}

// steering are variables by which programs are told what to run, to read or to trust, and the beginnings of others.
var (
	steering = []string{
		"PATH", "IFS", "ENV", "BASH_ENV", "BASHOPTS", "SHELLOPTS", "SHELL", "PS4", "PROMPT_COMMAND", "CDPATH", "HOME", "ZDOTDIR",
		"EDITOR", "VISUAL", "PAGER", "GCONV_PATH", "NLSPATH", "TMPDIR", "CLASSPATH", "_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS",
		"JDK_JAVA_OPTIONS", "CURL_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "GODEBUG",
	}
	steeringBegins = []string{"LD_", "DYLD_", "BASH_FUNC", "PYTHON", "PERL", "RUBY", "NODE_", "GIT_", "PG", "MYSQL_", "OPENSSL_"}
	steeringEnds   = []string{"_PROXY"}
)

// steers reports whether a variable is one of these.
func steers(name string) bool {
	upper := strings.ToUpper(name)
	begins := func(s string) bool { return strings.HasPrefix(upper, s) }
	ends := func(s string) bool { return strings.HasSuffix(upper, s) }
	return slices.Contains(steering, upper) || slices.ContainsFunc(steeringBegins, begins) || slices.ContainsFunc(steeringEnds, ends)
}

func (p Parameter) compile() (*regexp.Regexp, error) {
	if _, err := regexp.Compile(p.Pattern); err != nil { // which is to name the pattern as it was written
		return nil, err
	}
	return regexp.Compile(`\A(?:` + p.Pattern + `)\z`)
}

// checkValue returns what is wrong with a value, whatever its parameter.
func checkValue(value string) error {
	switch {
	case len(value) > MaxValue:
		return fmt.Errorf("has %d bytes, and must have at most %d", len(value), MaxValue)
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
		return fmt.Errorf("is %s; it must be one line of UTF-8, without control characters", brief(value))
	}
	return nil
}

// brief returns a value in quotes, and of a long one the begin.
func brief(value string) string {
	const most = 60
	if runes := []rune(value); len(runes) > most {
		value = string(runes[:most]) + "…"
	}
	return fmt.Sprintf("%q", value)
}

// Allows returns an error if a value is none that the parameter may have.
func (p Parameter) Allows(value string) error {
	if err := checkValue(value); err != nil {
		return fmt.Errorf("%s %w", p.Name, err)
	}
	if p.Values != nil && !slices.Contains(p.Values, value) {
		text := fmt.Sprintf("%s %s is not one of %s", p.Name, brief(value), strings.Join(p.Values, ", "))
		if near := Closest(value, p.Values); near != "" {
			text += "; did you mean " + near + "?"
		}
		return fmt.Errorf("%s", text)
	}
	if p.Pattern == "" {
		return nil
	}
	if expression, err := p.compile(); err != nil || !expression.MatchString(value) {
		return fmt.Errorf("%s %s does not match the pattern %s", p.Name, brief(value), p.Pattern)
	}
	return nil
}

// Parameters are those of a job, in the order of its file.
type Parameters []Parameter

// Given returns the values of a run for which these are set, each as NAME=value: one for each parameter. It returns an
// error if one is not declared or not allowed, and nil if none is set: the run has the defaults.
func (ps Parameters) Given(set []string) (values []string, err error) {
	if len(set) == 0 {
		return nil, nil
	}
	given := make(map[string]string)
	for _, one := range set {
		name, value, ok := strings.Cut(one, "=")
		if !ok {
			return nil, fmt.Errorf("%s has no =; write NAME=value", brief(one))
		}
		i := slices.IndexFunc(ps, func(p Parameter) bool { return p.Name == name })
		if i < 0 {
			return nil, ps.unknown(name)
		}
		if _, twice := given[name]; twice {
			return nil, fmt.Errorf("%s is set twice", name)
		}
		if err := ps[i].Allows(value); err != nil {
			return nil, err
		}
		given[name] = value
	}
	for _, p := range ps {
		value, set := given[p.Name]
		if !set {
			value = p.Default
		}
		values = append(values, p.Name+"="+value)
	}
	return values, nil
}

func (ps Parameters) unknown(name string) error {
	if len(ps) == 0 {
		return fmt.Errorf("there is no parameter %s: the job declares none; see parameters in the manual", brief(name))
	}
	names := make([]string, len(ps))
	for i, p := range ps {
		names[i] = p.Name
	}
	if near := Closest(name, names); near != "" {
		return fmt.Errorf("there is no parameter %s; did you mean %s?", brief(name), near)
	}
	return fmt.Errorf("there is no parameter %s; the job has %s", brief(name), strings.Join(names, ", "))
}

// Env returns the variables of a run with values that Given has returned; nil stands for the defaults.
func (ps Parameters) Env(values []string) (env []string) {
	for _, p := range ps { // which may have been declared since the values were given
		env = append(env, p.Name+"="+p.Default)
	}
	return append(env, values...)
}
