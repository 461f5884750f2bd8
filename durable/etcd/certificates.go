package etcd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// validity is how long certificates are valid.
const validity = 10 * 365 * 24 * time.Hour

// Certificates makes the files of [TLS] for machines, in a directory that it creates: ca.crt and ca.key, unless they
// are there, and HOST.crt and HOST.key for each host, which is an address or a name by which the others reach the
// machine. Copy ca.crt, HOST.crt and HOST.key to each machine, and keep ca.key elsewhere: who has it can join the
// cluster. The certificates are valid for ten years. Certificates replaces no file: it returns an error, and makes none, if
// a HOST.crt is there.
func Certificates(dir string, hosts ...string) error {
	name := func(of, kind string) string { return filepath.Join(dir, of+kind) }
	all := make([]*x509.Certificate, len(hosts))
	for i, host := range hosts {
		all[i] = &x509.Certificate{
			Subject: pkix.Name{CommonName: host}, KeyUsage: x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		}
		switch ip := net.ParseIP(host); {
		case slices.Contains(hosts[:i], host):
			return invalidf("host %q is there twice", host)
		case ip != nil:
			all[i].IPAddresses = []net.IP{ip}
		case host == "" || host == "ca" || strings.ContainsAny(host, `/\:`):
			return invalidf("host %q must be an address or a name, without a port", host)
		default:
			all[i].DNSNames = []string{host}
		}
		if _, err := os.Lstat(name(host, ".crt")); err == nil {
			return fmt.Errorf("durable/etcd: %s is there already", name(host, ".crt"))
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("durable/etcd: %w", err)
	}
	_, err := os.Stat(name("ca", ".crt"))
	if errors.Is(err, fs.ErrNotExist) {
		err = certify(name("ca", ".crt"), name("ca", ".key"), &x509.Certificate{
			Subject: pkix.Name{CommonName: "executor cluster"}, IsCA: true, BasicConstraintsValid: true,
			KeyUsage: x509.KeyUsageCertSign,
		}, nil)
	}
	if err != nil {
		return fmt.Errorf("durable/etcd: %w", err)
	}
	ca, err := tls.LoadX509KeyPair(name("ca", ".crt"), name("ca", ".key"))
	if err != nil {
		return fmt.Errorf("durable/etcd: the authority in %s can't be used: %w", dir, err)
	}
	for i, host := range hosts {
		if err := certify(name(host, ".crt"), name(host, ".key"), all[i], &ca); err != nil {
			return fmt.Errorf("durable/etcd: %w", err)
		}
	}
	return nil
}

// certify makes a certificate that an authority has signed, or itself if that is nil, and its key.
func certify(certFile, keyFile string, of *x509.Certificate, by *tls.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if of.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return err
	}
	of.NotBefore, of.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(validity)
	parent, signer := of, any(key)
	if by != nil {
		parent, signer = by.Leaf, by.PrivateKey
	}
	cert, err := x509.CreateCertificate(rand.Reader, of, parent, key.Public(), signer)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(keyFile, "PRIVATE KEY", secret, 0o600); err != nil {
		return err
	}
	return writePEM(certFile, "CERTIFICATE", cert, 0o644)
}

// writePEM writes a file that is not there.
func writePEM(name, kind string, b []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	return errors.Join(pem.Encode(f, &pem.Block{Type: kind, Bytes: b}), f.Close())
}
