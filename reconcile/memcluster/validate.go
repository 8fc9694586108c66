package memcluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/lazyregexp"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/crd"
)

// The checks that an API server makes for all objects, and for the kinds that package
// reconcile writes, if they do not need a schema. Put does not make them.

var (
	label     = lazyregexp.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	subdomain = lazyregexp.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	qualified = lazyregexp.New(`^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`)
)

const (
	maxLabel     = 63
	maxSubdomain = 253
)

// ErrInvalid is the error, wrapped, of a change that an API server would reject as invalid.
var ErrInvalid = errors.New("invalid")

// invalid returns why an API server would reject o, or nil. The object old is the one that o
// replaces, or nil.
func invalid(o, old *olm.Object) error {
	err := metadata(o)
	switch k := o.Key(); {
	case err != nil:
	case k.Group == olm.GroupCRD && k.Kind == olm.KindCRD:
		err = invalidCRD(o, old)
	case old == nil:
	case k.Group == olm.GroupRBAC && strings.HasSuffix(k.Kind, "Binding"):
		err = immutable(o, old, "roleRef")
	case k.Group == "apps" && k.Kind == "Deployment":
		err = immutable(o, old, "spec", "selector")
	}
	if err != nil {
		return fmt.Errorf("%s is %w: %w", o.Key(), ErrInvalid, err)
	}
	return nil
}

func metadata(o *olm.Object) error {
	m, k := &o.Metadata, o.Key()
	if o.APIVersion == "" || o.Kind == "" {
		return errors.New("no apiVersion or kind")
	}
	switch {
	case k.Group == olm.GroupRBAC:
		if m.Name == "." || m.Name == ".." || strings.ContainsAny(m.Name, "/%") {
			return fmt.Errorf(`/metadata/name: %q: must not be "." or "..", nor contain "/" or "%%"`, m.Name)
		}
	case k.Group == "" && (k.Kind == "Namespace" || k.Kind == "Service"):
		if !label().MatchString(m.Name) || len(m.Name) > maxLabel {
			return fmt.Errorf("/metadata/name: %q is not a DNS label", m.Name)
		}
	case !subdomain().MatchString(m.Name) || len(m.Name) > maxSubdomain:
		return fmt.Errorf("/metadata/name: %q is not a DNS subdomain", m.Name)
	}
	scope, known := scopes[k.Group+"/"+k.Kind]
	switch {
	case m.Namespace != "" && (!label().MatchString(m.Namespace) || len(m.Namespace) > maxLabel):
		return fmt.Errorf("/metadata/namespace: %q is not a DNS label", m.Namespace)
	case known && scope == inNamespace && m.Namespace == "":
		return errors.New("/metadata/namespace: is required: this kind is namespaced")
	case known && scope == ofCluster && m.Namespace != "":
		return errors.New("/metadata/namespace: must be empty: this kind is cluster-scoped")
	}
	for _, name := range slices.Sorted(maps.Keys(m.Labels)) {
		if err := key(name); err != nil {
			return fmt.Errorf("/metadata/labels: %w", err)
		}
		if v := m.Labels[name]; v != "" && (!qualified().MatchString(v) || len(v) > maxLabel) {
			return fmt.Errorf("/metadata/labels/%s: %q: want at most %d letters, digits, '-', '_' and '.', beginning and ending with a letter or digit", name, v, maxLabel)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Annotations)) {
		if err := key(strings.ToLower(name)); err != nil {
			return fmt.Errorf("/metadata/annotations: %w", err)
		}
	}
	for i, r := range m.OwnerReferences {
		if r.APIVersion == "" || r.Kind == "" || r.Name == "" || r.UID == "" {
			return fmt.Errorf("/metadata/ownerReferences/%d: want apiVersion, kind, name and uid", i)
		}
	}
	return nil
}

// key checks the name of a label or an annotation.
func key(name string) error {
	prefix, rest, ok := strings.Cut(name, "/")
	if !ok {
		prefix, rest = "", name
	}
	if ok && (!subdomain().MatchString(prefix) || len(prefix) > maxSubdomain) || !qualified().MatchString(rest) || len(rest) > maxLabel {
		return fmt.Errorf("%q is not a qualified name", name)
	}
	return nil
}

type scope int

const (
	inNamespace scope = iota
	ofCluster
)

// scopes holds the scope of each kind that package reconcile knows, by "<group>/<kind>".
var scopes = map[string]scope{
	"/Namespace": ofCluster, "/ServiceAccount": inNamespace, "/Service": inNamespace, "/ConfigMap": inNamespace, "/Secret": inNamespace,
	"apps/Deployment":                inNamespace,
	olm.GroupCRD + "/" + olm.KindCRD: ofCluster,
	olm.GroupRBAC + "/Role":          inNamespace, olm.GroupRBAC + "/RoleBinding": inNamespace,
	olm.GroupRBAC + "/ClusterRole": ofCluster, olm.GroupRBAC + "/ClusterRoleBinding": ofCluster,
	olm.Group + "/" + olm.KindClusterServiceVersion: inNamespace, olm.Group + "/" + olm.KindSubscription: inNamespace,
	olm.Group + "/" + olm.KindInstallPlan: inNamespace, olm.Group + "/" + olm.KindCatalogSource: inNamespace,
	olm.Group + "/" + olm.KindOperatorGroup: inNamespace, olm.Group + "/" + olm.KindOperatorCondition: inNamespace,
	olm.Group + "/" + olm.KindOLMConfig: ofCluster, olm.Group + "/" + olm.KindOperator: ofCluster,
	"apiregistration.k8s.io/APIService":                           ofCluster,
	"admissionregistration.k8s.io/ValidatingWebhookConfiguration": ofCluster,
	"admissionregistration.k8s.io/MutatingWebhookConfiguration":   ofCluster,
}

// immutable returns an error if an update changes the value at a path.
func immutable(o, old *olm.Object, path ...string) error {
	was, had := old.Get(path...)
	is, has := o.Get(path...)
	if !had && !has || had && has && olm.EqualJSON(was, is) {
		return nil
	}
	return fmt.Errorf("/%s: field is immutable", strings.Join(path, "/"))
}

func invalidCRD(o, old *olm.Object) error {
	want, err := olm.As[olm.CustomResourceDefinition](*o)
	if err != nil {
		return err
	}
	spec := &want.Spec
	if name := spec.Names.Plural + "." + spec.Group; want.Metadata.Name != name {
		return fmt.Errorf("/metadata/name: want /spec/names/plural and /spec/group: %q", name)
	}
	storage := 0
	var names []string
	for _, v := range spec.AllVersions() {
		if slices.Contains(names, v.Name) {
			return fmt.Errorf("/spec/versions: version %q occurs twice", v.Name)
		}
		names = append(names, v.Name)
		if v.Storage {
			storage++
		}
	}
	if storage != 1 {
		return fmt.Errorf("/spec/versions: want exactly one version with storage: true, not %d", storage)
	}
	if old == nil {
		return nil
	}
	was, err := olm.As[olm.CustomResourceDefinition](*old)
	if err != nil {
		return nil // the value cannot change any more
	}
	switch {
	case spec.Group != was.Spec.Group, spec.Names.Plural != was.Spec.Names.Plural:
		return errors.New("/spec: group and names.plural are immutable")
	case crd.Immutable(was, want) != "":
		return errors.New("/spec: scope and names.kind are immutable once the API is served")
	}
	for i, name := range was.Status.StoredVersions {
		if !slices.Contains(names, name) {
			return fmt.Errorf("/status/storedVersions/%d: %s was a storage version, and must remain in /spec/versions until no data is stored in it and it is removed here", i, name)
		}
	}
	return nil
}
