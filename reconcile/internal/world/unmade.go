package world

import (
	"slices"

	"github.com/olmkit/olmkit/olm"
)

// Unmade returns the newest install plan for a CSV if it has not created all objects of the
// operator's bundle, as far as is known, or nil.
func (w *World) Unmade(c *olm.ClusterServiceVersion) *olm.InstallPlan {
	if !IsPlanned(c) {
		return nil
	}
	for _, ip := range slices.Backward(w.InstallPlans) {
		isUnmade := func(s olm.Step) bool {
			return s.Resolving == c.Metadata.Name && !IsDone(&s) && !IsSubscription(s.Resource) &&
				(ip.Status.Phase != olm.PlanFailed || !w.hasObject(s.Resource))
		}
		switch {
		case !slices.Contains(ip.Spec.ClusterServiceVersionNames, c.Metadata.Name), ip.Status.Phase != olm.PlanFailed && !w.IsWanted(ip):
			continue
		case ip.Status.Phase != olm.PlanComplete && (len(ip.Status.Plan) == 0 || slices.ContainsFunc(ip.Status.Plan, isUnmade)):
			return ip
		}
		return nil
	}
	return nil
}

// hasObject reports whether the object of a step exists, even if a user created it (E40).
func (w *World) hasObject(r olm.StepResource) bool {
	k := olm.Key{Group: r.Group, Kind: r.Kind, Name: r.Name}
	if o, err := r.Object(); err == nil { // otherwise the step refers to its object
		k = o.Key()
	}
	for _, k.Namespace = range []string{w.Namespace, ""} {
		if o, err := w.Find(k); err == nil && o != nil && !o.Metadata.IsDeleted() {
			return true
		}
	}
	return false
}

// The conditions of the subscriptions that refer to an install plan show whether it was done:
// they are set until the plan is complete. The labels of CSVs, and the remaining plans, show
// which CSVs a deleted plan created.

// SawUnfinished reports whether a subscription refers to a plan that was not
// done when it was last seen.
func SawUnfinished(s *olm.Subscription) bool {
	return s.Status.InstallPlanRef != nil && slices.ContainsFunc(s.Status.Conditions, func(c olm.Condition) bool {
		return c.Status == olm.ConditionTrue && (c.Type == InstallPlanMissing || c.Type == InstallPlanPending || c.Type == InstallPlanFailed)
	})
}

// IsDeleted reports whether the operator of a subscription was installed and then deleted. current is
// the CSV of its status.currentCSV, and plan its install plan, or nil if they do not exist.
func IsDeleted(s *olm.Subscription, current *olm.ClusterServiceVersion, plan *olm.InstallPlan) bool {
	switch {
	case s.Status.CurrentCSV == "" || current != nil:
		return false
	case plan != nil:
		return plan.Status.Phase == olm.PlanComplete
	}
	return s.Status.InstalledCSV == s.Status.CurrentCSV && !SawUnfinished(s)
}

// IsDeleted reports whether the operator of a subscription was installed and then deleted.
func (w *World) IsDeleted(s *olm.Subscription) bool {
	return IsDeleted(s, w.CSV(s.Status.CurrentCSV), w.PlanOf(s))
}

// sawFinished reports whether a subscription to c has recorded that its install plan was done.
func (w *World) sawFinished(c *olm.ClusterServiceVersion) bool {
	return slices.ContainsFunc(w.Followers(c.Metadata.Name), func(s *olm.Subscription) bool {
		return s.Status.CurrentCSV == c.Metadata.Name && !SawUnfinished(s)
	})
}

// Lost returns the names of the CSVs whose plan was deleted before it was done. They stay lost
// until a new plan for them has its steps.
func (w *World) Lost() map[string]bool {
	if w.lost != nil {
		return w.lost
	}
	names, gone := map[string]bool{}, false
	for _, s := range w.Subscriptions {
		switch plan := w.PlanOf(s); {
		case plan == nil && SawUnfinished(s):
			names[s.Status.CurrentCSV] = true
			gone = true
		case plan != nil && plan.Status.Phase == "":
			for _, name := range plan.Spec.ClusterServiceVersionNames {
				names[name] = true
			}
		}
	}
	if gone {
		for _, c := range w.Own() {
			// Any plan counts, because the plan for the rest may have been deleted too.
			brings := func(ip *olm.InstallPlan) bool { return Brings(ip, c.Metadata.Name) }
			names[c.Metadata.Name] = names[c.Metadata.Name] || IsPlanned(c) && !slices.ContainsFunc(w.InstallPlans, brings) && !w.sawFinished(c)
		}
	}
	w.lost = names
	return names
}
