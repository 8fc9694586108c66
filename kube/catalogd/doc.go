// Package catalogd reads catalogs that are served as catalogd of OLM v1 serves
// them: a GET of <base>/api/v1/all answers with the whole catalog as JSON, one
// blob after the other.
//
// # A first fetch
//
//	client, err := catalogd.New("https://catalogd.olmv1-system.svc/catalogs/operatorhubio", nil)
//	cat, err := client.Fetch(ctx)
//	for pkg := range cat.Graph.Packages() {
//		fmt.Println(pkg.Name())
//	}
//
// Fetch decodes the answer while it arrives. The next Fetch asks only whether
// there is something new, by the ETag or the date of the last answer, and
// returns the same *Catalog when there is not. So compare pointers to see whether
// something changed. Several goroutines that fetch at once share one request.
//
// # What can go wrong
//
// Every failure is an [*Error] with the address and one of these causes:
//
//   - [*StatusError]: the server answered with another status;
//   - [*TooLargeError]: the answer exceeds a limit of [Limits];
//   - [*TruncatedError]: the answer ended before its end;
//   - [*ContentTypeError]: the answer is of a type that no catalog has, such as
//     the log-in page of a proxy;
//   - [*RedirectError]: the server sends the client to another host, or away
//     from TLS;
//   - [*CatalogError]: the answer is complete and no catalog; its cause is an
//     fbc.Diagnostics with every fault and its line;
//   - whatever else the network and TLS report.
//
// What may pass by itself is tried again, a few times and with growing pauses;
// a Retry-After of the server is obeyed. The context ends all of it at once.
//
// A failed Fetch changes nothing: [Client.Last] still has the catalog of the last
// one that succeeded. Whether that may be used is for the caller to say.
//
// # On disk
//
// With Options.Dir, the last answer and its compiled index lie in a directory.
// A process that starts asks the server whether they are current and then opens
// the index in milliseconds. Every file is checked; a damaged one is fetched
// anew.
//
// # Credentials
//
// Options.Header, Options.Token and client certificates go to the host of the base
// address and to no other: redirects to another host, and from https to http, are refused.
package catalogd
