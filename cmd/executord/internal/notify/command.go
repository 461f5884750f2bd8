package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Command runs a program for each message. Its standard input is the text, and its environment has
// EXECUTORD_SUBJECT, EXECUTORD_KINDS, EXECUTORD_JOBS, both separated by commas, and EXECUTORD_MESSAGE, the message as
// JSON without its text.
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
	brief := m
	brief.Text = ""
	if text, err := json.Marshal(brief); err == nil && len(text) <= maxVariable {
		env = append(env, "EXECUTORD_MESSAGE="+string(text))
	}
	output, err := c.run(ctx, c.args, env, m.Text)
	if err != nil {
		return "", fmt.Errorf("%w %s", err, output)
	}
	return strings.TrimSpace("exit code 0 " + output), nil
}

// Secrets implements Way.
func (c *Command) Secrets() []string { return nil }
