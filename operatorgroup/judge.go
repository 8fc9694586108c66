package operatorgroup

import "github.com/olmkit/olmkit/olm"

// A Judgement is the effect of a cluster's operator groups on a CSV.
type Judgement struct {
	// Group is the group that the CSV is a member of, or nil.
	Group *olm.OperatorGroup
	// Decision is the result of [Decide], or zero if the CSV is not a member.
	Decision Decision
	// Failure is why the CSV fails, or nil.
	Failure *Failure
	// Undecided reports that the group has not determined its targets yet.
	// Wait.
	Undecided bool
	// Recovered reports that the CSV failed because of its group, but no longer
	// has a reason to, so it returns to Pending.
	Recovered bool
}

// Judge returns the effect of all groups of a cluster on a CSV: its membership,
// then its APIs. A CSV that failed recovers only after a pending change to its
// group annotations has been written. CRD names that [OwnAPIs] cannot parse are
// ignored.
func Judge(csv *olm.ClusterServiceVersion, groups []*olm.OperatorGroup) Judgement {
	var j Judgement
	g, err := Membership(csv, groups)
	if err != nil {
		j.Failure = err.(*Failure)
		return j
	}
	if g == nil {
		j.Undecided = true
		return j
	}
	apis, _ := OwnAPIs(csv)
	j.Group, j.Decision = g, Decide(apis, g, groups)
	j.Failure = j.Decision.Failure
	j.Recovered = j.Decision.Action == Continue && IsGroupFailure(csv.Status) // F3
	return j
}
