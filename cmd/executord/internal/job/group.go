package job

// Group is a table [group.NAME] of a file: of the jobs that name it, no more than its limit run at a time.
type Group struct {
	Name  string
	File  string
	Line  int
	Limit int
}
