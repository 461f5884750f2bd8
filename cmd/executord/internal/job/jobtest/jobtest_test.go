package jobtest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/job/jobtest"
)

// good is a job that a reader may give for a file of three lines.
func good() job.Job {
	return job.Job{Name: "a", Line: 3, Schedule: job.Schedule{Text: "@daily"}, Command: job.Command{Script: "x"}}
}

// Each thing that a reader must not do is found, and what it may do passes.
func TestCheckRead(t *testing.T) {
	jobs := func(change func(*job.Job)) job.File {
		j := good()
		change(&j)
		return job.File{Jobs: []job.Job{j}}
	}
	mistake := job.Mistake{Line: 3, What: "bad"}
	for _, test := range []struct {
		name string
		file job.File
		err  error
		ok   bool
	}{
		{"a job", jobs(func(*job.Job) {}), nil, true},
		{"a job without a shell", jobs(func(j *job.Job) { j.Command = job.Command{Args: []string{"x"}} }), nil, true},
		{"two jobs", job.File{Jobs: append(jobs(func(j *job.Job) { j.Name = "b" }).Jobs, good())}, nil, true},
		{"a mistake", job.File{}, job.Mistakes{mistake}, true},

		{"nothing", job.File{}, nil, false},
		{"a name twice", job.File{Jobs: []job.Job{good(), good()}}, nil, false},
		{"a job without a name", jobs(func(j *job.Job) { j.Name = "" }), nil, false},
		{"a job before the first line", jobs(func(j *job.Job) { j.Line = 0 }), nil, false},
		{"a job after the last line", jobs(func(j *job.Job) { j.Line = 4 }), nil, false},
		{"a job without a schedule", jobs(func(j *job.Job) { j.Schedule.Text = "" }), nil, false},
		{"a job without a command", jobs(func(j *job.Job) { j.Command = job.Command{} }), nil, false},
		{"another error", job.File{}, errors.New("bad"), false},
		{"an error around mistakes", job.File{}, fmt.Errorf("bad: %w", job.Mistakes{mistake}), false},
		{"no mistakes as an error", job.File{}, job.Mistakes{}, false},
		{"jobs besides a mistake", jobs(func(*job.Job) {}), job.Mistakes{mistake}, false},
		{"a mistake before the first line", job.File{}, job.Mistakes{{Line: 0, What: "bad"}}, false},
		{"a mistake after the last line", job.File{}, job.Mistakes{mistake, {Line: 4, What: "bad"}}, false},
		{"a mistake without words", job.File{}, job.Mistakes{{Line: 3}}, false},
	} {
		if err := jobtest.CheckRead([]byte("1\n2\n3"), test.file, test.err); (err == nil) != test.ok {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
