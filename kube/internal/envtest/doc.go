// Package envtest starts a real kube-apiserver and etcd for tests, with OLM's
// CRDs. Nothing is downloaded but Go modules: both servers are built from source,
// once, by the module in ../testserver, and cached in its bin directory.
//
// A test binary has one control plane:
//
//	func TestMain(m *testing.M) { envtest.Main(m, &env) }
//
// There are no controllers: deployments do not progress, nothing is collected
// for its owners, and deleted namespaces stay Terminating. Tests play those
// parts.
//
// Where the servers cannot be built or started, the test binary fails.
package envtest
