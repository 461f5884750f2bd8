package durable_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// The texts of an act are one line of what can be seen each, of a limited length: one that was done is kept, whatever
// was typed.
func TestNoteActTexts(t *testing.T) {
	jobs, err := durable.New(durable.Config{Store: memory.New(), Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("é", durable.MaxAct)
	if err := jobs.NoteAct(t.Context(), durable.Act{Action: "run", Who: "a\x00b\n", Reason: long, Answer: "\xff"}); err != nil {
		t.Fatal(err)
	}
	acts, err := jobs.Acts(t.Context(), durable.ActFilter{})
	if err != nil || len(acts) != 1 {
		t.Fatalf("%v, %v", acts, err)
	}
	if a := acts[0]; a.Who != "a\uFFFDb\uFFFD" || a.Answer != "\uFFFD" || a.Reason != long[:durable.MaxAct] || a.Action != "run" {
		t.Errorf("kept is %+v", a)
	}
	if _, err := jobs.Acts(t.Context(), durable.ActFilter{Limit: -1}); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("of a limit below 0: %v", err)
	}
}

// Acts are forgotten after a year, when the next is noted.
func TestActsAreForgotten(t *testing.T) {
	store := memory.New()
	jobs, err := durable.New(durable.Config{Store: store, Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	note := func(action string) {
		if err := jobs.NoteAct(t.Context(), durable.Act{Action: action}); err != nil {
			t.Fatal(err)
		}
	}
	note("first")
	store.Shift(durable.KeepActs / 2)
	note("second")
	store.Shift(durable.KeepActs/2 + 1e9)
	note("third")
	acts, err := jobs.Acts(t.Context(), durable.ActFilter{})
	if err != nil || len(acts) != 2 || acts[0].Action != "third" || acts[1].Action != "second" || acts[0].Seq != 3 {
		t.Errorf("%v, %v", acts, err)
	}
}
