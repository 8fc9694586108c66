// Package envtest starts a real kube-apiserver and etcd for tests, with OLM's
// CRDs. "make setup" builds both servers from source, with the module in
// ../testserver, and leaves them in its bin directory.
//
// A test binary has one control plane:
//
//	func TestMain(m *testing.M) { envtest.Main(m, &env) }
//
// There are no controllers: deployments do not progress, nothing is collected
// for its owners, and deleted namespaces stay Terminating. Tests play those
// parts.
//
// Where the servers are not built, or do not start, the test binary fails.
package envtest
