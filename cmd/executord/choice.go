package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// choice is the value of a flag with few possible values.
type choice struct {
	value string
	among []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.among, "|") }

func (c *choice) Set(value string) (err error) {
	c.value, err = oneOf(value, c.among)
	return err
}

// longChoice is a choice with too many values for a list of flags, which has its name instead.
type longChoice struct {
	*choice
	name string
}

func (c longChoice) Type() string { return c.name }

// choices is the value of a flag that may be repeated, each time with one of the possible values, which has a name in
// lists of flags.
type choices struct {
	values, among []string
	name          string
}

func newChoices[T ~string](name string, among []T) *choices {
	c := &choices{name: name}
	for _, one := range among {
		c.among = append(c.among, string(one))
	}
	return c
}

func (c *choices) String() string { return strings.Join(c.values, ", ") }
func (c *choices) Type() string   { return c.name }

func (c *choices) Set(value string) error {
	value, err := oneOf(value, c.among)
	c.values = append(c.values, value)
	return err
}

// has reports whether a value is one of those that were given, or none was.
func (c *choices) has(value string) bool {
	return len(c.values) == 0 || slices.Contains(c.values, value)
}

// oneOf returns which of the possible values is meant: blanks in one may be written as - or _.
func oneOf(value string, among []string) (string, error) {
	plain := strings.NewReplacer("-", " ", "_", " ").Replace
	for _, possible := range among {
		if value == possible || plain(value) == possible {
			return possible, nil
		}
	}
	text := "choose one of " + strings.Join(among, ", ")
	if like := job.Closest(value, among); like != "" {
		text = fmt.Sprintf("did you mean %s? Possible are %s", like, strings.Join(among, ", "))
	}
	return "", fmt.Errorf("%s", text)
}
