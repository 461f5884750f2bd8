package sqlite

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// ClaimLimited is Claim, and keeps the rates of kinds.
func (s *Store) ClaimLimited(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	return do(ctx, s.writer, func(q *querier) (store.ClaimResult, error) {
		l := limitedClaim{querier: q, r: r, c: store.ClaimResult{Now: now()}}
		err := l.claim()
		return l.c, err
	})
}

// A limitedClaim is a claim of kinds with limits.
type limitedClaim struct {
	*querier
	r store.ClaimRequest
	c store.ClaimResult
}

// A limitedKind is a kind in a claim.
type limitedKind struct {
	store.KindLimit
	room  int
	full  time.Time // see transition.Bucket
	taken bool      // a token was
	empty bool      // one was lacking
}

func (l *limitedClaim) claim() error {
	alive, err := l.alive(l.r.Node)
	if err != nil || !alive {
		return err
	}
	kinds := make([]limitedKind, len(l.r.Kinds))
	for i, k := range l.r.Kinds {
		if kinds[i], err = l.kind(k); err != nil {
			return err
		}
	}
	for p := durable.High; p >= durable.Low; p-- {
		for i := range kinds {
			if err := l.take(&kinds[i], p); err != nil {
				return err
			}
		}
	}
	for i := range kinds {
		if k := &kinds[i]; k.taken {
			if _, err := l.exec(`insert into executor_limit (kind, filled) values (?, ?)
				on conflict (kind) do update set filled = excluded.filled`, k.Kind, micros(k.full)); err != nil {
				return err
			}
		}
	}
	l.c.More = len(l.c.Jobs) >= l.r.Limit
	return nil
}

// kind reads what the store has of the limits of a kind.
func (l *limitedClaim) kind(k store.KindLimit) (limitedKind, error) {
	of := limitedKind{KindLimit: k, room: k.Max}
	if k.Global > 0 {
		held := 0
		if err := l.row(heldOfKind, []any{k.Kind}, &held); err != nil {
			return of, err
		}
		of.room = min(k.Max, k.Global-held)
	}
	if k.Rate != (store.Rate{}) {
		filled := int64(0)
		if err := l.row("select coalesce((select filled from executor_limit where kind = ?), 0)", []any{k.Kind}, &filled); err != nil {
			return of, err
		}
		of.full = transition.Bucket(k.Rate, sqlrow.Time(filled), l.c.Now, l.r.Ahead)
	}
	return of, nil
}

var (
	// nearJobs reads the index once.
	nearJobs = sqlrow.SQL(`select rowid, due from executor_job
		where state = {Waiting} and kind = ? and priority = ? and due <= ? order by due limit ?`)

	// claimJob claims one job, which waits.
	claimJob = sqlrow.SQL(`update executor_job
		set state = case when due <= ?1 then {Granted} else {Claimed} end, owner = ?2, epoch = min(epoch + 1, {Most}), updated = ?3
		where rowid = ?4 returning ` + sqlrow.Claimed)
)

// A nearJob is one that waits and is due within what a claim looks ahead.
type nearJob struct{ row, due int64 }

// take claims jobs of one kind and priority.
func (l *limitedClaim) take(k *limitedKind, p durable.Priority) error {
	room := min(k.room, l.r.Limit-len(l.c.Jobs))
	if room <= 0 || k.empty {
		return nil
	}
	near, err := l.near(k, p, room)
	if err != nil {
		return err
	}
	for _, j := range near {
		if !l.token(k, j.due) {
			return nil
		}
		rows, err := l.query(claimJob, micros(l.c.Now.Add(l.r.Lead)), l.r.Node, micros(l.c.Now), j.row)
		err = sqlrow.ScanClaimed(rows, err, func(j *durable.Job) {
			sqlrow.Complete(j, &l.r, l.c.Now)
			l.c.Jobs = append(l.c.Jobs, *j)
		})
		if err != nil {
			return err
		}
		k.room--
	}
	return nil
}

// near returns the jobs of a kind and priority that are claimed next.
func (l *limitedClaim) near(k *limitedKind, p durable.Priority, room int) ([]nearJob, error) {
	rows, err := l.query(nearJobs, k.Kind, int64(p), micros(l.c.Now.Add(l.r.Ahead)), room)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var near []nearJob
	for rows.Next() {
		var j nearJob
		if err := rows.Scan(&j.row, &j.due); err != nil {
			return nil, err
		}
		near = append(near, j)
	}
	return near, rows.Err()
}

// token takes a token for a job that is due then, if its kind has a rate, and reports whether there was one.
func (l *limitedClaim) token(k *limitedKind, due int64) bool {
	if k.Rate == (store.Rate{}) {
		return true
	}
	at := sqlrow.Time(due)
	if at.Before(l.c.Now) {
		at = l.c.Now
	}
	full, ok := transition.Take(k.Rate, k.full, at)
	if !ok {
		k.empty = true
		if next := transition.Token(k.Rate, k.full); l.c.Next.IsZero() || next.Before(l.c.Next) {
			l.c.Next = next
		}
		return false
	}
	k.full, k.taken = full, true
	return true
}
