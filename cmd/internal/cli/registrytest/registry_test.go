package registrytest

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/auth/token"
	"github.com/distribution/distribution/v3/registry/handlers"
	"github.com/sirupsen/logrus"
	"golang.org/x/crypto/bcrypt"

	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory"
)

// The credentials that each registry accepts.
const user, password = "me", "secret"

// A registry is CNCF distribution behind a TLS server whose requests a test can answer.
type registry struct {
	*httptest.Server
	host string
	app  http.Handler // distribution and the token server

	mu     sync.Mutex
	before func(w http.ResponseWriter, r *http.Request) bool
}

// newRegistry starts a registry. Its auth is "htpasswd" or "token".
func newRegistry(t *testing.T, auth string) *registry {
	t.Helper()
	dir := t.TempDir()
	r := &registry{}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		before := r.before
		r.mu.Unlock()
		if before == nil || !before(w, req) {
			r.app.ServeHTTP(w, req)
		}
	}))
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(r.Close)
	r.host = strings.TrimPrefix(r.URL, "https://")
	c := &configuration.Configuration{Storage: configuration.Storage{"inmemory": nil}}
	c.HTTP.Secret = "of uploads"
	c.HTTP.Host = r.URL
	c.Catalog.MaxEntries = 100
	mux := http.NewServeMux()
	switch auth {
	case "htpasswd":
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		check(t, err)
		file := filepath.Join(dir, "htpasswd")
		check(t, os.WriteFile(file, []byte(user+":"+string(hash)+"\n"), 0o600))
		c.Auth = configuration.Auth{"htpasswd": {"realm": "test", "path": file}}
	case "token":
		key := newTokenServer(t, mux)
		file := filepath.Join(dir, "jwks.json")
		check(t, os.WriteFile(file, key, 0o600))
		c.Auth = configuration.Auth{"token": {"realm": r.URL + "/token", "service": service, "issuer": issuer, "jwks": file}}
	default:
		t.Fatalf("no auth %q", auth)
	}
	logrus.SetOutput(io.Discard)
	mux.Handle("/v2/", handlers.NewApp(context.Background(), c))
	r.app = mux
	return r
}

const service, issuer = "test registry", "test issuer"

// newTokenServer serves /token, which issues tokens as the specification of distribution
// describes. It returns the set of keys that verifies them.
func newTokenServer(t *testing.T, mux *http.ServeMux) []byte {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	check(t, err)
	encode := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // the values are those below
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		u, p, ok := r.BasicAuth()
		if !ok || u != user || p != password || r.FormValue("service") != service {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED"}]}`, http.StatusUnauthorized)
			return
		}
		var access []*token.ResourceActions
		for _, scope := range r.URL.Query()["scope"] {
			for s := range strings.FieldsSeq(scope) {
				if part := strings.Split(s, ":"); len(part) == 3 {
					access = append(access, &token.ResourceActions{Type: part[0], Name: part[1], Actions: strings.Split(part[2], ",")})
				}
			}
		}
		now := time.Now()
		text := encode(map[string]string{"alg": "EdDSA", "typ": "JWT", "kid": "k"}) + "." + encode(token.ClaimSet{
			Issuer: issuer, Subject: u, Audience: token.AudienceList{service}, Access: access,
			IssuedAt: now.Unix(), NotBefore: now.Add(-time.Minute).Unix(), Expiration: now.Add(time.Hour).Unix(),
		})
		text += "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(private, []byte(text)))
		json.NewEncoder(w).Encode(map[string]any{"token": text, "expires_in": 3600})
	})
	set, err := json.Marshal(map[string]any{"keys": []map[string]string{
		{"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": "k", "x": base64.RawURLEncoding.EncodeToString(public)},
	}})
	check(t, err)
	return set
}

// answer sets a function that handles a request itself if it returns true.
func (r *registry) answer(before func(w http.ResponseWriter, r *http.Request) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before = before
}

// ref returns the reference of a repository's tag.
func (r *registry) ref(repo, tag string) string { return "docker://" + r.host + "/" + repo + ":" + tag }

// login writes a file with the credentials of registries and returns its name.
func login(t *testing.T, password string, registries ...*registry) string {
	t.Helper()
	auths := map[string]any{}
	for _, r := range registries {
		auths[r.host] = map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte(user + ":" + password))}
	}
	text, err := json.Marshal(map[string]any{"auths": auths})
	check(t, err)
	file := filepath.Join(t.TempDir(), "auth.json")
	check(t, os.WriteFile(file, text, 0o600))
	return file
}

// An environment has only what the programs need.
type environment map[string]string

// env returns the environment of a user who is logged in to registries and trusts them.
func env(t *testing.T, registries ...*registry) environment {
	t.Helper()
	dir := t.TempDir()
	var trusted []byte
	for _, r := range registries {
		trusted = append(trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw})...)
	}
	caFile := filepath.Join(dir, "ca.pem")
	check(t, os.WriteFile(caFile, trusted, 0o600))
	return environment{
		"PATH": os.Getenv("PATH"), "HOME": dir, "XDG_RUNTIME_DIR": dir, "TMPDIR": dir,
		"SSL_CERT_FILE": caFile, "REGISTRY_AUTH_FILE": login(t, password, registries...),
		"CONTAINERS_REGISTRIES_CONF": os.DevNull,
	}
}

func (e environment) with(name, value string) environment {
	out := maps.Clone(e)
	if out[name] = value; value == "" {
		delete(out, name)
	}
	return out
}

func (e environment) list() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(e)) {
		out = append(out, name+"="+e[name])
	}
	return out
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
