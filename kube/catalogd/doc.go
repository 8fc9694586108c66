// Package catalogd fetches catalogs from servers that use the HTTP API of OLM
// v1's catalogd: GET <base>/api/v1/all returns the whole catalog as a stream of
// JSON blobs.
//
// # A first fetch
//
//	client, err := catalogd.New("https://catalogd.olmv1-system.svc/catalogs/operatorhubio", nil)
//	cat, err := client.Fetch(ctx)
//	for pkg := range cat.Graph.Packages() {
//		fmt.Println(pkg.Name())
//	}
//
// Fetch decodes the response while it arrives. The next Fetch sends the ETag or
// date of the last response, and returns the same *Catalog if nothing has
// changed. Compare pointers to detect a change. Concurrent calls of Fetch share
// one request.
//
// # What can go wrong
//
// Every failure is an [*Error] with the address and one of these causes:
//
//   - [*StatusError]: the server answered with another status;
//   - [*TooLargeError]: the response exceeds a limit in [Limits];
//   - [*TruncatedError]: the response ended early;
//   - [*ContentTypeError]: the content type is not that of a catalog, as with
//     the login page of a proxy;
//   - [*RedirectError]: the server redirects to another host or from https to
//     http;
//   - [*CatalogError]: the response is complete but is not a valid catalog; the
//     cause is an fbc.Diagnostics that lists every error with its line;
//   - any other error of the network or TLS.
//
// Transient errors are retried a few times with growing pauses, or after the
// server's Retry-After. Canceling the context stops everything at once.
//
// After a failed Fetch, [Client.Last] still returns the catalog of the last
// successful one. The caller decides whether to use it.
//
// # On disk
//
// With Options.Dir, the last response and its compiled index are kept in a
// directory. A new process asks the server whether they are current, then opens
// the index in milliseconds. Every file is verified; damaged files are fetched
// again.
//
// # Credentials
//
// Options.Header, Options.Token and client certificates are sent only to the
// host of the base address. Redirects to another host, and from https to http,
// are rejected.
package catalogd
