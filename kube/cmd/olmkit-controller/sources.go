package main

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/olmkit/olmkit/kube/catalogd"
	"github.com/olmkit/olmkit/kube/content"
	"github.com/olmkit/olmkit/kube/oci"
	"github.com/olmkit/olmkit/resolver"
	"github.com/spf13/pflag"
)

// sourceFlags holds the flags that configure where catalogs are read from, and
// with which limits.
type sourceFlags struct {
	catalogs, mirrors, origins    []string
	ca, cert, key, token          string
	registryConfig, cacheDir      string
	interval, grace               time.Duration
	private, pullSecrets          bool
	textLimit, imageLimit, atOnce int
	tenantLimit, tenantMemory     int
	cacheLimit                    int
	patience                      time.Duration
}

func (f *sourceFlags) add(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.catalogs, "catalog", nil, "override where a CatalogSource is read from: namespace/name=SOURCE, where SOURCE is dir:path, index:file, image:reference or an http:// or https:// address (repeatable)")
	fs.DurationVar(&f.interval, "catalog-interval", 5*time.Minute, "how often to check catalogs whose CatalogSource sets no interval")
	fs.DurationVar(&f.grace, "catalog-grace", 15*time.Minute, "how long to keep using the last content of a catalog that cannot be read; negative to disable")
	fs.IntVar(&f.atOnce, "catalog-concurrency", 16, "number of catalogs to read at once")
	fs.IntVar(&f.textLimit, "catalog-text-limit", 512, "maximum text of a catalog, in MiB")
	fs.IntVar(&f.imageLimit, "catalog-image-limit", 512, "maximum size of the files in a catalog image, in MiB")
	fs.IntVar(&f.tenantLimit, "tenant-catalog-limit", 128, "maximum text or image files of a catalog outside the global namespace, in MiB")
	fs.IntVar(&f.tenantMemory, "tenant-catalog-memory", 256, "maximum memory of all catalogs outside the global namespace, in MiB; each namespace may use a quarter of it; 0 for no limit")
	fs.DurationVar(&f.patience, "catalog-patience", 30*time.Second, "how long resolution waits for the first read of a catalog before treating it as unhealthy")
	fs.StringVar(&f.cacheDir, "cache-dir", "", "directory for catalogs and images, to save memory and survive restarts")
	fs.IntVar(&f.cacheLimit, "cache-limit", 6144, "maximum size of --cache-dir in MiB; the least recently used files are deleted first")
	fs.StringVar(&f.ca, "ca-file", "", "PEM file with certificate authorities for catalogs and registries, in addition to the system's")
	fs.StringArrayVar(&f.origins, "credentials-for", nil, "origin of a catalog server that receives the client certificate and token, such as https://catalogs.example:8443; for catalogs of the global namespace only (repeatable)")
	fs.StringVar(&f.cert, "client-cert", "", "PEM file with the client certificate for --credentials-for; read for each connection")
	fs.StringVar(&f.key, "client-key", "", "PEM file with the key of --client-cert")
	fs.StringVar(&f.token, "token-file", "", "file with the bearer token for --credentials-for; read for each request")
	fs.StringVar(&f.registryConfig, "registry-config", "", "Docker configuration file with registry credentials for images of the global namespace; read for each pull")
	fs.BoolVar(&f.pullSecrets, "pull-secrets", false, "pull catalogs and their bundles with the secrets named in spec.secrets of the CatalogSource")
	fs.StringArrayVar(&f.mirrors, "mirror", nil, "mirror of a registry or repository: source=mirror (repeatable)")
	fs.BoolVar(&f.private, "allow-private-catalogs", false, "allow loopback and link-local addresses for catalogs outside the global namespace")
}

// options returns the options of the store.
func (f *sourceFlags) options(global string) (*content.Options, error) {
	base := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.ca != "" {
		pool, err := x509.SystemCertPool()
		if err != nil {
			return nil, fmt.Errorf("--ca-file: %w", err)
		}
		text, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, fmt.Errorf("--ca-file: %w", err)
		}
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--ca-file %s: no PEM certificate found", f.ca)
		}
		base.RootCAs = pool
	}
	served := &catalogd.Options{TLS: base, Limits: catalogd.Limits{Text: int64(f.textLimit) << 20}}
	images := &oci.Options{Catalogs: oci.Limits{Bytes: int64(f.imageLimit) << 20}, Transport: f.transport(base, false)}
	if f.cacheDir != "" {
		served.Dir, images.Dir = filepath.Join(f.cacheDir, "catalogs"), filepath.Join(f.cacheDir, "images")
	}
	for _, m := range f.mirrors {
		from, to, ok := strings.Cut(m, "=")
		if !ok || from == "" || to == "" {
			return nil, fmt.Errorf("--mirror %q: want source=mirror", m)
		}
		images.Registries = append(images.Registries, oci.Registry{Prefix: from, Mirrors: []oci.Mirror{{Location: to}}})
	}
	// Tenants get no credentials and a separate cache. With a shared cache they
	// could read private images.
	tenants := *images
	tenants.Transport = f.transport(base, !f.private)
	tenants.Catalogs.Bytes = min(images.Catalogs.Bytes, int64(f.tenantLimit)<<20)
	if f.cacheDir != "" {
		tenants.Dir = filepath.Join(f.cacheDir, "tenants")
	}
	if f.registryConfig != "" {
		k := oci.AuthFile(f.registryConfig)
		if err := k.Check(); err != nil {
			return nil, fmt.Errorf("--registry-config: %w", err)
		}
		images.Keychain = k
	}
	puller := oci.New(images)
	sources := content.Sources{
		Global: global, HTTP: served, Images: puller, Tenants: oci.New(&tenants), Private: f.private, TenantText: int64(f.tenantLimit) << 20,
		Named: map[resolver.CatalogID]content.Source{},
	}
	var err error
	if sources.Origins, err = f.credentials(served); err != nil {
		return nil, err
	}
	for _, text := range f.catalogs {
		id, source, ok := strings.Cut(text, "=")
		namespace, name, ok2 := strings.Cut(id, "/")
		if !ok || !ok2 {
			return nil, fmt.Errorf("--catalog %q: want namespace/name=source", text)
		}
		s, err := sources.Parse(source)
		if err != nil {
			return nil, fmt.Errorf("--catalog %s: %w", id, err)
		}
		sources.Named[resolver.CatalogID{Name: name, Namespace: namespace}] = s
	}
	return &content.Options{Sources: sources, Bundles: puller, Interval: f.interval, Grace: cmp.Or(f.grace, -1), Patience: f.patience, Budget: cmp.Or(int64(f.tenantMemory)<<20, -1)}, nil
}

// credentials returns the client options of the origins that receive
// credentials, by origin.
func (f *sourceFlags) credentials(base *catalogd.Options) (map[string]*catalogd.Options, error) {
	if len(f.origins) == 0 {
		if f.cert != "" || f.key != "" || f.token != "" {
			return nil, fmt.Errorf("--client-cert, --client-key and --token-file are not sent to any server; name the servers with --credentials-for")
		}
		return nil, nil
	}
	o := *base
	o.TLS = base.TLS.Clone()
	if f.cert != "" || f.key != "" {
		pair := func() (*tls.Certificate, error) {
			p, err := tls.LoadX509KeyPair(f.cert, f.key)
			if err != nil {
				return nil, fmt.Errorf("--client-cert: %w", err)
			}
			return &p, nil
		}
		if _, err := pair(); err != nil {
			return nil, err
		}
		o.TLS.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair() }
	}
	if f.token != "" {
		o.Token = func() (string, error) {
			text, err := os.ReadFile(f.token)
			if err != nil {
				return "", fmt.Errorf("--token-file: %w", err)
			}
			return strings.TrimSpace(string(text)), nil
		}
		if _, err := o.Token(); err != nil {
			return nil, err
		}
	}
	out := map[string]*catalogd.Options{}
	for _, origin := range f.origins {
		if !strings.HasPrefix(origin, "https://") || strings.Contains(origin[len("https://"):], "/") {
			return nil, fmt.Errorf("--credentials-for %q: want an https:// origin without a path, such as https://catalogs.example:8443", origin)
		}
		out[strings.TrimSuffix(strings.ToLower(origin), ":443")] = &o
	}
	return out, nil
}

// transport returns the HTTP transport for registries. If guarded is set, it
// does not connect to addresses that content.Public rejects.
func (f *sourceFlags) transport(base *tls.Config, guarded bool) http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = base.Clone()
	if guarded {
		dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: content.Public}
		t.DialContext, t.Proxy = dialer.DialContext, nil
	}
	return t
}
