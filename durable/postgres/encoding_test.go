package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
)

// Texts are the same for all programs, whatever the role or the database has for an
// encoding of clients.
func TestEncodingOfRole(t *testing.T) {
	for _, encoding := range []string{"LATIN1", "WIN1252", "EUC_JP", "SQL_ASCII"} {
		t.Run(encoding, func(t *testing.T) {
			dsn := dsn(t)
			owner := open(t, dsn)
			config := must(pgx.ParseConfig(dsn))
			role := "encoded_" + config.RuntimeParams["search_path"]
			for _, statement := range []string{
				"create role " + role + " login superuser", "alter role " + role + " set client_encoding = '" + encoding + "'",
			} {
				must(owner.DB().Exec(statement))
			}
			for _, option := range []string{"", pooled, "&default_query_exec_mode=simple_protocol"} {
				store, err := postgres.Open(strings.Replace(dsn, "//"+config.User+"@", "//"+role+"@", 1) + option)
				if err != nil {
					t.Errorf("%q: open: %v", option, err)
					continue
				}
				defer store.Close()
				must(store.Join(t.Context(), "a", time.Hour))
				key := "café/Á/日本" + option
				j := durable.NewJob{ID: durable.NewID(), Key: key, Kind: "k", Schedule: "once", Attempts: 3}
				placed, err := store.Insert(t.Context(), []durable.NewJob{j}, durable.Placement{Node: "a", Limit: 1})
				if err != nil {
					t.Errorf("%q: %v", option, err)
					continue
				}
				if got, err := owner.Find(t.Context(), key); err != nil || got.ID != j.ID {
					t.Errorf("%q: found %q: %v", option, got.Key, err)
				}
				o := durable.Outcome{Ref: durable.Ref{ID: j.ID, Epoch: placed[0].Epoch}, State: durable.Dead, Error: "naïve Á"}
				if _, err := store.Commit(t.Context(), durable.CommitRequest{Node: "a", Outcomes: []durable.Outcome{o}}); err != nil {
					t.Errorf("%q: settle: %v", option, err)
				}
			}
		})
	}
}
