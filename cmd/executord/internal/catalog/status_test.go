package catalog

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
)

// A job whose run waits, or whose schedule a daemon has claimed since its time is near, is due; one whose run is
// confirmed is running, and goes on as its schedule does.
func TestEntryStatusHasWordsOfTheManual(t *testing.T) {
	open := func(states ...durable.State) (runs []durable.Job) {
		for _, s := range states {
			runs = append(runs, durable.Job{State: s})
		}
		return runs
	}
	for _, test := range []struct {
		state durable.State
		open  []durable.Job
		want  Status
	}{
		{durable.Waiting, nil, Status{State: StateWaiting}},
		{durable.Claimed, nil, Status{State: StateDue}},
		{durable.Running, nil, Status{State: StateDue}},
		{durable.Paused, nil, Status{State: StatePaused}},
		{durable.Canceled, nil, Status{State: StateCanceled}},
		{durable.Dead, nil, Status{State: StateDead}},
		{durable.Succeeded, nil, Status{State: StateEnded}},
		{durable.Waiting, open(durable.Waiting), Status{State: StateDue}},
		{durable.Waiting, open(durable.Running, durable.Blocked), Status{State: StateRunning}},
		{durable.Waiting, open(durable.Confirmed), Status{State: StateRunning}},
		{durable.Paused, open(durable.Running), Status{State: StateRunning, Then: StatePaused}},
		{durable.Canceled, open(durable.Running), Status{State: StateRunning, Then: StateCanceled}},
		{durable.Succeeded, open(durable.Running), Status{State: StateRunning}},
	} {
		if got := (Entry{Job: durable.Job{State: test.state}, Open: test.open}).Status(time.Now()); got != test.want {
			t.Errorf("%v, %v: %q, want %q", test.state, test.open, got, test.want)
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
