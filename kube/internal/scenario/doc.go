// Package scenario has no code of its own: its test replays the scenarios of
// package reconcile on a real API server, which must end as in memory.
package scenario
