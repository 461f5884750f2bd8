package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Command runs a program for each message. Its standard input is the text, and its environment has
// EXECUTORD_SUBJECT, EXECUTORD_KINDS, EXECUTORD_JOBS, both separated by commas, and EXECUTORD_MESSAGE, the message as
// JSON; one that is too long for a variable is without the outputs, which its text has, and then with the begin of the
// text and fewer events.
type Command struct {
	args []string
	run  Runner
}

// NewCommand returns a Command.
func NewCommand(args []string, run Runner) (*Command, error) {
	if len(args) == 0 || args[0] == "" {
		return nil, errors.New("the command has no program")
	}
	return &Command{args: args, run: run}, nil
}

// maxVariable is how long EXECUTORD_MESSAGE may be; Linux takes 128 KiB of one variable.
const maxVariable = 64 << 10

// briefText is how much of a text EXECUTORD_MESSAGE has if there is not room for all: a byte takes six at most in JSON.
const briefText = 4 << 10

// Send implements Way.
func (c *Command) Send(ctx context.Context, m Message) (string, error) {
	var kinds, jobs []string
	for _, e := range m.Events {
		kinds, jobs = append(kinds, string(e.Kind)), append(jobs, e.Job)
	}
	env := []string{
		"EXECUTORD_SUBJECT=" + m.Subject,
		"EXECUTORD_KINDS=" + cut(strings.Join(kinds, ","), maxVariable),
		"EXECUTORD_JOBS=" + cut(strings.Join(jobs, ","), maxVariable),
	}
	if text := brief(m); len(text) <= maxVariable {
		env = append(env, "EXECUTORD_MESSAGE="+text)
	}
	output, err := c.run(ctx, c.args, env, m.Text)
	if err != nil {
		return "", fmt.Errorf("%w %s", err, output)
	}
	return strings.TrimSpace("exit code 0 " + output), nil
}

// brief returns a message as JSON, with as much of it as a variable has room for.
func brief(m Message) string {
	text, _ := toJSON(m)
	if len(text) <= maxVariable {
		return text
	}
	m.Events = slices.Clone(m.Events)
	for i := range m.Events {
		m.Events[i].Output = ""
	}
	if text, _ = toJSON(m); len(text) > maxVariable {
		m.Text = cut(m.Text, briefText)
	}
	for text, _ = toJSON(m); len(text) > maxVariable && len(m.Events) > 1; text, _ = toJSON(m) {
		half := len(m.Events) / 2
		m.Events, m.More = m.Events[:half], m.More+len(m.Events)-half
	}
	return text
}

// Secrets implements Way.
func (c *Command) Secrets() []string { return nil }
