package postgres_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/executor-go/executor/durable/postgres"
)

var errNoTransactions = errors.New("transaction blocks not allowed in statement pooling mode")

// stateless is a connection behind a pooler that gives one to each statement.
type stateless struct{ *stdlib.Conn }

func (stateless) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	return nil, errNoTransactions
}

type statelessConnector struct{ driver.Connector }

func (c statelessConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return stateless{conn.(*stdlib.Conn)}, nil
}

// A pooler that knows no transactions is found at once, also if the tables are there.
func TestStatementPoolingFailsAtOpen(t *testing.T) {
	dsn := dsn(t)
	for _, when := range []string{"first", "again"} {
		db := sql.OpenDB(statelessConnector{stdlib.GetConnector(*must(pgx.ParseConfig(dsn)))})
		if err := postgres.Migrate(t.Context(), db); !errors.Is(err, errNoTransactions) {
			t.Errorf("%s: %v", when, err)
		}
		db.Close()
		open(t, dsn)
	}
}
