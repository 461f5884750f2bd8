package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/executor-go/executor/durable/internal/argument"
	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// MigrationSQL returns a script for psql that creates the tables or brings them up to date, as Open would. The script
// is "" if there is nothing to do. MigrationSQL itself changes nothing. It is for programs whose role may not change
// tables: the role that owns the tables runs the script before the new program starts. The program's role needs usage
// of the schema, and select, insert, update and delete on the tables whose names begin with executor_.
//
// The script is one transaction. It fails, and changes nothing, if the tables were brought up to date since it was
// made, or if it would have to wait for more than five seconds for a transaction that uses a table. Running programs go
// on. The first line of the script names the oldest version whose programs may start afterwards. The errors are those
// of Open, but MigrationSQL does not wait for the server.
func MigrationSQL(ctx context.Context, dsn string) (string, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return "", argument.Invalid("durable/postgres: data source name: %w", err)
	}
	s := &Store{config: config, dial: dial{before: refreshed}}
	db := s.open(own)
	defer db.Close()
	version, least, there, err := look(ctx, db)
	statements := ""
	switch {
	case err != nil:
	case version > len(migrations):
		err = known(version, least)
	default:
		statements, err = sqlrow.Restore(migrations[:version], there, refill)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("durable/postgres: database %q on %s: %w", config.Database, config.Host, explain(err, config.User))
	case version >= len(migrations) && statements == "":
		return "", nil
	}
	return script(version, statements), nil
}

// script returns what brings a schema of that version up to date, after the statements that make what is missing of it.
func script(version int, missing string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- executor: from schema version %d to %d, for programs that know version %d or a later one.\n",
		version, len(migrations), oldest)
	b.WriteString("begin;\nset local lock_timeout = '5s';\n")
	b.WriteString(makeVersion + ";\n" + beginVersion + ";\n")
	fmt.Fprintf(&b, `do $$ begin
	if (select version from executor_schema where id = 1 for update) <> %d then
		raise exception 'the schema does not have version %d any more; make the script again';
	end if;
end $$;
`, version, version)
	if missing != "" {
		b.WriteString("\n-- tables that are missing\n" + missing)
	}
	for i, statements := range migrations[version:] {
		fmt.Fprintf(&b, "\n-- version %d\n%s\n", version+i+1, strings.TrimSuffix(sqlrow.SQL(statements), ";")+";")
	}
	fmt.Fprintf(&b, "\nupdate executor_schema set version = %d, oldest = %d where id = 1;\ncommit;\n", len(migrations), oldest)
	return b.String()
}
