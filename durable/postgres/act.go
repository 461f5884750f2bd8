package postgres

import (
	"context"
	"strconv"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// NoteAct adds an entry to the audit log, and removes those that are too old.
func (s *Store) NoteAct(ctx context.Context, a durable.Act) error {
	return exec(ctx, each(s.calls), `with old as (`+sqlrow.ForgetActs+clock+` - $7)
		insert into executor_act (noted, who, action, job, key, reason, answer) values (`+clock+`, $1, $2, $3, $4, $5, $6)`,
		a.Who, a.Action, uuid(a.Job), a.Key, a.Reason, a.Answer, durable.KeepActs.Microseconds())
}

// Acts returns entries of the audit log, the latest first.
func (s *Store) Acts(ctx context.Context, f durable.ActFilter) ([]durable.Act, error) {
	statement, args := sqlrow.Acts(f, func(n int) string { return "$" + strconv.Itoa(n) },
		func(id durable.ID) any { return uuid(id) })
	return sqlrow.ScanActs(s.calls.QueryContext(ctx, statement, args...))
}
