// Package job holds what a job file says, whichever format it is written in:
// the jobs, and the mistakes and notes found while reading them.
package job

import (
	"slices"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/notify"
)

// MaxFileSize is the largest job file that is read: a crontab of some hundred thousand
// jobs. A larger one is a mistake (a log, a core dump).
const MaxFileSize = 8 << 20

// File is everything read from one job file.
type File struct {
	Name     string        // as the user gave it; the FILE of every FILE:LINE
	Jobs     []Job         // in the order of the file
	Channels []notify.Spec // to tell of what becomes of the jobs
	Groups   []Group       // that jobs may name
	NoMail   Notes         // more of them, if no channel sends mail
	Notes    Notes         // what is allowed but probably not meant; never stops a run

	// A file with mistakes has no jobs and no channels, but what shows whether a job names a channel that is not there.
	Naming []Job    // jobs that name channels, as far as they were read; they can't be run
	Named  []string // its channels, right or wrong
	Unsure bool     // there may be more of these
}

// SetNaming sets Naming to those of the jobs of a file with mistakes that name channels.
func (f *File) SetNaming(jobs []Job) {
	f.Naming = slices.DeleteFunc(jobs, func(j Job) bool { return len(j.Notify) == 0 })
}

// Job is one line of a crontab, or one [[job]] table of a TOML file. Readers
// fill it completely: defaults are applied, and a Job that was returned
// without a mistake can be scheduled as it is.
//
// As JSON, what a store has of it, its parts are on one level. Fields may be added, with omitempty, so that the JSON of old
// jobs stays the same to the byte: a job whose JSON is another one has changed.
type Job struct {
	// These are not in JSON.
	Name      string   `json:"-"` // unique within its file
	File      string   `json:"-"` // in which the job is, if its set has several; else ""
	Line      int      `json:"-"` // where the job begins in its file, from 1
	Schedule  Schedule `json:"-"`
	MaybeUser bool     `json:"-"` // a note says that the first word of the command looks like a user, not like a program
	MailTo    *string  `json:"-"` // to whom a crontab has it send mail; nil if it does not say so, and "" for nobody
	// names of the channels that are told of it; nil for those that are for all, empty for none
	Notify []string `json:"-"`

	Command
	Timeout      time.Duration `json:"timeout,omitempty"`       // a run longer than this is ended; 0 means no limit
	Jitter       time.Duration `json:"jitter,omitempty"`        // each start is delayed by a random time below this
	Parameters   Parameters    `json:"parameters,omitempty"`    // values that may be other ones in each run
	Progress     bool          `json:"progress,omitempty"`      // lines of its output may say how far it has come
	SuccessCodes []int         `json:"success_codes,omitempty"` // exit codes of a run that is well; nil means 0 alone
	Retry
	Overlap    string   `json:"overlap,omitempty"`     // see ParseOverlap
	Misfire    string   `json:"misfire,omitempty"`     // see ParseMisfire
	Group      string   `json:"group,omitempty"`       // of which no more than GroupLimit run at a time; "" for none
	GroupLimit int      `json:"group_limit,omitempty"` // 0 stands for 1; set when all files are read
	After      []string `json:"after,omitempty"`       // names of jobs: it is due when each of them has ended, as AfterOn says
	AfterOn    string   `json:"after_on,omitempty"`    // see Next.On
	Next       []Next   `json:"next,omitempty"`        // the jobs after this one; set when all files are read
	Priority   string   `json:"priority,omitempty"`    // one of Priorities; "" stands for the second
	Tags       []string `json:"tags,omitempty"`        // by which it is found
	On         Where    `json:"on,omitzero"`           // the machines that run it
	Season              // which of the schedule's times count
}

// Priorities are those that a job may have.
var Priorities = []string{"low", "normal", "high"}

// Succeeds reports whether a command that has ended with this exit code has done what it should.
func (j *Job) Succeeds(code int) bool {
	if j.SuccessCodes == nil {
		return code == 0
	}
	return slices.Contains(j.SuccessCodes, code)
}

// Command is what a run of a job executes.
type Command struct {
	// Args is the program and its arguments, run without a shell. It is
	// empty when Script is to be run by Shell.
	Args []string `json:"args,omitempty"`

	Shell  string `json:"shell,omitempty"` // absolute path; runs Script as Shell -c Script
	Script string `json:"script,omitempty"`

	Stdin    string   `json:"stdin,omitempty"`     // written to the command's standard input, then closed; "" means /dev/null
	Env      []string `json:"env,omitempty"`       // NAME=value, added to the daemon's own environment; later entries win
	EnvFiles []string `json:"env_files,omitempty"` // absolute paths of files with more of them, which Env wins over
	Secrets  []string `json:"secrets,omitempty"`   // NAME=path of a file with the value, which wins over all
	Dir      string   `json:"dir,omitempty"`       // working directory; "" means the daemon's own, and with a User that one's home
	User     string   `json:"user,omitempty"`      // to run it as; "" means the daemon's own
}

// Self is the program of a job that executord itself does, whatever the name of its file: executord http ...
const Self = "executord"

// DefaultShell runs commands unless the file says SHELL=, as in cron. The
// SHELL of the daemon's own environment is not looked at: a file must mean
// the same for each user.
const DefaultShell = "/bin/sh"

// Text returns the command as the file has it, for logs and listings.
func (c Command) Text() string {
	if len(c.Args) == 0 {
		return c.Script
	}
	return QuoteArgs(c.Args)
}
