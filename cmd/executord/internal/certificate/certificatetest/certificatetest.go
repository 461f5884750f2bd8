// Package certificatetest makes certificates for tests.
package certificatetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"testing"
	"time"
)

// Pair is a certificate and its key, in memory and as PEM.
type Pair struct {
	Cert    *x509.Certificate
	Key     *ecdsa.PrivateKey
	Text    []byte // of the certificate
	KeyText []byte
}

// Spec is what a certificate is to be. The default is one of an hour, signed by itself, for no name.
type Spec struct {
	Names  []string // or IP addresses
	From   time.Time
	Until  time.Time
	Signer *Pair
	CA     bool
}

// Make makes a certificate.
func Make(t testing.TB, s Spec) *Pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	number, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	if s.From.IsZero() {
		s.From = time.Now().Add(-time.Minute)
	}
	if s.Until.IsZero() {
		s.Until = time.Now().Add(time.Hour)
	}
	template := &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: "executord test"}, NotBefore: s.From, NotAfter: s.Until,
		BasicConstraintsValid: true, IsCA: s.CA, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if s.CA {
		template.KeyUsage |= x509.KeyUsageCertSign
	}
	for _, name := range s.Names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	parent, by := template, key
	if s.Signer != nil {
		parent, by = s.Signer.Cert, s.Signer.Key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	p := &Pair{Key: key, Text: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
	if p.Cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	p.KeyText = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	return p
}

// Write writes both into files, each at once, as programs do that renew them.
func (p *Pair) Write(t testing.TB, cert, key string) {
	t.Helper()
	for name, text := range map[string][]byte{cert: p.Text, key: p.KeyText} {
		if err := os.WriteFile(name+".new", text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
}
