package reconcile_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/reconcile/olm"
)

// An invariant is checked on every change that was made, with the objects of
// the cluster before and after it.
func invariants(c reconcile.Change, before, after []olm.Object) error {
	was, is := index(before), index(after)
	if err := oneVersion(is); err != nil {
		return err
	}
	if err := oneGeneration(is); err != nil {
		return err
	}
	switch {
	case c.Op == reconcile.Create && c.Object.Kind == olm.KindClusterServiceVersion && c.Object.Metadata.Namespace == testNamespace:
		return approved(c, was)
	case c.Op == reconcile.Delete && c.Object.Kind == olm.KindClusterServiceVersion && c.Object.Metadata.Namespace == testNamespace:
		return stillProvided(is)
	}
	return nil
}

type indexed struct {
	csvs  []*olm.ClusterServiceVersion // of the namespace, no copies
	plans []*olm.InstallPlan
}

func index(list []olm.Object) indexed {
	var x indexed
	for _, o := range list {
		if o.Metadata.Namespace != testNamespace {
			continue
		}
		switch o.Kind {
		case olm.KindClusterServiceVersion:
			if c, err := olm.As[olm.ClusterServiceVersion](o); err == nil && !c.IsCopied() {
				x.csvs = append(x.csvs, c)
			}
		case olm.KindInstallPlan:
			if p, err := olm.As[olm.InstallPlan](o); err == nil {
				x.plans = append(x.plans, p)
			}
		}
	}
	return x
}

func packageName(c *olm.ClusterServiceVersion) string {
	name, _, _ := strings.Cut(c.Metadata.Name, ".")
	return name
}

// oneVersion: no two versions of a package run at once, and one of two that
// exist says that it replaces the other.
func oneVersion(x indexed) error {
	for i, a := range x.csvs {
		for _, b := range x.csvs[i+1:] {
			if packageName(a) != packageName(b) {
				continue
			}
			if a.Spec.Replaces != b.Metadata.Name && b.Spec.Replaces != a.Metadata.Name {
				return fmt.Errorf("%s and %s: two versions of a package", a.Metadata.Name, b.Metadata.Name)
			}
			if runs(a) && runs(b) {
				return fmt.Errorf("%s (%s) and %s (%s) run at once", a.Metadata.Name, a.Status.Phase, b.Metadata.Name, b.Status.Phase)
			}
		}
	}
	return nil
}

func runs(c *olm.ClusterServiceVersion) bool {
	switch c.Status.Phase {
	case olm.PhaseInstallReady, olm.PhaseInstalling, olm.PhaseSucceeded:
		return true
	}
	return false
}

// oneGeneration: a generation has one plan.
func oneGeneration(x indexed) error {
	seen := map[int]string{}
	for _, p := range x.plans {
		if other, ok := seen[p.Spec.Generation]; ok {
			return fmt.Errorf("plans %s and %s are both of generation %d", other, p.Metadata.Name, p.Spec.Generation)
		}
		seen[p.Spec.Generation] = p.Metadata.Name
	}
	return nil
}

// approved: a CSV comes by an approved plan alone.
func approved(c reconcile.Change, x indexed) error {
	for _, p := range x.plans {
		if p.Metadata.Name == c.For.Name && p.Spec.Approved && p.Status.Phase == olm.PlanInstalling && slices.Contains(p.Spec.ClusterServiceVersionNames, c.Object.Metadata.Name) {
			return nil
		}
	}
	return fmt.Errorf("%s was created without an approved plan", c.Object.Metadata.Name)
}

// stillProvided: what the operators that stay require, somebody provides.
func stillProvided(x indexed) error {
	provided := map[property.GVK]bool{}
	for _, c := range x.csvs {
		for _, p := range properties(c) {
			if g, err := property.ParseGVK(p.Value); p.Type == property.TypeGVK && err == nil {
				provided[g] = true
			}
		}
	}
	for _, c := range x.csvs {
		if slices.ContainsFunc(x.csvs, func(o *olm.ClusterServiceVersion) bool { return o.Spec.Replaces == c.Metadata.Name }) {
			continue // on its way out
		}
		for _, p := range properties(c) {
			if g, err := property.ParseGVKRequired(p.Value); p.Type == property.TypeGVKRequired && err == nil && !provided[g] {
				return fmt.Errorf("%s was taken from under %s", g, c.Metadata.Name)
			}
		}
	}
	return nil
}

func properties(c *olm.ClusterServiceVersion) []property.Property {
	list, err := reconcile.Properties(c)
	if err != nil {
		return nil
	}
	return list
}

// final returns the objects of a cluster as text, without what depends on how
// often things were written: identities, versions, the memory of former states,
// and whether a step of a plan found its object or made it, which a loop that
// was killed in between cannot know.
func final(c *memcluster.Cluster) []string {
	var out strings.Builder
	for _, o := range c.List() {
		var v map[string]any
		text, err := json.Marshal(o)
		if err != nil || json.Unmarshal(text, &v) != nil {
			fmt.Fprintln(&out, err)
			continue
		}
		if status, ok := v["status"].(map[string]any); ok && o.Kind == olm.KindClusterServiceVersion {
			delete(status, "conditions")
		}
		strip(v)
		text, err = json.MarshalIndent(v, "", " ")
		if err != nil {
			fmt.Fprintln(&out, err)
		}
		out.Write(text)
		out.WriteByte('\n')
	}
	return strings.Split(strings.ReplaceAll(out.String(), `"status": "Created"`, `"status": "Present"`), "\n")
}

const touched = "test/touched"

func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"uid", "uuid", "resourceVersion", "generation", "observedGeneration", touched} {
			delete(v, name)
		}
		for name, child := range v {
			strip(child)
			if m, ok := child.(map[string]any); ok && name == "annotations" && len(m) == 0 {
				delete(v, name)
			}
		}
	case []any:
		for _, child := range v {
			strip(child)
		}
	}
}
