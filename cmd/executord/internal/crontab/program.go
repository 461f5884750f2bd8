package crontab

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// programName returns what a job is named after: the first program of its command that does the work. Words of the
// shell, programs that prepare or test something, and programs that run another one are passed over. If there are no
// others, the first of these counts, and without any it is "job".
//
// The name depends on nothing but the command, and is a part of what a job is in a store: a change here makes new jobs
// of old ones.
func programName(script string) string {
	if name, _ := program(script); name != "" {
		return name
	}
	return "job"
}

// program returns the name of the program that does the work; if there is none, found is false, and the name is that of
// the first that could be named, or "".
func program(script string) (name string, found bool) {
	for words := range commands(script) {
		here, works := programOf(words)
		if works {
			return here, true
		}
		if name == "" {
			name = here
		}
	}
	return name, false
}

// opening are words of the shell that a command may follow.
var opening = []string{"!", "{", "if", "then", "elif", "else", "while", "until", "do"}

// syntax are words of the shell behind which the command is missing.
var syntax = []string{"}", "fi", "done", "esac", "for", "case", "select", "function"}

// preparing are programs that only prepare or test something, or say what another one does.
var preparing = []string{
	"cd", "echo", "eval", "exit", "export", "false", "hash", "printf", "pushd", "read",
	"return", "set", "shopt", "sleep", "source", "test", "trap", "true", "type", "ulimit", "umask", "unset", "wait",
	"which",
}

// wrapper is how a program is used that runs another one.
type wrapper struct {
	options string // letters of the options that have a value in the next word
	values  int    // words before the program
	shell   bool   // after -c, there is text for a shell
	inline  string // letters of the options that are followed by a program's text
}

// wrappers are programs that are used to run another one.
var wrappers = map[string]wrapper{
	"chronic": {},
	"chrt":    {options: "TPD", values: 1},
	"command": {},
	"doas":    {options: "uC"},
	"env":     {options: "uCS"},
	"exec":    {options: "a"},
	"flock":   {options: "wE", values: 1, shell: true},
	"gosu":    {values: 1},
	"ionice":  {options: "cn"},
	"nice":    {options: "n"},
	"nohup":   {},
	"setsid":  {},
	"stdbuf":  {options: "ioe"},
	"su":      {options: "sgG", values: 1, shell: true},
	"su-exec": {values: 1},
	"sudo":    {options: "ughpCDRTrt"},
	"time":    {options: "fo"},
	"timeout": {options: "ks", values: 1},

	"ash": {shell: true, options: "o"}, "bash": {shell: true, options: "oO"}, "dash": {shell: true, options: "o"},
	"ksh": {shell: true, options: "o"}, "sh": {shell: true, options: "o"}, "zsh": {shell: true, options: "o"},
	"node": {inline: "ep"}, "perl": {inline: "eE", options: "I"}, "php": {inline: "r", options: "dc"},
	"python": {inline: "c", options: "WX"}, "python3": {inline: "c", options: "WX"}, "ruby": {inline: "e", options: "I"},
}

// programOf returns the name of the program of a command, and reports whether it does the work.
func programOf(words []string) (name string, works bool) {
	for len(words) > 0 && (slices.Contains(opening, words[0]) || isAssignment(words[0])) {
		words = words[1:]
	}
	if len(words) == 0 || slices.Contains(syntax, words[0]) {
		return "", false
	}
	name = nameOf(words[0])
	if w, wraps := wrappers[name]; wraps {
		if inner, found := w.program(words[1:]); found {
			return inner, true
		}
		return name, false
	}
	return name, name != "" && !slices.Contains(preparing, name)
}

// program returns the name of the program that a wrapper runs.
func (w wrapper) program(args []string) (name string, found bool) {
	values := w.values
	for i := 0; i < len(args); i++ {
		letters, isOption := strings.CutPrefix(args[i], "-")
		switch {
		case isAssignment(args[i]), isOption && (letters == "" || letters[0] == '-'): // --long is --long=value
		case !isOption && values > 0:
			values--
		case !isOption:
			return programOf(args[i:])
		case letters == "v", letters == "V", strings.ContainsAny(letters[len(letters)-1:], w.inline):
			return "", false // a question, or text of another language
		case w.shell && strings.HasSuffix(letters, "c"):
			if i+1 == len(args) {
				return "", false
			}
			return program(args[i+1])
		case len(letters) == 1 && strings.Contains(w.options, letters):
			i++
		}
	}
	return "", false
}

// isAssignment reports whether a word is NAME=value.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && job.ValidVariable(name)
}

// nameOf returns the name of a program without its directory, or "" if it can be none.
func nameOf(word string) string {
	word = job.CanonicalName(path.Base(word))
	switch {
	case word == "[", word == "[[":
		return "test"
	case strings.HasPrefix(word, "-"), !job.ValidName(word), !strings.ContainsFunc(word, unicode.IsLetter) &&
		!strings.ContainsFunc(word, unicode.IsDigit):
		return ""
	}
	return word
}
