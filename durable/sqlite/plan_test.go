package sqlite

import (
	"path/filepath"
	"strings"
	"testing"
)

// Jobs that are over are found by their index: to prune does not cost more where
// more jobs wait.
func TestPruneUsesIndex(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows, err := s.read.Query("explain query plan "+pruneJobs, 3, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	plan := ""
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		plan += step + "\n"
	}
	if rows.Err() != nil || !strings.Contains(plan, "executor_job_over (state=? AND updated<?)") || strings.Contains(plan, "SCAN executor_job") {
		t.Errorf("the plan is\n%s%v", plan, rows.Err())
	}
}
