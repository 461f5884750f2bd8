package sqlite

import (
	"context"
	"fmt"
)

// OpenBy opens a file by a driver that stands for SQLite's.
func OpenBy(driver, path string) (*Store, error) { return open(driver, path, nil) }

// SetFew sets how many jobs are no longer few.
func (s *Store) SetFew(n int) { s.few = n }

// Limit makes the disk full at so many pages.
func (s *Store) Limit(pages int) error {
	return s.writer.do(context.Background(), func(q *querier) error {
		var n int
		return q.row(fmt.Sprintf("pragma max_page_count = %d", pages), nil, &n)
	})
}

// AddMigration adds a migration to those that there are, as a later version has it, and returns a function that takes
// it back. No other test may run.
func AddMigration(statements string) (undo func()) {
	migrations = append(migrations, statements)
	return func() { migrations = migrations[:len(migrations)-1] }
}
