package sqlrow

import (
	"database/sql"

	"github.com/executor-go/executor/durable"
)

// ForgetActs removes the acts that were noted before a time, which the caller adds.
const ForgetActs = "delete from executor_act where noted < "

// Acts returns the statement that reads acts, and its arguments. place returns the placeholder of an argument, counted
// from 1.
func Acts(f durable.ActFilter, place func(int) string, id func(durable.ID) any) (statement string, args []any) {
	arg := func(v any) string {
		args = append(args, v)
		return place(len(args))
	}
	statement = "select seq, noted, who, action, job, key, reason, answer from executor_act where true"
	if f.Job != (durable.ID{}) {
		statement += " and job = " + arg(id(f.Job))
	}
	if f.Before != 0 {
		statement += " and seq < " + arg(f.Before)
	}
	return statement + " order by seq desc limit " + arg(f.Limit), args
}

// ScanActs reads and closes rows of Acts.
func ScanActs(rows *sql.Rows, err error) (all []durable.Act, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a durable.Act
		var id []byte
		var noted int64
		if err := rows.Scan(&a.Seq, &noted, &a.Who, &a.Action, &id, &a.Key, &a.Reason, &a.Answer); err != nil {
			return nil, err
		}
		if a.Job, err = ID(id); err != nil {
			return nil, err
		}
		a.At = Time(noted)
		all = append(all, a)
	}
	return all, rows.Err()
}
