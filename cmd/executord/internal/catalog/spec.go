package catalog

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

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
	EnvFiles []string      `json:"env_files,omitempty"`
	Secrets  []string      `json:"secrets,omitempty"` // NAME=path
	Dir      string        `json:"dir,omitempty"`
	User     string        `json:"user,omitempty"`
	Timeout  time.Duration `json:"timeout,omitempty"`
	Jitter   time.Duration `json:"jitter,omitempty"`

	Parameters []job.Parameter `json:"parameters,omitempty"`

	Progress     bool  `json:"progress,omitempty"`
	SuccessCodes []int `json:"success_codes,omitempty"`

	Retries     int           `json:"retries,omitempty"`
	RetryWait   time.Duration `json:"retry_wait,omitempty"`
	RetryFactor int           `json:"retry_factor,omitempty"`
	RetryMost   time.Duration `json:"retry_most,omitempty"`

	Overlap string `json:"overlap,omitempty"`
	Misfire string `json:"misfire,omitempty"`

	Group      string `json:"group,omitempty"`
	GroupLimit int    `json:"group_limit,omitempty"`

	After   []string   `json:"after,omitempty"`
	AfterOn string     `json:"after_on,omitempty"`
	Next    []job.Next `json:"next,omitempty"`

	Priority string   `json:"priority,omitempty"`
	Tags     []string `json:"tags,omitempty"`

	On []string `json:"on,omitempty"` // as job.ParseWhere reads it

	From   string   `json:"from,omitempty"`
	Until  string   `json:"until,omitempty"`
	Except []string `json:"except,omitempty"`

	// Off says that the job is not to run: it was removed from its file, or is
	// on its way back. A run of it does nothing, and is idle.
	Off bool `json:"off,omitempty"`

	// Held, of a job that is off, is the state in which it did not run already
	// when it was removed: paused, canceled or dead. Put back, it is so again.
	Held State `json:"held,omitempty"`

	// Bytes says that the texts of the command have bytes that are not UTF-8, and that each is stored byte by byte, as
	// the characters of Latin-1.
	Bytes bool `json:"bytes,omitempty"`
}

// NewSpec returns the spec of a job of a file.
func NewSpec(j job.Job) Spec {
	c := j.Command
	return Spec{
		Schedule: j.Schedule.Text, Zone: j.Schedule.ZoneName(),
		Args: c.Args, Shell: c.Shell, Script: c.Script, Stdin: c.Stdin, Env: c.Env, Dir: c.Dir, User: c.User,
		EnvFiles: c.EnvFiles, Secrets: c.Secrets,
		Timeout: j.Timeout, Jitter: j.Jitter, Progress: j.Progress, SuccessCodes: j.SuccessCodes, Parameters: j.Parameters,
		Retries: j.Retry.Times, RetryWait: j.Retry.Wait, RetryFactor: j.Retry.Factor, RetryMost: j.Retry.Most,
		Overlap: j.Overlap, Misfire: j.Misfire,
		Group: j.Group, GroupLimit: j.GroupLimit,
		After: j.After, AfterOn: j.AfterOn, Next: j.Next,
		Priority: j.Priority, Tags: j.Tags, On: j.On.Values(),
		From: j.Season.From, Until: j.Season.Until, Except: j.Season.Except,
	}
}

// Job returns what a daemon runs.
func (s Spec) Job(name string) job.Job {
	return job.Job{
		Name: name,
		Command: job.Command{
			Args: s.Args, Shell: s.Shell, Script: s.Script, Stdin: s.Stdin, Env: s.Env, Dir: s.Dir, User: s.User,
			EnvFiles: s.EnvFiles, Secrets: s.Secrets,
		},
		Timeout: s.Timeout, Jitter: s.Jitter, Progress: s.Progress, SuccessCodes: s.SuccessCodes, Parameters: s.Parameters,
		Retry:   job.Retry{Times: s.Retries, Wait: s.RetryWait, Factor: s.RetryFactor, Most: s.RetryMost},
		Overlap: s.Overlap, Misfire: s.Misfire,
		Group: s.Group, GroupLimit: s.GroupLimit,
		After: s.After, AfterOn: s.AfterOn, Next: s.Next,
		Priority: s.Priority, Tags: s.Tags, On: s.Where(),
		Season: s.Season(),
	}
}

// Season returns when the due times of the job count.
func (s Spec) Season() job.Season { return job.Season{From: s.From, Until: s.Until, Except: s.Except} }

// Where returns on which machines the job runs.
func (s Spec) Where() job.Where {
	w, _ := job.ParseWhere(s.On) // readers have checked it
	return w
}

// Location returns the zone of the job's times, for showing them.
func (s Spec) Location() *time.Location {
	if loc, err := job.LoadZone(s.Zone); err == nil {
		return loc
	}
	return time.UTC
}

// MarshalJSON writes texts that are not UTF-8 as Bytes says. JSON has no others.
func (s Spec) MarshalJSON() ([]byte, error) {
	s.convert(func(text string) string {
		s.Bytes = s.Bytes || !utf8.ValidString(text)
		return text
	})
	if s.Bytes {
		s.convert(func(text string) string {
			runes := make([]rune, len(text))
			for i := range len(text) {
				runes[i] = rune(text[i])
			}
			return string(runes)
		})
	}
	type plain Spec
	return json.Marshal(plain(s))
}

// UnmarshalJSON reads what MarshalJSON has written.
func (s *Spec) UnmarshalJSON(data []byte) error {
	type plain Spec
	if err := json.Unmarshal(data, (*plain)(s)); err != nil || !s.Bytes {
		return err
	}
	s.convert(func(text string) string {
		bytes := make([]byte, 0, len(text))
		for _, r := range text {
			bytes = append(bytes, byte(r))
		}
		return string(bytes)
	})
	s.Bytes = false
	return nil
}

// convert replaces each text of the command. It changes no slice that others have.
func (s *Spec) convert(fn func(string) string) {
	for _, text := range []*string{&s.Shell, &s.Script, &s.Stdin, &s.Dir, &s.User} {
		*text = fn(*text)
	}
	for _, texts := range []*[]string{&s.Args, &s.Env, &s.Except, &s.EnvFiles, &s.Secrets} {
		*texts = slices.Clone(*texts)
		for i, text := range *texts {
			(*texts)[i] = fn(text)
		}
	}
}

func (s Spec) encode() []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // there is nothing in it that could fail
	}
	return text
}
