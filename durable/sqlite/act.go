package sqlite

import (
	"context"
	"strconv"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// NoteAct adds an entry to the audit log, and removes those that are too old.
func (s *Store) NoteAct(ctx context.Context, a durable.Act) error {
	return s.writer.do(ctx, func(q *querier) error {
		t := now()
		_, err := q.exec("insert into executor_act (noted, who, action, job, key, reason, answer) values (?, ?, ?, ?, ?, ?, ?)",
			micros(t), a.Who, a.Action, a.Job[:], a.Key, a.Reason, a.Answer)
		if err == nil {
			_, err = q.exec(sqlrow.ForgetActs+"?", micros(t.Add(-durable.KeepActs)))
		}
		return err
	})
}

// Acts returns entries of the audit log, the latest first.
func (s *Store) Acts(ctx context.Context, f durable.ActFilter) ([]durable.Act, error) {
	statement, args := sqlrow.Acts(f, func(n int) string { return "?" + strconv.Itoa(n) },
		func(id durable.ID) any { return id[:] })
	return sqlrow.ScanActs(s.read.QueryContext(ctx, statement, args...))
}
