package certificate_test

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/certificate"
	"github.com/executor-go/executor/cmd/executord/internal/certificate/certificatetest"
)

// file writes a file.
func file(t *testing.T, name string, texts ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, slices.Concat(texts...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// An error says which file is wrong, and what to do, and has nothing of a key.
func TestReadRefuses(t *testing.T) {
	good := certificatetest.Make(t, certificatetest.Spec{})
	other := certificatetest.Make(t, certificatetest.Spec{Signer: good, CA: true})
	old := certificatetest.Make(t, certificatetest.Spec{Until: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), From: time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)})
	young := certificatetest.Make(t, certificatetest.Spec{From: time.Now().Add(time.Hour), Until: time.Now().Add(2 * time.Hour)})
	locked := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("x")})
	broken := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")})
	none := filepath.Join(t.TempDir(), "none")
	for want, test := range map[string][2]string{
		"--tls-cert " + none + ": no such file or directory":            {none, file(t, "key", good.KeyText)},
		"--tls-key " + none + ": no such file or directory":             {file(t, "cert", good.Text), none},
		"has no certificate in PEM":                                     {file(t, "cert", []byte("x")), file(t, "key", good.KeyText)},
		": the file has no private key in PEM":                          {file(t, "cert", good.Text), file(t, "key", good.Text)},
		"whose first certificate must be the server's own":              {file(t, "cert", other.Text, good.Text), file(t, "key", good.KeyText)},
		"the private key is encrypted with a passphrase":                {file(t, "cert", good.Text), file(t, "key", locked)},
		"the private key cannot be read":                                {file(t, "cert", good.Text), file(t, "key", broken)},
		"the certificate has expired on 2026-01-02 03:04 UTC; renew it": {file(t, "cert", old.Text), file(t, "key", old.KeyText)},
		"the certificate is not valid before ":                          {file(t, "cert", young.Text), file(t, "key", young.KeyText)},
		"a certificate in the file cannot be read":                      {file(t, "cert", bytes.ReplaceAll(good.Text, good.Text[40:60], []byte(strings.Repeat("A", 20)))), file(t, "key", good.KeyText)},
		": the file is larger than 1 MiB":                               {file(t, "cert", make([]byte, 2<<20)), file(t, "key", good.KeyText)},
		"is a directory":                                                {t.TempDir(), file(t, "key", good.KeyText)},
	} {
		pair, err := certificate.Read(test[0], test[1])
		if pair != nil || err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "--tls-") {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	chain, err := certificate.Read(file(t, "cert", good.Text, other.Text), file(t, "key", []byte("text before\n"), good.KeyText))
	if err != nil || len(chain.Certificate) != 2 || !chain.Leaf.Equal(good.Cert) {
		t.Errorf("a chain: error %v", err)
	}
}

// shake connects a client that trusts a file with a server, and returns the error of the client.
func shake(t *testing.T, server *certificatetest.Pair, trusted []byte, host string, change func(*tls.Config)) error {
	t.Helper()
	pair, err := tls.X509KeyPair(server.Text, server.KeyText)
	if err != nil {
		t.Fatal(err)
	}
	c, err := certificate.Trust(file(t, "ca", trusted), host)
	if err != nil {
		t.Fatal(err)
	}
	c.ServerName = host
	if change != nil {
		change(c)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if conn, err := l.Accept(); err == nil {
			defer conn.Close()
			tls.Server(conn, certificate.Server(func() *tls.Certificate { return &pair })).Handshake()
		}
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	err = tls.Client(conn, c).Handshake()
	conn.Close()
	<-done
	return err
}

// A client trusts the certificate that it has, by any name, and what it has signed by its own name alone.
func TestTrust(t *testing.T) {
	ca := certificatetest.Make(t, certificatetest.Spec{CA: true})
	signed := certificatetest.Make(t, certificatetest.Spec{Signer: ca, Names: []string{"cron.example", "10.1.2.3"}})
	alone := certificatetest.Make(t, certificatetest.Spec{})
	old := certificatetest.Make(t, certificatetest.Spec{Until: time.Now().Add(-time.Second)})
	for name, test := range map[string]struct {
		server  *certificatetest.Pair
		trusted []byte
		host    string
		want    string // "" for trust
	}{
		"itself":                     {alone, alone.Text, "any.example", ""},
		"itself, among others":       {alone, slices.Concat(ca.Text, alone.Text), "127.0.0.1", ""},
		"signed":                     {signed, ca.Text, "cron.example", ""},
		"signed, by its address":     {signed, ca.Text, "10.1.2.3", ""},
		"signed, for another name":   {signed, ca.Text, "evil.example", "not evil.example"},
		"signed, at another address": {signed, ca.Text, "127.0.0.1", "127.0.0.1"},
		"of nobody":                  {alone, ca.Text, "cron.example", "certificate"},
		"expired":                    {old, old.Text, "cron.example", "expired"},
	} {
		err := shake(t, test.server, test.trusted, test.host, nil)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
	if _, err := certificate.Trust(file(t, "ca", nil), "x"); err == nil || !strings.HasPrefix(err.Error(), "--ca-file ") {
		t.Errorf("an empty file: error %v", err)
	}
}

// A server speaks TLS 1.2 and 1.3, and nothing older.
func TestServerVersions(t *testing.T) {
	pair := certificatetest.Make(t, certificatetest.Spec{})
	for version, want := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		err := shake(t, pair, pair.Text, "x", func(c *tls.Config) { c.MinVersion, c.MaxVersion = version, version })
		if (err == nil) != want {
			t.Errorf("%s: error %v", tls.VersionName(version), err)
		}
	}
}
