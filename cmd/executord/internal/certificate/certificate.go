// Package certificate reads the certificate of a daemon's pages, and has clients trust it.
package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/inputfile"
)

// maxSize is how large a file may be.
const maxSize = 1 << 20

// Read returns the certificate in one file, and its key in another, both in PEM. It is an error if the certificate is
// not valid now. The errors say which of the flags --tls-cert and --tls-key is wrong.
func Read(cert, key string) (*tls.Certificate, error) {
	certText, err := read("--tls-cert", cert)
	if err != nil {
		return nil, err
	}
	keyText, err := read("--tls-key", key)
	if err != nil {
		return nil, err
	}
	chain, err := parse(certText)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert %s: %w", cert, err)
	}
	pair, err := tls.X509KeyPair(certText, keyText)
	if err != nil {
		return nil, fmt.Errorf("--tls-key %s: %s", key, explain(keyText, cert))
	}
	const day = "2006-01-02 15:04 MST"
	switch now := time.Now(); {
	case now.After(chain[0].NotAfter):
		return nil, fmt.Errorf("--tls-cert %s: the certificate has expired on %s; renew it", cert, chain[0].NotAfter.Format(day))
	case now.Before(chain[0].NotBefore):
		return nil, fmt.Errorf("--tls-cert %s: the certificate is not valid before %s; see whether the clock of this machine is right", cert, chain[0].NotBefore.Format(day))
	}
	pair.Leaf = chain[0]
	return &pair, nil
}

// explain returns why a key and a certificate are no pair, without a word of the key.
func explain(text []byte, cert string) string {
	var key *pem.Block
	for rest := text; key == nil; {
		var block *pem.Block
		switch block, rest = pem.Decode(rest); {
		case block == nil:
			return "the file has no private key in PEM, which begins with -----BEGIN PRIVATE KEY-----"
		case block.Headers["DEK-Info"] != "", block.Type == "ENCRYPTED PRIVATE KEY":
			return "the private key is encrypted with a passphrase; write it without one, readable by executord alone"
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			key = block
		}
	}
	_, err := x509.ParsePKCS8PrivateKey(key.Bytes)
	if err != nil {
		_, err = x509.ParsePKCS1PrivateKey(key.Bytes)
	}
	if err != nil {
		_, err = x509.ParseECPrivateKey(key.Bytes)
	}
	if err != nil {
		return "the private key cannot be read; it must be one of RSA, ECDSA or Ed25519, as PKCS #8 has it"
	}
	return fmt.Sprintf("the private key is not that of %s, whose first certificate must be the server's own", cert)
}

// read returns a file that a flag names.
func read(flag, name string) ([]byte, error) {
	data, err := inputfile.Read(name, maxSize)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, name, complaint.Cause(err))
	}
	if len(data) > maxSize {
		return nil, fmt.Errorf("%s %s: the file is larger than 1 MiB", flag, name)
	}
	return data, nil
}

// parse returns the certificates in a text, which has at least one.
func parse(text []byte) (all []*x509.Certificate, err error) {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, errors.New("a certificate in the file cannot be read")
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, errors.New("the file has no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----")
	}
	return all, nil
}

// Server returns how a server with a certificate, which may be another one from one connection to the next, speaks TLS:
// 1.2 or 1.3.
func Server(get func() *tls.Certificate) *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return get(), nil },
	}
}

// Trust returns how a client speaks TLS with a host that trusts the certificates in a file: a server that has one of
// them itself, whatever its name, and one whose certificate is for the host and signed by one of them.
func Trust(file, host string) (*tls.Config, error) {
	text, err := read("--ca-file", file)
	if err != nil {
		return nil, err
	}
	trusted, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("--ca-file %s: %w", file, err)
	}
	roots := x509.NewCertPool()
	for _, one := range trusted {
		roots.AddCert(one)
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection does it
		VerifyConnection: func(s tls.ConnectionState) error {
			leaf := s.PeerCertificates[0]
			if slices.ContainsFunc(trusted, leaf.Equal) {
				if now := time.Now(); now.After(leaf.NotAfter) || now.Before(leaf.NotBefore) {
					return &tls.CertificateVerificationError{
						UnverifiedCertificates: s.PeerCertificates,
						Err:                    x509.CertificateInvalidError{Cert: leaf, Reason: x509.Expired},
					}
				}
				return nil
			}
			between := x509.NewCertPool()
			for _, one := range s.PeerCertificates[1:] {
				between.AddCert(one)
			}
			// the name is not that of the state, which has none for an IP address
			_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, DNSName: host})
			if err != nil {
				return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
			}
			return nil
		},
	}, nil
}
