// Package scenario contains only a test: it replays the scenarios of package
// reconcile on a real API server and requires the same results as in memory.
package scenario
