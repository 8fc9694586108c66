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
// that it failed, those that a solution, which may be nil, selects. The commands show the cause and, after a failure,
// delete the job with its ConfigMap, so that OLM makes a new one (H40).
func unpackObstacles(w *world.World, sol *resolver.Solution) (out []Obstacle) {
	for _, ip := range w.InstallPlans {
		if world.IsFinished(ip) || !w.IsWanted(ip) {
			continue
		}
		for _, l := range ip.Status.BundleLookups {
			failed, isFailed := olm.FindCondition(l.Conditions, world.BundleLookupFailed)
			pending, isPending := olm.FindCondition(l.Conditions, world.BundleLookupPending)
			o := Obstacle{Bundle: l.Identifier, By: resolver.HeldByUnpacking}
			for _, s := range w.Subscriptions {
				if s.Status.CurrentCSV == l.Identifier {
					o.Replaces = s.Status.InstalledCSV
				}
			}
			ns := w.Namespace
			if l.CatalogSourceRef != nil {
				ns = l.CatalogSourceRef.Namespace
			}
			switch job := unpackJob(l.Path); {
			case w.CSV(l.Identifier) != nil:
				continue
			case isFailed && failed.Status == olm.ConditionTrue:
				o.Text = notUnpacked(l.Identifier, status.Condition(failed))
				o.retryUnpacking(ns, job)
			case isPending && pending.Status == olm.ConditionTrue && pending.Message != "" && pending.Message != unpackRunning:
				o.Text = fmt.Sprintf("OLM waits until the bundle of %s is unpacked: %s", l.Identifier, phrase.Clause(pending.Message))
				o.add("to find the cause", kubectl.Describe("job", ns, job))
			default:
				continue
			}
			out = append(out, o)
		}
	}
	if len(out) > 0 || sol == nil {
		return out
	}
	why := ""
	for _, s := range w.Subscriptions {
		if c, ok := olm.FindCondition(s.Status.Conditions, world.BundleUnpackFailed); ok && c.Status == olm.ConditionTrue {
			why = phrase.Clause(c.Message)
		}
	}
	if why == "" {
		return nil
	}
	fresh := slices.DeleteFunc(slices.Clone(sol.Selected), func(x resolver.Selected) bool { return x.Bundle.Image() == "" || w.CSV(x.Name) != nil })
	for _, x := range fresh {
		o := Obstacle{Bundle: x.Name, Replaces: x.Replaces, By: resolver.HeldByUnpacking, Text: notUnpacked(x.Name, why)}
		if len(fresh) > 1 { // the condition does not name the bundle
			o.Text = notUnpacked("a bundle of the next install plan", why)
			o.add("to find the cause", kubectl.Labeled("get", "jobs", x.CatalogNamespace, "operatorframework.io/bundle-unpack-ref", ""))
		} else {
			o.retryUnpacking(x.CatalogNamespace, unpackJob(x.Bundle.Image()))
		}
		out = append(out, o)
	}
	return out
}

func notUnpacked(what, why string) string {
	return fmt.Sprintf("OLM could not unpack %s: %s. Fix the cause, and then delete the failed job and its ConfigMap, so that OLM tries again", what, phrase.Clause(why))
}

// unpackJob returns the name of the job that unpacks an image, and of its ConfigMap.
func unpackJob(image string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(image)))[:63]
}

// retryUnpacking adds the commands that show why a job failed, and let OLM recreate it.
func (o *Obstacle) retryUnpacking(namespace, job string) {
	o.add("to find the cause", kubectl.Describe("job", namespace, job))
	o.add("to unpack it again", kubectl.Delete("job", namespace, job))
	o.add("to unpack it again", kubectl.Delete("configmap", namespace, job))
}
