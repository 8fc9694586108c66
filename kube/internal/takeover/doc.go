// Package takeover tests that clusters of OLM can be taken over, and given back, without
// restarting anything. Its testdata is what OLM v0.45.0 left behind.
package takeover
