package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/jackc/pgx/v5"
)

// Payloads and results are what they were, whatever form of bytes the role or the database has for a default.
func TestStoreReadsBytesInAnyForm(t *testing.T) {
	dsn := dsn(t)
	owner := open(t, dsn)
	config := must(pgx.ParseConfig(dsn))
	role := "escaped_" + config.RuntimeParams["search_path"]
	for _, statement := range []string{"create role " + role + " login superuser", "alter role " + role + " set bytea_output = 'escape'"} {
		must(owner.DB().Exec(statement))
	}
	everything := make([]byte, 256)
	for i := range everything {
		everything[i] = byte(i)
	}
	for _, option := range []string{"", pooled, "&default_query_exec_mode=simple_protocol"} {
		store := must(postgres.Open(strings.Replace(dsn, "//"+config.User+"@", "//"+role+"@", 1) + option))
		defer store.Close()
		must(store.Join(t.Context(), "a", time.Hour))
		for _, data := range []string{"", `{"a":1}`, `\x41`, `\\`, "x\\", string(everything)} {
			j := durable.NewJob{ID: durable.NewID(), Kind: "k", Payload: []byte(data), Schedule: "once", Attempts: 3}
			placed, err := store.Insert(t.Context(), []durable.NewJob{j}, durablestore.Placement{Node: "a", Limit: 1})
			if err != nil {
				t.Errorf("%q: insert of %q: %v", option, data, err)
				continue
			}
			if got := string(placed[0].Payload); got != data {
				t.Errorf("%q: the payload %q became %q", option, data, got)
			}
			o := durable.Outcome{Ref: durablestore.Ref{ID: j.ID, Epoch: placed[0].Epoch}, State: durable.Succeeded,
				Result: []byte(data)}
			must(store.Commit(t.Context(), durablestore.CommitRequest{Node: "a", Outcomes: []durable.Outcome{o}}))
			if got := must(store.Get(t.Context(), j.ID)); string(got.Payload) != data || string(got.Result) != data {
				t.Errorf("%q: payload %q and result %q were %q", option, got.Payload, got.Result, data)
			}
		}
	}
}
