package takeover_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/kube/olmhash"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// E21, E22, E23: olmkit installs the same objects from an install plan as OLM, with the
// names, labels, finalizers, owners and hashes by which OLM recognizes its objects.
// testdata/handback.txt lists the differences, which OLM would rewrite when it takes the
// cluster back.
func TestHandBack(t *testing.T) {
	r := recorded(t)
	var out strings.Builder
	for _, name := range r.Names() {
		c, namespaces := uninstalled(t, r.Snapshots[name])
		if c == nil {
			continue
		}
		for _, ns := range namespaces {
			l := &reconcile.Loop{Cluster: c, MaxPasses: 100, Options: reconcile.Options{RoleNaming: operatorgroup.Running, DeploymentHashes: olmhash.Deployment, NoAdvice: true}}
			if _, err := l.Run(t.Context(), ns); err != nil {
				t.Errorf("%s: namespace %s: %v", name, ns, err)
			}
		}
		fmt.Fprintf(&out, "%s\n", name)
		for _, o := range r.Snapshots[name] {
			if o.Metadata.Labels["olm.managed"] != "true" || o.Kind == olm.KindInstallPlan || o.Kind == olm.KindSubscription {
				continue
			}
			key := o.Key()
			if o.Kind == "ValidatingWebhookConfiguration" || o.Kind == "MutatingWebhookConfiguration" {
				continue // their names are generated
			}
			if strings.HasPrefix(key.Name, "olm.og.") {
				continue // the names have the UID of the group
			}
			got, err := c.Get(key)
			if err != nil {
				fmt.Fprintf(&out, "  %s: missing\n", key)
				continue
			}
			for _, d := range differences(&o, &got) {
				fmt.Fprintf(&out, "  %s: %s\n", key, d)
			}
		}
	}
	golden.File(t, "handback.txt", out.String())
}

// uninstalled returns a cluster with a snapshot's user-created objects and its install
// plans as they were before OLM executed them. It returns nil if some operator is not
// running.
func uninstalled(t *testing.T, objects []olm.Object) (*memcluster.Cluster, []string) {
	t.Helper()
	c := &memcluster.Cluster{GlobalNamespace: "olm", KubeVersion: "1.36.3", Now: recordedAt, Controllers: true}
	var namespaces []string
	plans, groups, succeeded := 0, 0, false
	specs := map[string]json.RawMessage{} // the specs of CSVs, with the API server's defaults
	for _, o := range objects {
		if o.Kind == olm.KindClusterServiceVersion {
			specs[o.Metadata.Name] = o.Rest["spec"]
		}
	}
	for _, o := range objects {
		switch o.Kind {
		case "Namespace":
			namespaces = append(namespaces, o.Metadata.Name)
		case olm.KindOperatorGroup:
			if _, ok := o.Get("spec", "serviceAccountName"); ok {
				return nil, nil // whose permissions are not in the recording
			}
			groups++
		case olm.KindCatalogSource:
		case olm.KindInstallPlan:
			ip, err := olm.As[olm.InstallPlan](o)
			must(t, err)
			if plans++; plans > 1 || ip.Status.Phase != olm.PlanComplete {
				return nil, nil
			}
			ip.Metadata.Labels, ip.Metadata.OwnerReferences = nil, nil // as if a person had written it
			ip.Status.Phase = olm.PlanInstalling
			for i := range ip.Status.Plan {
				ip.Status.Plan[i].Status = olm.StepUnknown
			}
			complete(t, ip, specs)
			must(t, c.Put(ip))
			continue
		case olm.KindClusterServiceVersion:
			csv, err := olm.As[olm.ClusterServiceVersion](o)
			must(t, err)
			if succeeded = csv.Status.Phase == olm.PhaseSucceeded; !succeeded {
				return nil, nil
			}
			continue
		default:
			continue
		}
		must(t, c.Put(&o))
	}
	if plans == 0 || groups == 0 || !succeeded {
		return nil, nil
	}
	slices.Sort(namespaces)
	return c, namespaces
}

// complete gives the CSVs in an install plan the specs that an API server completed, by name.
func complete(t *testing.T, ip *olm.InstallPlan, specs map[string]json.RawMessage) {
	t.Helper()
	for i := range ip.Status.Plan {
		s := &ip.Status.Plan[i]
		if s.Resource.Kind != olm.KindClusterServiceVersion || specs[s.Resource.Name] == nil {
			continue
		}
		o, err := s.Resource.Object()
		must(t, err)
		o.Rest = o.Rest.With("spec", specs[s.Resource.Name])
		text, err := o.MarshalJSON()
		must(t, err)
		s.Resource.Manifest = string(text)
	}
}

// differences returns the differences in the metadata of an object, and in the pod template
// of a deployment.
func differences(want, got *olm.Object) (list []string) {
	serves := strings.Contains(string(want.Rest["spec"]), "olmcahash")
	compare := func(what string, want, got map[string]string) {
		for _, k := range slices.Sorted(maps.Keys(want)) {
			switch v, ok := got[k]; {
			case strings.HasPrefix(k, "operators.coreos.com/"): // of an Operator; no controller compares it
			case k == "olmcahash" || k == "olm.deployment-spec-hash" && serves: // each CA has another
			case !ok:
				list = append(list, fmt.Sprintf("%s %s is missing", what, k))
			case v != want[k]:
				list = append(list, fmt.Sprintf("%s %s is %q, want %q", what, k, v, want[k]))
			}
		}
		for _, k := range slices.Sorted(maps.Keys(got)) {
			if _, ok := want[k]; !ok {
				list = append(list, fmt.Sprintf("%s %s is added", what, k))
			}
		}
	}
	compare("label", want.Metadata.Labels, got.Metadata.Labels)
	compare("annotation", want.Metadata.Annotations, got.Metadata.Annotations)
	if !slices.Equal(want.Metadata.Finalizers, got.Metadata.Finalizers) {
		list = append(list, fmt.Sprintf("finalizers are %q, want %q", got.Metadata.Finalizers, want.Metadata.Finalizers))
	}
	if w, g := owners(want), owners(got); w != g {
		list = append(list, fmt.Sprintf("owners are %s, want %s", g, w))
	}
	return list
}

// owners returns the kinds and names of the owners of an object.
func owners(o *olm.Object) string {
	var list []string
	for _, r := range o.Metadata.OwnerReferences {
		list = append(list, strings.ToLower(r.Kind)+" "+r.Name)
	}
	slices.Sort(list)
	return "[" + strings.Join(list, ", ") + "]"
}
