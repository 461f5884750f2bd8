package catalog

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
)

// A job that a daemon has claimed, since its time is near, is due, and one whose run is confirmed is running.
func TestEntryStatusHasWordsOfTheManual(t *testing.T) {
	for state, want := range map[durable.State]State{
		durable.Waiting: StateWaiting, durable.Claimed: StateDue, durable.Confirmed: StateRunning, durable.Running: StateRunning,
		durable.Paused: StatePaused, durable.Canceled: StateCanceled, durable.Dead: StateDead, durable.Succeeded: StateEnded,
	} {
		if got := (Entry{Job: durable.Job{State: state}}).Status(time.Now()); got != (Status{State: want}) {
			t.Errorf("%v: %q, want %q", state, got, want)
		}
	}
}

// What a job is comes back from JSON, where it is one text, and says what it is when its run has ended.
func TestStatusText(t *testing.T) {
	for text, want := range map[string]struct{ is, ended Status }{
		"waiting":              {Status{State: StateWaiting}, Status{State: StateWaiting}},
		"paused":               {Status{State: StatePaused}, Status{State: StatePaused}},
		"running":              {Status{State: StateRunning}, Status{State: StateWaiting}},
		"running, then paused": {Status{State: StateRunning, Then: StatePaused}, Status{State: StatePaused}},
	} {
		data, err := json.Marshal(want.is)
		if err != nil || string(data) != `"`+text+`"` {
			t.Errorf("%+v is %s, %v, want %q", want.is, data, err, text)
		}
		var got Status
		if err := json.Unmarshal(data, &got); err != nil || got != want.is {
			t.Errorf("%s is read as %+v, %v, want %+v", data, got, err, want.is)
		}
		if got := want.is.Ended(); got != want.ended {
			t.Errorf("%q is %+v when its run has ended, want %+v", text, got, want.ended)
		}
	}
}
