package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// A census holds the objects of a cluster that concern operators.
type census struct {
	// content holds the catalogs of classic OLM whose content is known. given lists those of the
	// command line.
	content map[resolver.CatalogID]*graph.Catalog
	given   []resolver.CatalogID
	// contentV1 holds the catalogs of OLM v1. If the content of one is unknown, its Graph is nil.
	contentV1 []olmv1.Catalog
	// missing lists the kinds of which objects of the chosen namespaces may be missing.
	missing       []unread
	subscriptions []*olm.Subscription
	groups        []*olm.OperatorGroup
	csvs          map[olm.Key]*olm.ClusterServiceVersion
	plans         map[olm.Key]*olm.InstallPlan
	conditions    []*olm.OperatorCondition
	sources       []*olm.CatalogSource
	extensions    []*extension
	pods          []olm.Object
	served        []olm.Object // ClusterCatalogs
	version       string
	// blocked maps each CSV that blocks the next version of the platform to the reason. held maps
	// each CSV that must not be upgraded to the reason.
	blocked, held map[olm.Key]string
}

// An extension is the part of a ClusterExtension that is needed for its status.
type extension struct {
	olm.Header
	Spec struct {
		Namespace string `json:"namespace"`
		Source    struct {
			Catalog struct {
				PackageName             string               `json:"packageName"`
				Version                 string               `json:"version"`
				Channels                []string             `json:"channels"`
				Selector                *olmv1.LabelSelector `json:"selector"`
				UpgradeConstraintPolicy olmv1.UpgradePolicy  `json:"upgradeConstraintPolicy"`
			} `json:"catalog"`
		} `json:"source"`
	} `json:"spec"`
	Status struct {
		Conditions []olm.Condition `json:"conditions"`
		Install    struct {
			Bundle struct{ Name, Version string } `json:"bundle"`
		} `json:"install"`
		// ActiveRevisions are the revisions that are rolling out, and the installed one.
		ActiveRevisions []struct {
			Name       string          `json:"name"`
			Conditions []olm.Condition `json:"conditions"`
		} `json:"activeRevisions"`
	} `json:"status"`
}

// takeCensus returns the operators of the cluster that was read. The content of all catalogs is
// unknown.
func (s *clusterState) takeCensus() (*census, error) {
	t := &census{
		content: map[resolver.CatalogID]*graph.Catalog{}, missing: s.lacking(), csvs: map[olm.Key]*olm.ClusterServiceVersion{}, plans: map[olm.Key]*olm.InstallPlan{},
		blocked: map[olm.Key]string{}, held: map[olm.Key]string{},
	}
	for _, o := range s.cluster.List() {
		k := o.Key()
		var err error
		switch (olm.GroupKind{Group: k.Group, Kind: k.Kind}) {
		case olm.GroupKind{Group: olm.Group, Kind: olm.KindSubscription}:
			var s *olm.Subscription
			s, err = olm.As[olm.Subscription](o)
			t.subscriptions = append(t.subscriptions, s)
		case olm.GroupKind{Group: olm.Group, Kind: olm.KindOperatorGroup}:
			var g *olm.OperatorGroup
			g, err = olm.As[olm.OperatorGroup](o)
			t.groups = append(t.groups, g)
		case olm.GroupKind{Group: olm.Group, Kind: olm.KindClusterServiceVersion}:
			var v *olm.ClusterServiceVersion
			if v, err = olm.As[olm.ClusterServiceVersion](o); err == nil && !olm.IsCopied(v) {
				t.csvs[k] = v
			}
		case olm.GroupKind{Group: olm.Group, Kind: olm.KindInstallPlan}:
			t.plans[k], err = olm.As[olm.InstallPlan](o)
		case olm.GroupKind{Group: olm.Group, Kind: olm.KindOperatorCondition}:
			var c *olm.OperatorCondition
			c, err = olm.As[olm.OperatorCondition](o)
			t.conditions = append(t.conditions, c)
		case olm.GroupKind{Group: olm.Group, Kind: olm.KindCatalogSource}:
			var s *olm.CatalogSource
			s, err = olm.As[olm.CatalogSource](o)
			t.sources = append(t.sources, s)
		case olm.GroupKind{Group: groupV1, Kind: kindExtension}:
			var x *extension
			x, err = asExtension(o)
			t.extensions = append(t.extensions, x)
		case olm.GroupKind{Group: groupV1, Kind: kindClusterCatalog}:
			t.served = append(t.served, o)
		case olm.GroupKind{Kind: "Pod"}:
			t.pods = append(t.pods, o)
		case olm.GroupKind{Group: "config.openshift.io", Kind: "ClusterVersion"}:
			t.version = text(o, "status", "desired", "version")
		}
		if err != nil {
			return nil, err
		}
	}
	return t, t.advise()
}

// mentioned returns an error if neither the objects nor a ClusterExtension mention a namespace.
// The name "" stands for all namespaces.
func (t *census) mentioned(c *memcluster.Cluster, name string) error {
	if _, isUnknown := t.unknown("", "Namespace"); name == "" || isUnknown || slices.ContainsFunc(t.extensions, func(x *extension) bool { return x.Spec.Namespace == name }) {
		return nil
	}
	return mentioned(c, name)
}

// installs returns an error if one of the packages has no operator.
func (t *census) installs(packages []string, operators []operatorStatus) error {
	for _, pkg := range packages {
		if slices.ContainsFunc(operators, func(o operatorStatus) bool { return o.Package == pkg }) {
			continue
		}
		var known []string
		for _, s := range t.subscriptions {
			known = append(known, s.Spec.Package)
		}
		for _, x := range t.extensions {
			known = append(known, x.Spec.Source.Catalog.PackageName)
		}
		for _, c := range t.csvs {
			known = append(known, packageOf(c))
		}
		slices.Sort(known)
		if _, err := os.Stat(pkg); err == nil || strings.ContainsAny(pkg, "/:") {
			return usagef("%q is not a package; to give the content of a catalog, write --catalog NAME=%s", pkg, pkg)
		}
		return fmt.Errorf("no operator of package %q was found%s", pkg, hint(pkg, slices.Compact(known)))
	}
	return nil
}

// asExtension returns a ClusterExtension.
func asExtension(o olm.Object) (*extension, error) {
	x := &extension{Header: o.Header}
	if err := into(o, "spec", &x.Spec); err != nil {
		return nil, err
	}
	return x, into(o, "status", &x.Status)
}

// request returns the request that a ClusterExtension makes, without catalogs.
func (x *extension) request() olmv1.Request {
	from := &x.Spec.Source.Catalog
	r := olmv1.Request{
		ID: x.Key().Name, Package: from.PackageName, Version: from.Version, Channels: from.Channels, Policy: from.UpgradeConstraintPolicy, Selector: from.Selector,
	}
	if b := x.Status.Install.Bundle; b.Name != "" {
		r.Installed = &olmv1.Installed{Name: b.Name, Version: b.Version}
	}
	return r
}

// resolutionFailed is the condition of subscriptions that cannot be resolved.
const resolutionFailed = "ResolutionFailed"

// unpackFailed is the type of the condition of a Subscription if a bundle could not be unpacked.
const unpackFailed = "BundleUnpackFailed"

// into decodes a member of an object, if it exists.
func into(o olm.Object, name string, to any) error {
	value, ok := o.Get(name)
	if !ok {
		return nil
	}
	if err := json.Unmarshal(value, to); err != nil {
		return fmt.Errorf("%s: /%s: %w", o.Key(), name, err)
	}
	return nil
}

// text returns the string at a path in an object, or "" if there is none.
func text(o olm.Object, path ...string) string {
	value, _ := o.Get(path...)
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// advise records in t.blocked why CSVs block an upgrade of the platform, and in t.held why
// CSVs must not be upgraded.
func (t *census) advise() error {
	namespaces := map[string]*reconcile.Snapshot{}
	for k, c := range t.csvs {
		if namespaces[k.Namespace] == nil {
			namespaces[k.Namespace] = &reconcile.Snapshot{Namespace: k.Namespace}
		}
		namespaces[k.Namespace].CSVs = append(namespaces[k.Namespace].CSVs, c)
	}
	for _, c := range t.conditions {
		if s := namespaces[c.Metadata.Namespace]; s != nil {
			s.OperatorConditions = append(s.OperatorConditions, c)
		}
	}
	for _, ns := range slices.Sorted(maps.Keys(namespaces)) {
		a, err := reconcile.Advise(namespaces[ns], &reconcile.Options{PlatformVersion: t.version})
		if err != nil {
			return err
		}
		for _, b := range a.Blockers {
			t.blocked[b.CSV] = whyBlocks(b)
		}
		for _, h := range a.Held {
			t.held[h.CSV] = h.Reason
		}
	}
	return nil
}

// unknown returns a message and true if the objects of a kind could not be read.
func (t *census) unknown(group, kind string) (string, bool) {
	for _, u := range t.missing {
		if u.Group == group && u.Kind == kind {
			return u.String(), true
		}
	}
	return "", false
}

// operators returns the operators, sorted by namespace, package and object.
func (t *census) operators(ctx context.Context) ([]operatorStatus, error) {
	var list []operatorStatus
	owned := map[olm.Key]bool{}
	for _, s := range t.subscriptions {
		o := t.subscribed(s)
		for _, name := range []string{s.Status.InstalledCSV, s.Status.CurrentCSV} {
			owned[csvKey(s.Metadata.Namespace, name)] = true
		}
		list = append(list, o)
	}
	for k, c := range t.csvs { // that replace others
		owned[csvKey(k.Namespace, c.Spec.Replaces)] = true
	}
	for k, c := range t.csvs {
		if owned[k] {
			continue
		}
		o := operatorStatus{Object: k, Package: packageOf(c), Installed: k.Name, Version: c.Spec.Version, Moves: movesUnmanaged, Why: "no subscription upgrades it", Blocks: t.blocked[k]}
		if why, is := t.unknown(olm.Group, olm.KindSubscription); is {
			o.Moves, o.Why = movesUnknown, why
		}
		if why := failure(c); why != "" {
			o.Moves, o.Why = movesStuck, why
		}
		list = append(list, o)
	}
	for _, x := range t.extensions {
		o := extended(x)
		if err := t.reach(ctx, x, &o); err != nil {
			return nil, err
		}
		if o.Moves == movesLatest && !o.known {
			o.Why = recorded
		}
		list = append(list, o)
	}
	for i := range list {
		list[i].Namespace = cmp.Or(list[i].Namespace, list[i].Object.Namespace)
	}
	slices.SortFunc(list, func(a, b operatorStatus) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Package, b.Package), a.Object.Compare(b.Object))
	})
	return list, nil
}

// recorded is the reason for movesLatest if the content of the catalogs is unknown.
const recorded = "according to OLM; the content of its catalog is unknown"

func csvKey(namespace, name string) olm.Key {
	return olm.Key{Group: olm.Group, Kind: olm.KindClusterServiceVersion, Namespace: namespace, Name: name}
}

// packageOf returns the package of a CSV: the one in the properties that OLM added to the CSV,
// or else the CSV's name without the version.
func packageOf(c *olm.ClusterServiceVersion) string {
	var list struct{ Properties []property.Property }
	if json.Unmarshal([]byte(c.Metadata.Annotations["operatorframework.io/properties"]), &list) == nil {
		for _, p := range list.Properties {
			var v struct{ PackageName string }
			if p.Type == property.TypePackage && json.Unmarshal(p.Value, &v) == nil && v.PackageName != "" {
				return v.PackageName
			}
		}
	}
	name, _, _ := strings.Cut(c.Metadata.Name, ".")
	return name
}

// failure returns why a CSV failed, or "".
func failure(c *olm.ClusterServiceVersion) string {
	if c.Status.Phase != olm.PhaseFailed {
		return ""
	}
	return fmt.Sprintf("%s failed: %s", c.Metadata.Name, cmp.Or(c.Status.Message, string(c.Status.Reason), "without a reason"))
}

func catalogOf(s *olm.Subscription) resolver.CatalogID {
	return resolver.CatalogID{Name: s.Spec.Source, Namespace: s.Spec.SourceNamespace}
}

// extended returns the status of the operator that a ClusterExtension manages.
func extended(x *extension) operatorStatus {
	from := &x.Spec.Source.Catalog
	o := operatorStatus{
		Object: x.Key(), Namespace: x.Spec.Namespace, Package: from.PackageName, Channel: strings.Join(from.Channels, ","),
		channels: from.Channels, versions: from.Version, Installed: x.Status.Install.Bundle.Name, Version: x.Status.Install.Bundle.Version,
	}
	for _, typ := range []string{"PackageDeprecated", "ChannelDeprecated", "BundleDeprecated"} {
		if c, ok := olm.FindCondition(x.Status.Conditions, typ); ok && c.Status == "True" {
			o.deprecate(c.Message, true)
		}
	}
	progressing, ok := olm.FindCondition(x.Status.Conditions, "Progressing")
	installed, _ := olm.FindCondition(x.Status.Conditions, "Installed")
	switch {
	case !ok:
		o.Moves, o.Why, o.unprocessed = movesUnknown, "OLM has not processed the ClusterExtension yet", true
	case progressing.Reason != "Succeeded" && progressing.Reason != "RollingOut":
		o.Moves, o.Why, o.unexplained = movesStuck, strings.TrimSuffix(progressing.Reason+": "+progressing.Message, ": "), progressing.Message == ""
	case installed.Status != "True" || progressing.Reason == "RollingOut":
		o.Moves, o.Why = movesNow, progressing.Message
		if waits := x.waits(); waits != "" {
			o.Why = strings.TrimSuffix(o.Why, ".") + "; waiting: " + waits
		}
	default:
		o.Moves = movesLatest
	}
	return o
}

// waits returns which objects of revisions are not ready, or "".
func (x *extension) waits() string {
	lists := [][]olm.Condition{x.Status.Conditions}
	for _, r := range x.Status.ActiveRevisions {
		lists = append(lists, r.Conditions)
	}
	var out []string
	for _, list := range lists {
		c, ok := olm.FindCondition(list, "Available")
		if ok && c.Status == "False" && c.Reason == "ProbeFailure" && !slices.Contains(out, c.Message) {
			out = append(out, c.Message)
		}
	}
	return strings.Join(out, "; ")
}

// servingOf returns the condition Serving of a ClusterCatalog. Those in files that were written by hand have none.
func servingOf(o olm.Object) (olm.Condition, bool) {
	var conditions []olm.Condition
	if v, ok := o.Get("status", "conditions"); ok {
		_ = json.Unmarshal(v, &conditions)
	}
	return olm.FindCondition(conditions, "Serving")
}

func whyUnserved(serving olm.Condition) string {
	return "not served: " + cmp.Or(serving.Message, serving.Reason, "catalogd has not processed it yet")
}

// catalogs returns the catalogs, sorted by name and namespace, with the digests that they
// serve.
func (t *census) catalogs() []catalogStatus {
	var list []catalogStatus
	for _, s := range t.sources {
		c := catalogStatus{Object: s.Key(), Image: s.Spec.Image, Digest: registryImage(t.pods, s)}
		if st := s.Status.ConnectionState; st != nil && st.LastObservedState == olm.ConnectionReady {
			c.Healthy = true
		} else if st != nil {
			c.Why = "not ready: " + st.LastObservedState
		} else {
			c.Why = "not ready: " + cmp.Or(s.Status.Message, "OLM has not connected to it yet")
		}
		list = append(list, c)
	}
	for _, o := range t.served {
		c := catalogStatus{Object: o.Key(), Image: text(o, "spec", "source", "image", "ref"), Digest: text(o, "status", "resolvedSource", "image", "ref")}
		serving, _ := servingOf(o)
		if c.Healthy = serving.Status == "True"; !c.Healthy {
			c.Why = whyUnserved(serving)
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b catalogStatus) int { return a.Object.Compare(b.Object) })
	return list
}
