package operatorgroup

import (
	"slices"

	"github.com/olmkit/olmkit/reconcile/olm"
)

// A Judgement is what the operator groups of a cluster mean for a CSV.
type Judgement struct {
	// Group is the group that the CSV is a member of, or nil.
	Group *olm.OperatorGroup
	// Decision is that of [Decide]; zero unless the CSV is a member.
	Decision Decision
	// Failure is why the CSV fails, or nil.
	Failure *Failure
	// Undecided: the group has not determined its targets yet; wait.
	Undecided bool
	// Recovered: the CSV is Failed because of its group and need not be any
	// longer, so that it returns to Pending (F3).
	Recovered bool
}

// Judge judges a CSV by all groups of a cluster, as at every sync of the CSV:
// membership first (F2, F3), then its APIs beside other groups (F6). A CSV that
// a changed annotation concerns is not recovered before the annotation is
// written. A CRD name that [OwnAPIs] cannot read provides nothing here.
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
	j.Recovered = j.Decision.Action == Continue && IsGroupFailure(csv.Status)
	return j
}

// Providers returns the CSVs that provide any of the given APIs, wherever they
// are, in their order. After a change to what a group provides they must be
// judged again, since it may have ended their conflict (000, 2.3.9). Copies
// provide nothing.
func Providers(apis APIs, csvs []*olm.ClusterServiceVersion) []*olm.ClusterServiceVersion {
	var list []*olm.ClusterServiceVersion
	for _, c := range csvs {
		if c.IsCopied() {
			continue
		}
		if own, _ := OwnAPIs(c); slices.ContainsFunc(own, apis.Contains) {
			list = append(list, c)
		}
	}
	return list
}
