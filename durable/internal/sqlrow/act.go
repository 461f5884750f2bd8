package sqlrow

import (
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
var ScanActs = all(scanAct)

func scanAct(row Scanner) (durable.Act, error) {
	var a durable.Act
	var id []byte
	var noted int64
	err := row.Scan(&a.Seq, &noted, &a.Who, &a.Action, &id, &a.Key, &a.Reason, &a.Answer)
	if err == nil {
		a.Job, err = ID(id)
	}
	if err != nil {
		return durable.Act{}, err
	}
	a.At = Time(noted)
	return a, nil
}
