package postgres_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	"github.com/executor-go/executor/durable/storetest"
)

// A role that may create in a schema of the search path cannot have the store call
// functions or operators of its own, which would run with the rights of the store's role:
// PostgreSQL prefers an overload whose types match exactly to one of pg_catalog that
// takes any type (CVE-2018-1058). Overloads of every function and operator that a
// statement uses are planted, for all types that the store has, and each raises an error.
func TestStatementsCallNoPlantedOverload(t *testing.T) {
	atNight(t)
	conn := must(pgx.Connect(t.Context(), dsn(t)))
	must(conn.Exec(t.Context(), "create schema planted"))
	t.Cleanup(func() { // after the suite's tests, which run in parallel
		must(conn.Exec(context.Background(), "drop schema planted cascade"))
		conn.Close(context.Background())
	})

	functions, operators := used(t)
	scalars := []string{"smallint", "integer", "bigint", "text", "uuid", "boolean", "bytea", "name"}
	lists := []string{"smallint[]", "integer[]", "bigint[]", "text[]", "uuid[]", "bytea[]", "boolean[]"}
	var script strings.Builder
	define := func(name string, types ...string) {
		fmt.Fprintf(&script, `create function planted.%q(%s) returns %s language plpgsql as 'begin raise exception ''planted function %s(%s)''; end';`+"\n",
			name, strings.Join(types, ", "), types[0], name, strings.Join(types, ", "))
	}
	for _, name := range functions {
		for _, a := range slices.Concat(scalars, lists) {
			define(name, a)
		}
		for _, a := range scalars {
			for _, b := range scalars {
				define(name, a, b)
			}
		}
	}
	for i, name := range operators {
		for _, a := range slices.Concat(scalars, lists) {
			for _, b := range slices.Concat(scalars, lists) {
				function := fmt.Sprintf("operator_%d", i)
				fmt.Fprintf(&script, `create function planted.%s(%s, %s) returns boolean language plpgsql as 'begin raise exception ''planted operator %s %s %s''; end';`+"\n",
					function, a, b, a, name, b)
				fmt.Fprintf(&script, "create operator planted.%s (leftarg = %s, rightarg = %s, function = planted.%s);\n", name, a, b, function)
			}
		}
	}
	must(conn.Exec(t.Context(), script.String(), pgx.QueryExecModeSimpleProtocol))

	path := regexp.MustCompile(`search_path=[^&]*`)
	storetest.Run(t, func(t *testing.T) durable.Store {
		return ready(t, "planted", func() *postgres.Store {
			return must(postgres.Open(path.ReplaceAllString(dsn(t), "$0,planted")))
		})
	})
}

// used returns the functions that the store's statements call by their plain name, and
// the operators.
func used(t *testing.T) (functions, operators []string) {
	t.Helper()
	sources := must(filepath.Glob("*.go"))
	call, found := regexp.MustCompile(`(\.?)\b([a-z_]+)\(`), make(map[string]bool)
	var known []string
	conn := must(pgx.Connect(t.Context(), dsn(t)))
	defer conn.Close(t.Context())
	rows := must(conn.Query(t.Context(), "select distinct proname::text from pg_catalog.pg_proc"))
	known = must(pgx.CollectRows(rows, pgx.RowTo[string]))
	slices.Sort(known)
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		for _, match := range call.FindAllStringSubmatch(string(must(os.ReadFile(source))), -1) {
			if _, ok := slices.BinarySearch(known, match[2]); ok && match[1] == "" {
				found[match[2]] = true
			}
		}
	}
	if !found["unnest"] || !found["count"] {
		t.Fatalf("found %v: the statements are read the wrong way", found)
	}
	return slices.Sorted(maps.Keys(found)), []string{"=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "||", "<<"}
}
