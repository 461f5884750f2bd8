package stores

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// checkTrust refuses a server that anybody on the way can pretend to be, unless the URL or PGSSLMODE says in words that
// this is meant. By its default the driver goes on in the clear with a server that declines TLS: it would send it the
// password, and run the commands that it answers.
func checkTrust(name string, u *url.URL) error {
	if u.Query().Has("sslmode") || os.Getenv("PGSSLMODE") != "" {
		return nil
	}
	config, err := pgconn.ParseConfig(name)
	if err != nil {
		return nil // package postgres says what is wrong
	}
	// A file of services may have an sslmode: that of its settings which is the default leaves a way without TLS.
	hosts := []*pgconn.FallbackConfig{{Host: config.Host, TLSConfig: config.TLSConfig}}
	for _, host := range append(hosts, config.Fallbacks...) {
		if host.TLSConfig == nil && !isLocal(host.Host) {
			return fmt.Errorf("sslmode is not set, so the identity of %s is not checked, and it supplies the commands that run here: "+
				"add ?sslmode=verify-full, or sslmode=disable if the network can be trusted", host.Host)
		}
	}
	return nil
}

// isLocal reports whether a server is on this machine.
func isLocal(host string) bool {
	if filepath.IsAbs(host) || strings.HasPrefix(host, "@") || host == "localhost" {
		return true // a socket
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// foreignError says that a table is another's.
type foreignError struct{ table, owner, user string }

func (e *foreignError) Error() string {
	return fmt.Sprintf("the table %s belongs to %s, who could choose the commands that are run: as %s or a superuser, "+
		"look what is in it, and remove it, or run: alter table %s owner to %s", e.table, e.owner, e.owner, e.table, e.user)
}

// foreignTable selects a table of the store that belongs to a role which is neither the user's, nor the owner of the
// database or the schema, nor a superuser: those may do all that they like in any case.
const foreignTable = `
	select c.relname, pg_catalog.pg_get_userbyid(c.relowner), current_user
	from pg_catalog.pg_class c
	join pg_catalog.pg_namespace n on n.oid = c.relnamespace
	left join pg_catalog.pg_roles r on r.oid = c.relowner
	where pg_catalog.starts_with(c.relname, 'executor_') and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
	and n.oid in (select b.relnamespace from pg_catalog.pg_class b
		where b.oid in (to_regclass('executor_schema'), to_regclass('executor_job'), to_regclass('executor_node')))
	and not coalesce(r.rolsuper, false)
	and not pg_catalog.pg_has_role(current_user, c.relowner, 'MEMBER')
	and c.relowner <> n.nspowner
	and c.relowner <> (select d.datdba from pg_catalog.pg_database d where d.datname = pg_catalog.current_database())
	limit 1`

// checkOwners refuses tables that belong to somebody who has no other power over the store.
func checkOwners(dsn string, patience time.Duration) error {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var e foreignError
	err = db.QueryRowContext(ctx, foreignTable).Scan(&e.table, &e.owner, &e.user)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return &e
}
