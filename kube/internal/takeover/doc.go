// Package takeover tests that clusters of OLM can be taken over, and given back, without
// restarting anything. Its testdata holds the objects of clusters that ran OLM v0.45.0.
package takeover
