package main

import (
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/exposure"
	"github.com/executor-go/executor/cmd/executord/internal/forecast"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// checked is what check --json prints. It is documented: keys may be added, and none is changed.
type checked struct {
	File     string       `json:"file"`
	Valid    bool         `json:"valid"`
	Mistakes []remark     `json:"mistakes"`
	Notes    []remark     `json:"notes"`
	Jobs     []checkedJob `json:"jobs"`
}

// remark is a mistake or a note.
type remark struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text,omitempty"`
	What string `json:"what"`
	Hint string `json:"hint,omitempty"`
}

// checkedJob is a job of a file without mistakes.
type checkedJob struct {
	Job      string      `json:"job"`
	File     string      `json:"file,omitempty"`
	Line     int         `json:"line"`
	Schedule string      `json:"schedule"`
	Words    string      `json:"words"`
	Zone     string      `json:"zone,omitempty"`
	Command  string      `json:"command"`
	Timeout  float64     `json:"timeout,omitempty"`
	Jitter   float64     `json:"jitter,omitempty"`
	On       []string    `json:"on,omitempty"`
	Here     bool        `json:"here"` // this machine is one of those
	Next     []time.Time `json:"next"`

	Parameters job.Parameters `json:"parameters,omitempty"`
}

// checkJSON is check --json.
func checkJSON(w io.Writer, files sources, here job.Machine, store string, from time.Time, n int, strict bool) error {
	file, read, err := files.parse(store != "", false)
	var mistakes job.Mistakes
	if err != nil && !errors.As(err, &mistakes) {
		return &exitError{exitMistake, err.Error()}
	}
	answer := checked{File: file.Name, Valid: err == nil, Mistakes: remarks(mistakes), Jobs: []checkedJob{}}
	if err == nil {
		noteAll(&file, here, exposure.Of(read, store))
		for _, j := range file.Jobs {
			answer.Jobs = append(answer.Jobs, checkedOf(j, here, from, n))
		}
	}
	answer.Notes = remarks(file.Notes)
	text, err := json.MarshalIndent(answer, "", "  ")
	if err != nil {
		return err
	}
	if _, err := w.Write(append(job.PrintableJSON(text), '\n')); err != nil || answer.Valid && (!strict || len(answer.Notes) == 0) {
		return err
	}
	return &exitError{code: exitMistake}
}

// remarks never returns nil, which JSON would have as null.
func remarks(found []job.Mistake) []remark {
	list := make([]remark, len(found))
	for i, m := range found {
		list[i] = remark(m)
	}
	return list
}

func checkedOf(j job.Job, here job.Machine, from time.Time, n int) checkedJob {
	c := checkedJob{
		Job: j.Name, File: j.File, Line: j.Line, Schedule: j.Schedule.Text, Words: j.Schedule.Describe(), Command: j.Command.Text(),
		Timeout: j.Timeout.Seconds(), Jitter: j.Jitter.Seconds(), Next: []time.Time{}, Parameters: j.Parameters,
		On: j.On.Values(), Here: here.In(j.On),
	}
	if !j.Schedule.AtStart && !j.Schedule.After {
		c.Zone = j.Schedule.ZoneName()
	}
	for at := range forecast.Of(j, from) {
		if c.Next = append(c.Next, at); len(c.Next) == n {
			break
		}
	}
	return c
}
