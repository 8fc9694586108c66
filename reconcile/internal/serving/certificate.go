package serving

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

const (
	// Certificates are valid for lifetime, and are replaced when only rotateBefore of it is
	// left. Both values are OLM's.
	lifetime     = 730 * 24 * time.Hour
	rotateBefore = 24 * time.Hour
	// clockSkew is how far the clocks of API servers may be behind.
	clockSkew = 5 * time.Minute

	organization = "Red Hat, Inc." // OLM's
	caNamePrefix = "olm-selfsigned-"
)

// A certificate is a serving certificate with its key and the CA that signed
// it, in PEM. The key of the CA is not kept.
type certificate struct{ ca, cert, key []byte }

// newCertificate creates a CA and a certificate for hosts. Serial numbers are derived from
// the keys and signatures are deterministic, so only newKey is random.
func newCertificate(newKey func() (*ecdsa.PrivateKey, error), now time.Time, hosts []string) (certificate, error) {
	caKey, err := newKey()
	if err != nil {
		return certificate{}, err
	}
	key, err := newKey()
	if err != nil {
		return certificate{}, err
	}
	caSerial, err := serial(caKey)
	if err != nil {
		return certificate{}, err
	}
	hostSerial, err := serial(key)
	if err != nil {
		return certificate{}, err
	}
	ca := &x509.Certificate{
		SerialNumber: caSerial,
		Subject:      pkix.Name{CommonName: fmt.Sprintf("%s%x", caNamePrefix, caSerial), Organization: []string{organization}},
		NotBefore:    now.Add(-clockSkew), NotAfter: now.Add(lifetime),
		IsCA: true, KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true,
	}
	caText, err := x509.CreateCertificate(nil, ca, ca, &caKey.PublicKey, caKey)
	if err != nil {
		return certificate{}, err
	}
	if ca, err = x509.ParseCertificate(caText); err != nil { // for its key id
		return certificate{}, err
	}
	text, err := x509.CreateCertificate(nil, &x509.Certificate{
		SerialNumber: hostSerial,
		Subject:      pkix.Name{CommonName: hosts[0], Organization: []string{organization}},
		NotBefore:    ca.NotBefore, NotAfter: ca.NotAfter,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
		DNSNames: hosts,
	}, ca, &key.PublicKey, caKey)
	if err != nil {
		return certificate{}, err
	}
	keyText, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return certificate{}, err
	}
	return certificate{
		ca:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caText}),
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: text}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyText}),
	}, nil
}

// serial returns a positive serial number of 63 bits for a key.
func serial(key *ecdsa.PrivateKey) (*big.Int, error) {
	text, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	sum[0] = sum[0]&0x7f | 0x40
	return new(big.Int).SetBytes(sum[:8]), nil
}

// check returns why a certificate must be replaced now (E14), or nil and the time when it
// must be. With a zero time, no certificate is too old.
func (c certificate) check(now time.Time, hosts []string) (rotateAt time.Time, err error) {
	ca, err := parse(c.ca)
	if err != nil {
		return time.Time{}, fmt.Errorf("its CA %w", err)
	}
	cert, err := parse(c.cert)
	if err != nil {
		return time.Time{}, fmt.Errorf("its certificate %w", err)
	}
	if len(bytes.TrimSpace(c.key)) == 0 {
		return time.Time{}, errors.New("it has no private key")
	}
	rotateAt = ca.NotAfter.Add(-rotateBefore)
	if at := cert.NotAfter.Add(-rotateBefore); at.Before(rotateAt) {
		rotateAt = at
	}
	if now.IsZero() {
		now = cert.NotBefore
	} else if !now.Before(rotateAt) {
		return time.Time{}, fmt.Errorf("its certificate expires at %s", cert.NotAfter.UTC().Format(time.RFC3339))
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	for _, host := range hosts {
		if _, err := cert.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: now}); err != nil {
			return time.Time{}, fmt.Errorf("its certificate is not valid for %s: %w", host, err)
		}
	}
	return rotateAt, nil
}

func parse(text []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("is missing or not in PEM")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("cannot be parsed: %w", err)
	}
	return cert, nil
}

// isGeneratedCA reports whether OLM or this package created a CA bundle.
func isGeneratedCA(text []byte) bool {
	cert, err := parse(text)
	return err == nil && len(cert.Subject.CommonName) > len(caNamePrefix) && cert.Subject.CommonName[:len(caNamePrefix)] == caNamePrefix
}

// hashCA returns the hash of a CA in PEM. Pods have it in an annotation, so that they
// restart when the CA changes.
func hashCA(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
