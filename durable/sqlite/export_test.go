package sqlite

import (
	"context"
	"fmt"
)

// Limit makes the disk full at so many pages.
func (s *Store) Limit(pages int) error {
	return s.writer.do(context.Background(), func(q *querier) error {
		var n int
		return q.row(fmt.Sprintf("pragma max_page_count = %d", pages), nil, &n)
	})
}
