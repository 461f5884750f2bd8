package stores

import (
	"net/url"
	"strings"
	"testing"
)

// A server on another machine is refused unless the URL says how it is to be verified, or that it is not.
func TestCheckTrust(t *testing.T) {
	for name, remote := range map[string]string{
		"postgres://me@db.internal/x":                          "db.internal",
		"postgres://me@db.internal/x?target_session_attrs=any": "db.internal",
		"postgres://me@10.0.0.1:5433/x":                        "10.0.0.1",
		"postgres://me@[2001:db8::1]/x":                        "2001:db8::1",
		"postgres://me@127.0.0.1,db2/x":                        "db2",
		"postgres:///x?host=db.internal":                       "db.internal",
		"postgres://me@localhost.evil.example/x":               "localhost.evil.example",
		"postgres://me@db.internal/x?sslmode=verify-full":      "",
		"postgres://me@db.internal/x?sslmode=require":          "",
		"postgres://me@db.internal/x?sslmode=disable":          "",
		"postgres://me@localhost/x":                            "",
		"postgres://me@127.0.0.1,127.8.9.1:6432/x":             "",
		"postgres://me@[::1]/x":                                "",
		"postgres:///x?host=/run/postgresql":                   "",
	} {
		u, err := url.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("PGSSLMODE", "")
		err = checkTrust(name, u)
		if (err != nil) != (remote != "") || err != nil && !strings.Contains(err.Error(), "the identity of "+remote+" is not checked") {
			t.Errorf("%s: %v", name, err)
		}
		t.Setenv("PGSSLMODE", "verify-full")
		if err := checkTrust(name, u); err != nil {
			t.Errorf("%s with PGSSLMODE: %v", name, err)
		}
	}
}
