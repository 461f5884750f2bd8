package postgres_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/executor-go/executor/durable/postgres"
)

// layout returns all that a schema has: columns, indexes, constraints, settings of tables, and versions.
func layout(t *testing.T, dsn string) string {
	t.Helper()
	conn := must(pgx.Connect(t.Context(), dsn))
	defer conn.Close(t.Context())
	var all string
	if err := conn.QueryRow(t.Context(), `select string_agg(line, E'\n' order by line) from (
		select concat_ws(' ', 'column', table_name, column_name, data_type, collation_name, is_nullable, column_default)
			from information_schema.columns where table_schema = current_schema()
		union all select replace(indexdef, current_schema() || '.', '') from pg_indexes where schemaname = current_schema()
		union all select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated) from pg_constraint
			where connamespace = current_schema()::regnamespace
		union all select concat_ws(' ', relname, reloptions) from pg_class where relnamespace = current_schema()::regnamespace
		union all select concat_ws(' ', 'version', version, oldest) from executor_schema s
	) as lines (line)`).Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// The script makes what Open makes: of nothing, and of the version before with what is in it. There is none afterwards.
func TestMigrationSQLDoesWhatOpenDoes(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dsn string){
		"nothing": func(*testing.T, string) {},
		"the version before": func(t *testing.T, dsn string) {
			claimed(t, open(t, dsn), "a", 1, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			byOpen, byScript := dsn(t), dsn(t)
			prepare(t, byOpen)
			prepare(t, byScript)
			defer postgres.AddMigration(later)()
			must(0, open(t, byOpen).Close())
			script := must(postgres.MigrationSQL(t.Context(), byScript))
			conn := must(pgx.Connect(t.Context(), byScript))
			defer conn.Close(t.Context())
			must(conn.PgConn().Exec(t.Context(), script).ReadAll())
			if got, want := layout(t, byScript), layout(t, byOpen); got != want {
				t.Errorf("the script makes\n%s\n\nOpen makes\n%s", got, want)
			}
			if again := must(postgres.MigrationSQL(t.Context(), byScript)); again != "" {
				t.Errorf("afterwards there is still to do\n%s", again)
			}
			if _, err := conn.PgConn().Exec(t.Context(), script).ReadAll(); err == nil ||
				!strings.Contains(err.Error(), "make the script again") {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

// A role that may not make tables uses a database that somebody else has brought up to date by the script.
func TestMigrationSQLForRoleWithoutRights(t *testing.T) {
	dsn := dsn(t)
	owner := must(pgx.Connect(t.Context(), dsn))
	defer owner.Close(t.Context())
	user, schema := owner.Config().User, owner.Config().RuntimeParams["search_path"]
	role := "runs_" + schema
	app := strings.Replace(dsn, "//"+user+"@", "//"+role+"@", 1)
	grant := "create role " + role + " login; grant usage on schema " + schema + " to " + role
	must(owner.PgConn().Exec(t.Context(), grant).ReadAll())
	script := must(postgres.MigrationSQL(t.Context(), app)) // which it may read
	if store, err := postgres.Open(app); err == nil {
		store.Close()
		t.Fatal("the role may make tables")
	}
	must(owner.PgConn().Exec(t.Context(), script).ReadAll())
	must(owner.Exec(t.Context(), "grant select, insert, update, delete on all tables in schema "+schema+" to "+role))
	claimed(t, open(t, app), "a", 3, 0)
}
