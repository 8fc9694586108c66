package content

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/olmkit/olmkit/kube/catalogd"
)

// isTenant reports whether the CatalogSources of a namespace belong to a tenant
// rather than the administrator.
func (s *Sources) isTenant(namespace string) bool {
	return namespace != cmp.Or(s.Global, "olm")
}

// once returns o with a single attempt, unless o sets a number of attempts. The
// store itself retries, without blocking a worker.
func once(o *catalogd.Options) *catalogd.Options {
	var out catalogd.Options
	if o != nil {
		out = *o
	}
	out.Retry.Attempts = max(out.Retry.Attempts, 1)
	return &out
}

// optionsFor returns the options for the address in a CatalogSource of a
// namespace.
func (s *Sources) optionsFor(namespace, address string) *catalogd.Options {
	tenant := s.isTenant(namespace)
	if o, ok := s.Origins[originOf(address)]; ok && !tenant {
		return once(o)
	}
	o := once(s.HTTP)
	o.Header, o.Token = nil, nil
	if o.TLS != nil {
		o.TLS = o.TLS.Clone()
		o.TLS.Certificates, o.TLS.GetClientCertificate = nil, nil
	}
	if tenant {
		// The transport of o.HTTP may hold credentials and connect to any
		// address.
		o.HTTP, o.Quiet = nil, true
		if most := cmp.Or(s.TenantText, 128<<20); o.Limits.Text <= 0 || o.Limits.Text > most {
			o.Limits.Text = most
		}
		if o.Dir != "" {
			// Cache separately: a tenant's server could confirm the ETag of
			// another tenant's text and so gain access to it.
			o.Dir = filepath.Join(o.Dir, "namespaces", namespace)
		}
		if !s.Private {
			o.Control = Public
		}
	}
	return o
}

// originOf returns the scheme, host and port of an address. The port is left
// out if it is the scheme's default.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Host)
	host = strings.TrimSuffix(host, map[string]string{"http": ":80", "https": ":443"}[u.Scheme])
	return u.Scheme + "://" + host
}

// metadata lists the cloud metadata addresses that are not link-local.
var metadata = map[string]bool{"fd00:ec2::254": true, "100.100.100.200": true, "168.63.129.16": true}

// Public is a net.Dialer.Control function that rejects loopback, link-local,
// unspecified and multicast addresses, and the other addresses of cloud
// metadata services. It sees resolved addresses, so no host name can circumvent
// it. Private addresses are allowed, because clusters serve catalogs there.
func Public(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %q is not allowed: %w", address, err)
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() || metadata[ip.String()] {
		return fmt.Errorf("address %s is not allowed for a catalog outside the global namespace", ip)
	}
	return nil
}
