// Package importer makes job files in TOML of what other schedulers have: timers of systemd, labels of ofelia, exports
// of Cronicle, jobs of dkron, CronJobs of Kubernetes and workflows of GitHub.
//
// What it cannot bring it says, beside the job that had it: nothing is dropped in silence.
package importer

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/request"
	"github.com/executor-go/executor/cmd/executord/internal/tomlfile"
)

// Kinds are the names of the formats that Read knows.
var Kinds = []string{"systemd", "ofelia", "cronicle", "dkron", "kubernetes", "github"}

// A Job is one that was found.
type Job struct {
	Name     string
	Schedule string
	Zone     string
	Script   string   // for a shell; "" if there are Args
	Args     []string // without a shell
	Request  *request.Request
	Body     string // of the request
	Shell    string
	Dir      string
	User     string
	Env      []Variable
	Timeout  time.Duration
	Jitter   time.Duration
	Keys     []Variable // others of a [[job]], with their values in TOML
	Off      bool       // it does not run where it is from

	// Lost is what could not be brought.
	Lost []string
}

// Variable is one of the environment.
type Variable struct{ Name, Value string }

func (j *Job) lose(format string, args ...any) { j.Lost = append(j.Lost, fmt.Sprintf(format, args...)) }

// set sets a key of a [[job]] whose value is a number, a text or a list of texts. The last value counts.
func (j *Job) set(name string, value any) {
	switch v := value.(type) {
	case string:
		value = quote(v)
	case []string:
		value = list(v)
	}
	for i := range j.Keys {
		if j.Keys[i].Name == name {
			j.Keys[i].Value = fmt.Sprint(value)
			return
		}
	}
	j.Keys = append(j.Keys, Variable{name, fmt.Sprint(value)})
}

// Read reads a file of a kind, and returns its jobs. Beside is for files that one file needs: it returns the data of
// the file of that name in the same directory. An error says that the file is none of that kind.
func Read(kind, name string, data []byte, beside func(name string) ([]byte, error)) (jobs []Job, err error) {
	if kind == "" {
		if kind, err = kindOf(name, data); err != nil {
			return nil, err
		}
	}
	switch kind {
	case "systemd":
		return readTimer(name, data, beside)
	case "ofelia":
		return readOfelia(name, data)
	case "cronicle":
		return readCronicle(data)
	case "dkron":
		return readDkron(data)
	case "kubernetes":
		return readKubernetes(data)
	case "github":
		return readGitHub(name, data)
	}
	return nil, fmt.Errorf("unknown kind %q; known are %s", kind, strings.Join(Kinds, ", "))
}

// kindOf returns of which kind a file is.
func kindOf(name string, data []byte) (string, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".timer":
		return "systemd", nil
	case ".service":
		return "", errors.New("name the .timer: its service is found beside it")
	case ".ini", ".conf":
		return "ofelia", nil
	}
	if strings.Contains(string(data), "global/schedule/") {
		return "cronicle", nil
	}
	docs, err := readYAML(data) // JSON is YAML, too
	if err != nil {
		return "", err
	}
	for _, doc := range docs {
		if list, ok := doc.([]any); ok && len(list) > 0 {
			doc = list[0]
		}
		o := newObject(doc)
		switch {
		case o.has("rows"), o.has("timing"):
			return "cronicle", nil
		case o.text("kind") == "CronJob", strings.HasSuffix(o.text("kind"), "List"):
			return "kubernetes", nil
		case o.has("schedule") && (o.has("executor") || o.has("executor_config")):
			return "dkron", nil
		case o.has("jobs") && (o.has("on") || o.has("true")):
			return "github", nil
		case o.has("services"):
			return "ofelia", nil
		}
	}
	return "", fmt.Errorf("the scheduler of the file was not recognized; set --kind %s", strings.Join(Kinds, "|"))
}

// check returns why executord could not run a job, nil if it can.
func (j *Job) check() error {
	switch {
	case j.Schedule == "":
		return errors.New("the job has no schedule that can be imported")
	case strings.TrimSpace(j.Script) == "" && len(j.Args) == 0 && j.Request == nil:
		return errors.New("it has no command")
	}
	_, err := tomlfile.Parse("", []byte(j.table()))
	var wrong job.Mistakes
	if errors.As(err, &wrong) {
		return errors.New(wrong[0].What)
	}
	return err
}
