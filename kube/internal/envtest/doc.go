// Package envtest starts a real kube-apiserver and etcd for tests, with OLM's
// CRDs. "make setup" builds both servers from source, from the module in
// ../testserver, into its bin directory.
//
// Each test binary has one control plane:
//
//	func TestMain(m *testing.M) { envtest.Main(m, &env) }
//
// There are no controllers: deployments do not progress, nothing is
// garbage-collected, and deleted namespaces stay Terminating. Tests simulate
// these controllers.
//
// If the servers are not built or do not start, the test binary fails.
package envtest
