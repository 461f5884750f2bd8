package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
)

func tagged(kind string, tags ...string) durable.NewJob {
	return durable.NewJob{ID: durable.NewID(), Kind: kind, Schedule: "once", Attempts: 1, Tags: tags}
}

// Rows of tags go with their jobs, and with tags that jobs no longer have.
func TestTagsLeaveNoRows(t *testing.T) {
	store := open(t, dsn(t))
	deleted, pruned, schedule := tagged("k", "a", "b"), tagged("k", "b", "c"), tagged("k", "a", "d")
	schedule.Key, schedule.Schedule = "key", "rate 1h0m0s"
	for i := range 2 {
		must(store.Insert(t.Context(), []durable.NewJob{schedule}, durablestore.Placement{}))
		schedule.ID = durable.NewID()
		if schedule.Tags = []string{"d", "e"}; i == 1 {
			break
		}
	}
	must(store.Insert(t.Context(), []durable.NewJob{deleted, pruned, tagged("k")}, durablestore.Placement{}))
	must(store.Change(t.Context(), deleted.ID, durable.Change{Op: durable.OpDelete}))
	must(store.Change(t.Context(), pruned.ID, durable.Change{Op: durable.OpCancel}))
	must(store.DB().Exec("update executor_job set updated = 1 where id = $1", pruned.ID.String()))
	must(store.Prune(t.Context(), durable.Retention{Dead: time.Hour}))
	got := must(sqlrow.Strings(store.DB().Query("select tag from executor_tag order by tag")))
	if strings.Join(got, " ") != "d e" {
		t.Errorf("the tags %q are left, want those of the schedule, d and e", got)
	}
}

// What is done with jobs without tags does not touch the table of tags.
func TestJobsWithoutTagsNeedNoTable(t *testing.T) {
	store := open(t, dsn(t))
	must(store.DB().Exec("drop table executor_tag"))
	j := claimed(t, store, "a", 1, 0)[0]
	end := durable.Outcome{Ref: durablestore.Ref{ID: j.ID, Epoch: j.Epoch}, State: durable.Dead}
	must(store.Commit(t.Context(), durablestore.CommitRequest{Node: "a", Outcomes: []durable.Outcome{end}, History: 9}))
	must(store.List(t.Context(), durable.Filter{Kind: "k"}))
	for _, op := range []durable.Op{durable.OpRevive, durable.OpDelete} {
		if answer := must(store.Change(t.Context(), j.ID, durable.Change{Op: op})); answer != durable.Applied {
			t.Errorf("change %d: %v", op, answer)
		}
	}
}

// Jobs are found by their tags again when the table of tags was made anew.
func TestOpenFillsTableOfTags(t *testing.T) {
	dsn := dsn(t)
	store := open(t, dsn)
	j := tagged("k", "a", "it's b", "\u00e9")
	must(store.Insert(t.Context(), []durable.NewJob{j, tagged("k")}, durablestore.Placement{}))
	must(store.DB().Exec("drop table executor_tag"))
	again := open(t, dsn)
	if found := must(again.List(t.Context(), durable.Filter{Tags: j.Tags})); len(found) != 1 || found[0].ID != j.ID {
		t.Errorf("found %v", found)
	}
}

// A page of jobs with a tag does not cost more where more jobs are kept, be they few or many that have it; nor does one
// of few that are dead, or that are to run within a time.
func TestListOfFewUsesIndex(t *testing.T) {
	store := open(t, dsn(t))
	must(store.DB().Exec(`insert into executor_job (` + sqlrow.Columns + `)
		select gen_random_uuid(), null, 'k' || i % 2, '', 0, 'once', '', 0, 1000000::bigint * i, 0, 0, case when i % 1000 = 0 then 4 else 0 end, 0, 0, '', 0, 1, 0, 0, 0, '', null, i, i, false, '', '',
			case when i % 2 = 0 then 'half' || case when i % 5000 = 0 then E'\nrare' else '' end else '' end, '', 0, ''
		from generate_series(1, 20000) i`))
	must(store.DB().Exec("insert into executor_tag select t.tag, id from executor_job, unnest(string_to_array(tags, E'\n')) t (tag) where tags <> ''"))
	must(store.DB().Exec("analyze executor_job, executor_tag"))
	for what, test := range map[string]struct {
		filter durable.Filter
		index  string
	}{
		"many with a tag": {durable.Filter{Tags: []string{"half"}, Limit: 50}, "executor_tag_pkey"},
		"few with a tag":  {durable.Filter{Tags: []string{"rare"}, Limit: 50}, "executor_tag_pkey"},
		"both tags":       {durable.Filter{Tags: []string{"half", "rare"}, Limit: 50}, "executor_tag_pkey"},
		"dead":            {durable.Filter{States: []durable.State{durable.Dead}, Limit: 50}, "executor_job_over"},
		"due": {durable.Filter{States: []durable.State{durable.Waiting}, Kind: "k1",
			Due: durable.TimeRange{From: time.Unix(100, 0), Until: time.Unix(120, 0)}, Limit: 50}, "executor_job_due"},
	} {
		statement, args := postgres.ListJobs(test.filter)
		plan := strings.Join(must(sqlrow.Strings(store.DB().Query("explain (analyze, timing off) "+statement, args...))), "\n")
		if !strings.Contains(plan, test.index) || strings.Contains(plan, "Seq Scan on executor_job") || strings.Contains(plan, "Seq Scan on executor_tag") {
			t.Errorf("%s: the plan is\n%s", what, plan)
		}
	}
}
