// Package catalog is what executord keeps in a store: one schedule for each job
// of a job file. Its key tells of which namespace and which name the job is, its
// payload is all that a daemon needs to run it.
//
//	key      executord/NAMESPACE/NAME    NAMESPACE has no slash, NAME may have some
//	kind     executord/NAMESPACE         so that a daemon claims the jobs of its own only
//	payload  a Spec
//
// The definition of a job is in the payload, and not only in the files of the
// daemons, so that one whose file is older or newer runs what it has claimed.
package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
)

const root = "executord/"

// Kind gives the kind of the jobs of a namespace.
func Kind(namespace string) string { return root + namespace }

// Key gives the key of a job.
func Key(namespace, name string) string { return Kind(namespace) + "/" + name }

// NamespaceHint tells what a namespace may be called.
const NamespaceHint = "use letters, digits and . _ - (no longer than 64 bytes)"

// ValidNamespace reports whether a namespace may be called so.
func ValidNamespace(name string) bool { return job.ValidName(name) && !strings.Contains(name, "/") }

// Spec is the definition of a job as a store has it. Fields may be added, with
// omitempty, so that the specs of old files stay the same to the byte; one that
// has changed makes a job a changed one.
type Spec struct {
	Schedule string        `json:"schedule"` // as the file has it
	Zone     string        `json:"zone"`     // in which it is read
	Args     []string      `json:"args,omitempty"`
	Shell    string        `json:"shell,omitempty"`
	Script   string        `json:"script,omitempty"`
	Stdin    string        `json:"stdin,omitempty"`
	Env      []string      `json:"env,omitempty"`
	Dir      string        `json:"dir,omitempty"`
	Timeout  time.Duration `json:"timeout,omitempty"`
	Jitter   time.Duration `json:"jitter,omitempty"`

	// Off says that the job is not to run: it was removed from its file, or is
	// on its way back. A run of it does nothing, and fails with ErrIdle.
	Off bool `json:"off,omitempty"`

	// Held, of a job that is off, is the state in which it did not run already
	// when it was removed: paused, canceled or dead. Put back, it is so again.
	Held string `json:"held,omitempty"`
}

// NewSpec gives the spec of a job of a file.
func NewSpec(j job.Job) Spec {
	c := j.Command
	return Spec{
		Schedule: j.Schedule.Text, Zone: j.Schedule.ZoneName(),
		Args: c.Args, Shell: c.Shell, Script: c.Script, Stdin: c.Stdin, Env: c.Env, Dir: c.Dir,
		Timeout: j.Timeout, Jitter: j.Jitter,
	}
}

// Job gives what a daemon runs.
func (s Spec) Job(name string) job.Job {
	return job.Job{
		Name:    name,
		Command: job.Command{Args: s.Args, Shell: s.Shell, Script: s.Script, Stdin: s.Stdin, Env: s.Env, Dir: s.Dir},
		Timeout: s.Timeout, Jitter: s.Jitter,
	}
}

// Location gives the zone of the job's times, for showing them.
func (s Spec) Location() *time.Location {
	if loc, err := job.LoadZone(s.Zone); err == nil {
		return loc
	}
	return time.UTC
}

func (s Spec) encode() []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // there is nothing in it that could fail
	}
	return text
}

// ErrIdle is the error of a run of a job that is off. It stands in the history,
// for durable keeps account of all runs; IsIdle tells such runs.
var ErrIdle = durable.Permanent(errors.New("nothing was run: the job is off"))

// IsIdle reports whether a run in the history was none.
func IsIdle(r durable.Run) bool { return r.Error == ErrIdle.Error() }

// Entry is one job in a store.
type Entry struct {
	durable.Job
	Namespace, Name string
	Spec            Spec
}

// Read gives the entry that a row of the store is, false if it is not one of
// executord's.
func Read(row durable.Job) (Entry, bool) {
	rest, ours := strings.CutPrefix(row.Key, root)
	namespace, name, ok := strings.Cut(rest, "/")
	if !ours || !ok || row.Kind != Kind(namespace) {
		return Entry{}, false
	}
	e := Entry{Job: row, Namespace: namespace, Name: name}
	if json.Unmarshal(row.Payload, &e.Spec) != nil {
		e.Spec = Spec{Schedule: row.Schedule, Zone: "UTC"}
	}
	return e, true
}

// Removed reports whether the job is not in its file any more, and over.
func (e Entry) Removed() bool {
	return e.Spec.Off && (e.State.Done() || e.State == durable.Paused)
}

// held gives the state, if any, in which somebody has put the job so that it does
// not run, or has wished to when its run has ended. That it was removed is no
// such state, but does not undo one.
func (e Entry) held() string {
	switch {
	case e.Spec.Off:
		return e.Spec.Held
	case e.Pending == durable.PendingPause:
		return durable.Paused.String()
	case e.Pending == durable.PendingCancel:
		return durable.Canceled.String()
	case e.State == durable.Paused, e.State == durable.Canceled, e.State == durable.Dead:
		return e.State.String()
	}
	return ""
}

// Times gives the times of a job's schedule, nil if it has none.
func Times(row durable.Job) job.Trigger {
	word, rest, _ := strings.Cut(row.Schedule, " ")
	switch word {
	case "rate":
		if d, err := time.ParseDuration(rest); err == nil && d > 0 {
			return job.Grid{Start: row.Anchor, Every: d}
		}
	case "cron":
		if s, err := cron.Parse(rest); err == nil {
			return s
		}
	}
	return nil
}

// pageSize is how many jobs are asked for at once.
const pageSize = 500

// List gives the jobs of a namespace, of all if it is empty, by name.
func List(ctx context.Context, store durable.Store, namespace string) ([]Entry, error) {
	filter := durable.Filter{Prefix: root, Limit: pageSize}
	if namespace != "" {
		filter = durable.Filter{Kind: Kind(namespace), Prefix: Kind(namespace) + "/", Limit: pageSize}
	}
	var all []Entry
	for {
		page, err := store.List(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("listing the jobs: %w", err)
		}
		for _, row := range page {
			if e, ok := Read(row); ok {
				all = append(all, e)
			}
		}
		if len(page) < pageSize {
			break
		}
		filter.After = page[len(page)-1].ID
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return all, nil
}
