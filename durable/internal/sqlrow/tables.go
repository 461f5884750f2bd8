package sqlrow

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// jobTable and versionTable are those that can't be made anew.
const (
	jobTable     = "executor_job"
	versionTable = "executor_schema"
)

// Restore returns the statements that make tables anew, and their indexes, that migrations have made and that are not
// there. Migrations are those that were done, none for a schema that does not have a version. refill has the statements
// that fill a table from others, or have these go on without it. It is an error if what is missing can't be made anew.
func Restore(migrations []string, there []string, refill map[string]string) (string, error) {
	if len(migrations) == 0 {
		if slices.Contains(there, jobTable) {
			return "", errors.New("table " + jobTable + " is there, but not the version of it in " + versionTable +
				": restore that from a backup; if the jobs are not wanted, drop all tables whose names begin with executor_")
		}
		return "", nil
	}
	made := replay(migrations)
	var b, fills strings.Builder
	for _, table := range slices.Sorted(maps.Keys(made)) {
		switch {
		case slices.Contains(there, table):
		case table == jobTable:
			return "", errors.New("table " + jobTable + " is missing, with all jobs, though " + versionTable +
				" has its version: restore it from a backup; to begin without jobs, drop all tables whose names begin with executor_")
		default:
			b.WriteString(strings.Join(made[table], ";\n") + ";\n")
			if fill := refill[table]; fill != "" {
				fills.WriteString(fill + ";\n") // it may be about other tables that are made anew, too
			}
		}
	}
	return SQL(b.String() + fills.String()), nil
}

var (
	comment   = regexp.MustCompile(`(?m)^\s*--.*$`)
	ofTable   = regexp.MustCompile(`^(create|alter|drop) table (\w+)(?: rename to (\w+))?`)
	ofIndex   = regexp.MustCompile(`^create (?:unique )?index (\w+) on (\w+)`)
	dropIndex = regexp.MustCompile(`^drop index (\w+)`)
)

// replay returns the tables that there are after migrations, each with the statements that have made it and its
// indexes.
func replay(migrations []string) map[string][]string {
	made := make(map[string][]string)
	indexed := make(map[string]string) // the tables of indexes
	for _, migration := range migrations {
		for statement := range strings.SplitSeq(comment.ReplaceAllString(migration, ""), ";") {
			statement = strings.TrimSpace(statement)
			if m := ofTable.FindStringSubmatch(statement); m != nil {
				table := m[2]
				made[table] = append(made[table], statement)
				if m[3] != "" {
					made[m[3]] = made[table]
				}
				if m[1] == "drop" || m[3] != "" {
					delete(made, table)
				}
			} else if m := ofIndex.FindStringSubmatch(statement); m != nil {
				indexed[m[1]] = m[2]
				made[m[2]] = append(made[m[2]], statement)
			} else if m := dropIndex.FindStringSubmatch(statement); m != nil {
				made[indexed[m[1]]] = append(made[indexed[m[1]]], statement)
			}
		}
	}
	return made
}
