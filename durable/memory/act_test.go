package memory_test

import (
	"fmt"
	"testing"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// The latest MostActs acts are kept, and no more.
func TestStoreKeepsLatestActs(t *testing.T) {
	s := memory.New()
	for i := range memory.MostActs + 5 {
		if err := s.NoteAct(t.Context(), durable.Act{Action: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	acts, err := s.Acts(t.Context(), durable.ActFilter{Limit: 2 * memory.MostActs})
	if err != nil || len(acts) != memory.MostActs || acts[len(acts)-1].Action != "5" {
		t.Errorf("%d acts, %v", len(acts), err)
	}
}
