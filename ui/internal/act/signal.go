package act

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/page"
)

// signalAction sends a signal to a job. It is not among jobActions, since it is offered only where a job has steps.
var signalAction = action{
	Name: "signal", Title: "Signal",
	Says: "If the job waits for this signal, it goes on at once; otherwise it gets the signal when it waits. Only the first signal of a name counts.",
	Asks: []ask{
		{Name: "signal", Label: "Name of the signal"},
		{Name: "value", Label: `Payload as JSON, such as true, 7, "a text" or {"by": "ann"}; empty means null`, Optional: true},
	},
	ready: readyToSignal,
}

// signalSays are what the answers to a signal mean.
var signalSays = map[durable.Answer]string{
	durable.Applied:  "The job has the signal, and goes on if it waits for it.",
	durable.TooLate:  "Another signal of that name has come before, or the job is over.",
	durable.NotFound: "There is no such job.",
}

func readyToSignal(given url.Values) (doing, error) {
	name, payload := given.Get("signal"), given.Get("value")
	if n := len(name); n == 0 || n > durable.MaxStep {
		return nil, fmt.Errorf("name of the signal has %d bytes; it must have 1 to %d", n, durable.MaxStep)
	}
	if payload == "" {
		payload = "null"
	}
	if !json.Valid([]byte(payload)) {
		return nil, fmt.Errorf(`payload is %.60q; it must be JSON, in which a text has quotes, as "yes"`, payload)
	}
	return func(ctx context.Context, t *target) (outcome, error) {
		answer, err := t.source.Jobs.Signal(ctx, t.id, name, json.RawMessage(payload))
		if err != nil {
			return outcome{}, err
		}
		return outcome{
			Answer: answer, answer: answer.String() + ", signal " + page.Printable(name, durable.MaxStep), says: signalSays[answer],
		}, nil
	}, nil
}
