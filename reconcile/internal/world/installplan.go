package world

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

// FailureText returns why an install plan failed. OLM writes the cause into the message of the
// plan, into its condition Installed, or into a condition of the bundle that could not be
// unpacked.
func FailureText(ip *olm.InstallPlan) string {
	if ip.Status.Message != "" {
		return ip.Status.Message
	}
	if c, ok := olm.FindCondition(ip.Status.Conditions, ConditionInstalled); ok && c.Status == olm.ConditionFalse && c.Message+c.Reason != "" {
		return cmp.Or(c.Message, c.Reason)
	}
	for _, l := range ip.Status.BundleLookups {
		if c, ok := olm.FindCondition(l.Conditions, BundleLookupFailed); ok && c.Status == olm.ConditionTrue && c.Message+c.Reason != "" {
			return fmt.Sprintf("bundle %s: %s", l.Identifier, cmp.Or(c.Message, c.Reason))
		}
	}
	return "its status does not give the cause"
}

// FailureAdvice returns why a failed plan failed, and how to recover.
func FailureAdvice(ip *olm.InstallPlan) string {
	return phrase.Clause(FailureText(ip)) + "; " + TryAgain(ip)
}

// TryAgain returns how to recover from a failed plan.
func TryAgain(ip *olm.InstallPlan) string {
	return fmt.Sprintf("to try again, fix the cause and delete install plan %q: a new one is created", ip.Metadata.Name)
}

// The type of the condition of an install plan, and its reasons.
const (
	ConditionInstalled       = "Installed"
	ReasonInstallCheckFailed = "InstallCheckFailed"
	ReasonComponentFailed    = "InstallComponentFailed"
)

// IsWanted reports whether a plan may be executed. A generated plan may, as long as a
// subscription refers to it. A newer resolution changes the reference, and the older plan
// is no longer executed.
func (w *World) IsWanted(ip *olm.InstallPlan) bool {
	return !IsGenerated(ip) || w.IsReferred(ip) || w.isForDependencies(ip)
}

// isForDependencies reports whether the newest plan installs only dependencies of installed
// operators. No subscription can refer to such a plan, because the plan itself creates the
// subscription for each of its CSVs.
func (w *World) isForDependencies(ip *olm.InstallPlan) bool {
	if ip != w.InstallPlans[len(w.InstallPlans)-1] || len(ip.Spec.ClusterServiceVersionNames) == 0 {
		return false
	}
	for _, name := range ip.Spec.ClusterServiceVersionNames {
		if !slices.ContainsFunc(ip.Status.Plan, func(s olm.Step) bool { return s.Resolving == name && IsSubscription(s.Resource) }) {
			return false
		}
	}
	return true
}

// IsReferred reports whether a subscription refers to a plan.
func (w *World) IsReferred(ip *olm.InstallPlan) bool {
	return slices.ContainsFunc(w.Subscriptions, func(s *olm.Subscription) bool {
		ref := s.Status.InstallPlanRef
		return ref != nil && ref.Name == ip.Metadata.Name
	})
}

// IsDone reports whether a step is done.
func IsDone(s *olm.Step) bool { return s.Status == olm.StepCreated || s.Status == olm.StepPresent }

// Coming reports whether an install plan that may still be executed creates owner.
func (w *World) Coming(owner olm.Key) bool {
	if w.brought == nil {
		w.brought = map[olm.Key]bool{}
		for _, ip := range w.InstallPlans {
			if IsFinished(ip) || !w.IsWanted(ip) {
				continue
			}
			for _, s := range ip.Status.Plan {
				w.brought[olm.Key{Group: s.Resource.Group, Kind: s.Resource.Kind, Name: s.Resource.Name}] = true
			}
		}
	}
	owner.Namespace = "" // steps have no namespace
	return w.brought[owner]
}

// IsFinished reports whether an install plan is complete or failed.
func IsFinished(ip *olm.InstallPlan) bool {
	return ip.Status.Phase == olm.PlanComplete || ip.Status.Phase == olm.PlanFailed
}

// LabelGenerated marks install plans that a resolution created, rather than a person, and
// the objects that their steps create.
const LabelGenerated = "olm.managed"

// IsGenerated reports whether a resolution created a plan.
func IsGenerated(ip *olm.InstallPlan) bool { return ip.Metadata.Labels[LabelGenerated] == "true" }

// AnnotationGeneratedBy names the install plan that created a subscription. As in OLM, CSVs
// do not have it: pods get the annotations of their CSV, so a change would restart them.
const AnnotationGeneratedBy = "olm.generated-by"

// IsPlanned reports whether an install plan created a CSV.
func IsPlanned(c *olm.ClusterServiceVersion) bool { return c.Metadata.Labels[LabelGenerated] == "true" }

// Brings reports whether an install plan created a CSV, or found it present, or may still
// do so.
func Brings(ip *olm.InstallPlan, csv string) bool {
	return slices.ContainsFunc(ip.Status.Plan, func(s olm.Step) bool {
		return s.Resource.Name == csv && IsCSV(s.Resource) && (IsDone(&s) || !IsFinished(ip))
	})
}

// IsCRD reports whether a step is for a CRD.
func IsCRD(r olm.StepResource) bool { return r.Group == olm.GroupCRD && r.Kind == olm.KindCRD }

// IsCSV reports whether a step is for a CSV.
func IsCSV(r olm.StepResource) bool {
	return r.Group == olm.Group && r.Kind == olm.KindClusterServiceVersion
}

// IsSubscription reports whether a step is for a subscription.
func IsSubscription(r olm.StepResource) bool {
	return r.Group == olm.Group && r.Kind == olm.KindSubscription
}

// Subscribers returns the subscriptions that a selected bundle is for.
func (w *World) Subscribers(s resolver.Selected) []*olm.Subscription {
	var list []*olm.Subscription
	for _, sub := range w.subscribed[s.Package] {
		switch {
		case sub.Spec.Channel != "" && sub.Spec.Channel != s.Channel:
		case sub.Spec.Source != "" && sub.Spec.Source != s.Catalog:
		case sub.Spec.SourceNamespace != "" && sub.Spec.SourceNamespace != s.CatalogNamespace:
		default:
			list = append(list, sub)
		}
	}
	return list
}

// PlanOf returns the install plan that a subscription refers to, if it exists.
func (w *World) PlanOf(s *olm.Subscription) *olm.InstallPlan {
	if s.Status.InstallPlanRef == nil {
		return nil
	}
	return w.InstallPlan(s.Status.InstallPlanRef.Name)
}
