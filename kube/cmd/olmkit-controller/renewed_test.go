package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/olmkit/olmkit/kube/content"
	"github.com/olmkit/olmkit/kube/oci"
	"github.com/olmkit/olmkit/olm"
)

// Credentials are read from their files at each use: a token, a certificate and
// a registry's password may be renewed while the program runs.
func TestRenewed(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, text []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		check(t, os.WriteFile(path, text, 0o600))
		return path
	}
	var seen []string
	ts := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization")+" "+r.TLS.PeerCertificates[0].SerialNumber.String())
		w.Header().Set("Connection", "close") // so that the next request opens a new connection
		io.WriteString(w, served(t, "0.2.1"))
	}))
	ts.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, NextProtos: []string{"http/1.1"}}
	ts.Config.ErrorLog = log.New(io.Discard, "", 0)
	ts.StartTLS()
	defer ts.Close()
	renew := func(serial int64) {
		cert, key := certificate(t, serial)
		file("tls.crt", cert)
		file("tls.key", key)
		file("token", fmt.Appendf(nil, "secret-%d\n", serial))
		file("registry", fmt.Appendf(nil, `{"auths":{"registry.example":{"auth":%q}}}`, base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "me:%d", serial))))
	}
	renew(1)
	f := sourceFlags{
		ca: file("ca", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ts.Certificate().Raw})), origins: []string{ts.URL},
		cert: filepath.Join(dir, "tls.crt"), key: filepath.Join(dir, "tls.key"), token: filepath.Join(dir, "token"),
		registryConfig: filepath.Join(dir, "registry"), interval: time.Nanosecond, textLimit: 1, imageLimit: 1, tenantLimit: 1,
	}
	opts, err := f.options("olm")
	check(t, err)
	store := content.New(opts)
	var c olm.CatalogSource
	c.Metadata.Name, c.Metadata.Namespace, c.Spec.Address = "renewed", "olm", ts.URL
	for serial := range int64(3) {
		renew(serial + 1)
		if h, err := store.Refresh(context.Background(), &c); err != nil || h.Err() != nil {
			t.Fatalf("%v, %v", h.Err(), err)
		}
	}
	if got, want := strings.Join(seen, ", "), "Bearer secret-1 1, Bearer secret-2 2, Bearer secret-3 3"; got != want {
		t.Errorf("the server saw %s; want %s", got, want)
	}
	repo, err := name.NewRepository("registry.example/team/catalog")
	check(t, err)
	for serial := range int64(3) {
		renew(serial + 1)
		auth, err := oci.AuthFile(f.registryConfig).Resolve(repo)
		check(t, err)
		if a, err := auth.Authorization(); err != nil || a.Password != fmt.Sprint(serial+1) {
			t.Errorf("the password is %+v, %v; want %d", a, err, serial+1)
		}
	}
	check(t, os.Remove(f.token))
	if h, err := store.Refresh(context.Background(), &c); err != nil || h.Err() == nil || !strings.Contains(h.Message, "--token-file") {
		t.Errorf("without the token: %+v, %v", h, err)
	}
	if _, err := f.options("olm"); err == nil || !strings.Contains(err.Error(), "--token-file") {
		t.Errorf("at start without the token: %v", err)
	}
}

// certificate returns a certificate and its key, in PEM form.
func certificate(t *testing.T, serial int64) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	check(t, err)
	text, err := x509.MarshalPKCS8PrivateKey(private)
	check(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})
}
