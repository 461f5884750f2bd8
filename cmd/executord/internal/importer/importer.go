// Package importer makes job files in TOML of timers of systemd and of jobs of ofelia, in the labels of a compose file or
// in a file of their own.
//
// What it cannot bring it says, beside the job that had it: nothing is dropped in silence.
package importer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/tomlfile"
)

// Found is what a file has.
type Found struct {
	Jobs []Job
	Lost []string // what could not be brought, and is of no single job
}

func (f *Found) lose(format string, args ...any) {
	f.Lost = append(f.Lost, fmt.Sprintf(format, args...))
}

// A Job is one that was found.
type Job struct {
	Name     string
	Schedule string
	Zone     string
	Script   string   // for a shell; "" if there are Args
	Args     []string // without a shell
	Dir      string
	User     string
	Env      []Variable
	Timeout  time.Duration
	Jitter   time.Duration
	Keys     []Variable // others of a [[job]], with their values in TOML
	Off      string     // why it does not run where it is from; "" if it does

	// Lost is what could not be brought.
	Lost []string
}

// Variable is one of the environment.
type Variable struct{ Name, Value string }

func (j *Job) lose(format string, args ...any) { j.Lost = append(j.Lost, fmt.Sprintf(format, args...)) }

// set sets a key of a [[job]] whose value is a number, a text or a list of one of them. The last value counts.
func (j *Job) set(name string, value any) {
	switch v := value.(type) {
	case string:
		value = quote(v)
	case []string:
		value = list(v)
	case []int:
		value = strings.ReplaceAll(fmt.Sprint(v), " ", ", ")
	}
	for i := range j.Keys {
		if j.Keys[i].Name == name {
			j.Keys[i].Value = fmt.Sprint(value)
			return
		}
	}
	j.Keys = append(j.Keys, Variable{name, fmt.Sprint(value)})
}

// ErrUnknown is the error of Read for a file of which it knows no kind.
var ErrUnknown = errors.New("the file is no timer of systemd, and has no jobs of ofelia")

// Read reads a file, and returns its jobs. Beside is for files that one file needs: it returns the data of the file of
// that name in the same directory.
func Read(name string, data []byte, beside func(name string) ([]byte, error)) (Found, error) {
	sections := readINI(data)
	switch {
	case hasSection(sections, "Timer"):
		return readTimer(name, data, beside), nil
	case hasSection(sections, "Service"):
		return Found{}, errors.New("name the .timer: its service is found beside it")
	case slices.ContainsFunc(sections, func(s section) bool { return isOfelia(s.kind()) }):
		return readOfelia(sections), nil
	}
	docs, err := readYAML(data)
	if err != nil {
		return Found{}, fmt.Errorf("%w: %v", ErrUnknown, err)
	}
	for _, doc := range docs {
		if o := newObject(doc); o.has("services") {
			return readCompose(o.object("services")), nil
		}
	}
	return Found{}, ErrUnknown
}

// check returns why executord could not run a job, nil if it can.
func (j *Job) check() error {
	switch {
	case j.Schedule == "":
		return errors.New("the job has no schedule that can be imported")
	case strings.TrimSpace(j.Script) == "" && len(j.Args) == 0:
		return errors.New("it has no command")
	}
	_, err := tomlfile.Parse("", []byte(j.table()))
	var wrong job.Mistakes
	if errors.As(err, &wrong) {
		return errors.New(wrong[0].What)
	}
	return err
}
