package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// exec runs statements in the server's first database.
func (s *Server) exec(ctx context.Context, statements ...string) error {
	conn, err := pgx.Connect(ctx, s.dsn("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, text := range statements {
		if _, err := conn.Exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}
