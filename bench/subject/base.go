package subject

// The bases run in another process: the program of this module at the other revision, which does the work on its own
// executor and its own stores.
var (
	base         = before(ours, "base")
	basePostgres = before(durablePostgres, "base-postgres")
	baseSQLite   = before(durableSQLite, "base-sqlite")
)

// before returns a subject of ours at another revision.
func before(s Subject, id string) Subject {
	s.Of, s.ID, s.Title = s.ID, id, s.Title+" before"
	s.How = "the same, at the revision that -against names."
	return s
}
