package reconcile

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/status"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// unpackRunning is OLM's message about a job that unpacks a bundle and that nothing keeps from finishing.
const unpackRunning = "unpack job not completed"

// unpackObstacles reports the bundles that OLM cannot unpack: those of install plans and, if a subscription states
// that it failed, those of its failed install plan or those that a solution, which may be nil, selects. The commands
// show the cause and, after a failure, delete the job with its ConfigMap and the failed plan, so that OLM makes new
// ones (H40).
func unpackObstacles(w *world.World, sol *resolver.Solution) (out []Obstacle) {
	for _, ip := range w.InstallPlans {
		if ip.Status.Phase == olm.PlanComplete || !w.IsWanted(ip) {
			continue
		}
		for _, l := range ip.Status.BundleLookups {
			failed, isFailed := olm.FindCondition(l.Conditions, world.BundleLookupFailed)
			pending, isPending := olm.FindCondition(l.Conditions, world.BundleLookupPending)
			if w.CSV(l.Identifier) != nil {
				continue
			}
			switch {
			case isFailed && failed.Status == olm.ConditionTrue:
				out = append(out, unpackFailure(w, l.Identifier, status.Condition(failed), lookupJob(w, l), ip))
			case world.IsFinished(ip):
			case isPending && pending.Status == olm.ConditionTrue && pending.Message != "" && pending.Message != unpackRunning:
				o := Obstacle{
					Bundle: l.Identifier, Replaces: replacedBy(w, l.Identifier), By: resolver.HeldByUnpacking,
					Reason: fmt.Sprintf("OLM waits until the bundle of %s is unpacked: %s", l.Identifier, phrase.Clause(pending.Message)),
				}
				job := lookupJob(w, l)
				o.add("to find the cause", kubectl.Describe("job", job.namespace, job.name))
				out = append(out, o)
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	why := ""
	for _, s := range w.Subscriptions {
		c, ok := olm.FindCondition(s.Status.Conditions, world.BundleUnpackFailed)
		if !ok || c.Status != olm.ConditionTrue {
			continue
		}
		why = phrase.Clause(c.Message)
		name, ip := s.Status.CurrentCSV, w.PlanOf(s)
		if ip == nil || ip.Status.Phase != olm.PlanFailed || w.CSV(name) != nil {
			continue
		}
		job := unpackJob{namespace: s.Spec.SourceNamespace}
		if sol != nil {
			for _, x := range sol.Selected {
				if x.Name == name && x.Bundle.Image() != "" {
					job.name = jobName(x.Bundle.Image())
				}
			}
		}
		for _, l := range ip.Status.BundleLookups {
			if l.Identifier == name {
				job = lookupJob(w, l)
			}
		}
		out = append(out, unpackFailure(w, name, why, job, ip))
	}
	if len(out) > 0 || why == "" || sol == nil {
		return out
	}
	fresh := slices.DeleteFunc(slices.Clone(sol.Selected), func(x resolver.Selected) bool { return x.Bundle.Image() == "" || w.CSV(x.Name) != nil })
	for _, x := range fresh {
		job := unpackJob{x.CatalogNamespace, jobName(x.Bundle.Image())}
		what := x.Name
		if len(fresh) > 1 { // the condition does not name the bundle
			what, job.name = "a bundle of the next install plan", ""
		}
		o := unpackFailure(w, what, why, job, nil)
		o.Bundle, o.Replaces = x.Name, x.Replaces
		out = append(out, o)
	}
	return out
}

// An unpackJob is a job that unpacks a bundle, and its ConfigMap. The name is "" if it is unknown.
type unpackJob struct{ namespace, name string }

// lookupJob returns the job of a lookup.
func lookupJob(w *world.World, l olm.BundleLookup) unpackJob {
	job := unpackJob{w.Namespace, jobName(l.Path)}
	if l.CatalogSourceRef != nil {
		job.namespace = l.CatalogSourceRef.Namespace
	}
	return job
}

// unpackFailure reports that OLM could not unpack a bundle. ip is the install plan that failed for this reason, or nil.
func unpackFailure(w *world.World, bundle, why string, job unpackJob, ip *olm.InstallPlan) Obstacle {
	o := Obstacle{Bundle: bundle, Replaces: replacedBy(w, bundle), By: resolver.HeldByUnpacking}
	o.Reason = fmt.Sprintf("OLM could not unpack %s: %s", bundle, phrase.Clause(why))
	o.Remedy = "fix the cause, and then delete the failed job and its ConfigMap"
	if job.name == "" {
		o.add("to find the cause", kubectl.Labeled("get", "jobs", job.namespace, "operatorframework.io/bundle-unpack-ref", ""))
	} else {
		o.add("to find the cause", kubectl.Describe("job", job.namespace, job.name))
		o.add("to unpack it again", kubectl.Delete("job", job.namespace, job.name))
		o.add("to unpack it again", kubectl.Delete("configmap", job.namespace, job.name))
	}
	if ip != nil && ip.Status.Phase == olm.PlanFailed {
		first, commands := discard(w, ip, bundle, "install plan "+ip.Metadata.Name)
		o.InstallPlan = ip.Metadata.Name
		o.Remedy += ", and " + first
		for _, c := range commands {
			o.add("to unpack it again", c)
		}
	}
	o.Remedy += ", so that OLM tries again"
	return o
}

// replacedBy returns the operator that a bundle upgrades, or "".
func replacedBy(w *world.World, bundle string) (replaces string) {
	for _, s := range w.Subscriptions {
		if s.Status.CurrentCSV == bundle {
			replaces = s.Status.InstalledCSV
		}
	}
	return replaces
}

// jobName returns the name of the job that unpacks an image, and of its ConfigMap.
func jobName(image string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(image)))[:63]
}
