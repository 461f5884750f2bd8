package catalog

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// Spec is the definition of a job as a store has it.
type Spec struct {
	Schedule string `json:"schedule"` // as the file has it
	Zone     string `json:"zone"`     // in which it is read
	job.Job

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
	return Spec{Schedule: j.Schedule.Text, Zone: j.Schedule.ZoneName(), Job: j}
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
