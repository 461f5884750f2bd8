// Package keys has the table of what a file can say of a job: the keys of a [[job]] in TOML, which are those of
// "# key: value" above a line of a crontab, too.
//
// A new key is a row of the table and a field of job.Job; the readers, the hints and the schema take it from there.
package keys

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// Kind is what the value of a key is.
type Kind int

const (
	Text     Kind = iota // any text, or one of Values
	Duration             // a length of time, such as "1h30m", not negative
	Truth                // true or false
	Number               // a whole number, not negative
	Numbers              // whole numbers, not negative; in TOML one alone needs no brackets
	List                 // texts; in TOML one alone needs no brackets, and in a comment commas are between them

	Files // a table of absolute paths, by the names of variables; in a comment NAME=path, with commas between them

	// Others are read by the reader of a format itself.
	Command   // a text for the shell, or a list of a program and its arguments
	Variables // a table of texts
	Headers   // a table of texts, too

	Parameters // a table of texts, or of tables with ParameterKeys
)

// Place is where a key may stand.
type Place int

const (
	Above   Place = 1 << iota // above all jobs of a TOML file, too
	Comment                   // above a line of a crontab
	Needed                    // in each [[job]]
)

// A Key is one row of the table.
type Key struct {
	Name    string
	Kind    Kind
	Place   Place
	Values  []string // the only ones that a Text may be; nil for any
	Example string   // a value
	Doc     string   // what it is for, in Markdown, for the manual and the schema

	// set puts a value into the settings. Of a Truth it gets "true" or "false", of all but a List one text. It is nil
	// if the reader of a format does that.
	set func(s *Settings, values []string) *Wrong
}

// In reports whether a key may stand in a place.
func (k *Key) In(p Place) bool { return k.Place&p != 0 }

// Simple reports whether Set can read it.
func (k *Key) Simple() bool { return k.set != nil }

// Settings are what the keys say of a job.
type Settings struct {
	Zone     *time.Location
	Language string  // of the schedule
	Job      job.Job // without what readers fill in: its name, line, schedule and command
}

// Defaults returns the settings of a job of which no key says anything.
func Defaults() Settings {
	s := Settings{Zone: time.Local}
	s.Job.Command.Shell = job.DefaultShell
	return s
}

// Syntax returns how the schedule of a job of that name is read.
func (s *Settings) Syntax(name string) job.Syntax {
	return job.Syntax{Zone: s.Zone, Language: s.Language, Name: name}
}

// Wrong is what is wrong with a value, and what to write instead.
type Wrong struct {
	What string
	Hint string // how to mend it, in words; "" stands for Example
	Like string // a value that is right; "" stands for none
}

// Set puts the value of a key into the settings, or returns what is wrong with it.
func (k *Key) Set(s *Settings, values ...string) *Wrong {
	switch {
	case k.Kind == Truth && values[0] != "true" && values[0] != "false":
		return &Wrong{What: fmt.Sprintf("%s is %q, but has to be true or false", k.Name, values[0]), Hint: "write", Like: "true"}
	case k.Kind == Numbers && len(values) == 0:
		return &Wrong{What: k.Name + " has no number", Hint: "write one, or several", Like: k.Example}
	case k.Kind == Number || k.Kind == Numbers:
		for _, value := range values {
			if value == "" || strings.Trim(value, "0123456789") != "" {
				return &Wrong{What: fmt.Sprintf("%s %q is not a whole number", k.Name, value), Hint: "write digits alone", Like: k.Example}
			}
		}
	}
	if k.Kind == Text && k.Values != nil && !slices.Contains(k.Values, values[0]) {
		return k.unknown(values[0])
	}
	return k.set(s, values)
}

// Many reports whether it may have several values.
func (k *Key) Many() bool {
	return k.Kind == List || k.Kind == Numbers || k.Kind == Files
}

// Split returns the values that a text has which is not TOML: commas separate those of a list, blanks around them
// aside.
func (k *Key) Split(text string) []string {
	if !k.Many() {
		return []string{text}
	}
	var values []string
	for value := range strings.SplitSeq(text, ",") {
		if value = strings.TrimSpace(value); value != "" {
			values = append(values, value)
		}
	}
	return values
}

// Names returns the names of the keys that may stand in a place, in the order of the table. Place 0 stands for any.
func Names(p Place) (names []string) {
	for _, k := range All {
		if p == 0 || k.In(p) {
			names = append(names, k.Name)
		}
	}
	return names
}

// Find returns the key of that name, nil if there is none.
func Find(name string) *Key {
	for _, k := range All {
		if k.Name == name {
			return k
		}
	}
	return nil
}
