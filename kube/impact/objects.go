package impact

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// namespaces sets the namespaces of the installation that the options leave open. They are
// those of the first install mode that both bundles support.
func (c *comparison) namespaces() {
	if c.opts.Namespace == "" {
		c.opts.Namespace = c.new.Package
		if len(validation.IsDNS1123Label(c.opts.Namespace)) > 0 {
			c.opts.Namespace = "operator"
		}
	}
	if len(c.opts.Watch) > 0 {
		return
	}
	for _, mode := range []struct {
		mode  v1alpha1.InstallModeType
		watch []string
	}{
		{v1alpha1.InstallModeTypeAllNamespaces, nil},
		{v1alpha1.InstallModeTypeOwnNamespace, []string{c.opts.Namespace}},
		{v1alpha1.InstallModeTypeSingleNamespace, []string{"watched"}},
	} {
		c.opts.Watch = mode.watch
		if supports(c.old, mode.mode) && supports(c.new, mode.mode) {
			return
		}
	}
	c.opts.Watch = nil
}

func supports(b Bundle, mode v1alpha1.InstallModeType) bool {
	return slices.Contains(b.CSV().Spec.InstallModes, v1alpha1.InstallMode{Type: mode, Supported: true})
}

// An objectID identifies an object regardless of the version of its API.
type objectID struct{ group, kind, namespace, name string }

func (id objectID) compare(other objectID) int {
	return cmp.Or(cmp.Compare(id.kind, other.kind), cmp.Compare(id.group, other.group), cmp.Compare(id.namespace, other.namespace), cmp.Compare(id.name, other.name))
}

// String returns the object as "Deployment demo/controller".
func (id objectID) String() string {
	if id.namespace == "" {
		return id.kind + " " + id.name
	}
	return id.kind + " " + id.namespace + "/" + id.name
}

// objects compares the objects that the bundles install (K223).
func (c *comparison) objects() ([]Change, error) {
	var old map[objectID]*unstructured.Unstructured
	var err error
	var both sync.WaitGroup
	both.Go(func() { old, err = c.install(c.old) })
	created, fault := c.install(c.new)
	both.Wait()
	switch {
	case c.ctx.Err() != nil:
		return nil, fault
	case fault != nil:
		return []Change{c.coded(codes.ImpactNotInstallable, Changed, "", "", c.at(), "%s cannot be installed, so the upgrade fails: %s", c.new.CSV().Name, why(c.new, fault))}, nil
	case err == nil:
		return c.compareObjects(old, created), nil
	}
	return []Change{c.coded(codes.ImpactNotCompared, Changed, "", "", c.at(), "the objects were not compared, because %s cannot be installed: %s", c.old.CSV().Name, why(c.old, err))}, nil
}

// why returns why a bundle cannot be installed, without its name and places.
func why(b Bundle, err error) string {
	var list *registryv1.Error
	if errors.As(err, &list) {
		problems := slices.Clone(list.Problems)
		for i := range problems {
			problems[i].Pos = fbc.Pos{}
		}
		err = &registryv1.Error{Problems: problems}
	}
	return strings.TrimPrefix(oneLine(err), fmt.Sprintf("bundle %q: ", b.CSV().Name))
}

// oneLine returns the text of an error on one line, truncated if it is long.
func oneLine(err error) string {
	const limit = 1000
	text := strings.Join(strings.Split(strings.TrimSpace(err.Error()), "\n"), "; ")
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}

// install returns the objects that a bundle installs, without defaults.
func (c *comparison) install(b Bundle) (map[objectID]*unstructured.Unstructured, error) {
	k := installation{b.Bundle, c.opts.Classic, c.opts.Namespace, strings.Join(c.opts.Watch, "/")}
	return c.opts.Cache.installed.Get(k, maxRecent, func() (map[objectID]*unstructured.Unstructured, int, error) {
		objects, err := c.render(b)
		return objects, 1, err
	})
}

// render returns what install returns.
func (c *comparison) render(b Bundle) (map[objectID]*unstructured.Unstructured, error) {
	var list []*unstructured.Unstructured
	if c.opts.Classic {
		var err error
		if list, err = classic(c.ctx, b.Bundle, c.opts.Namespace, c.opts.Watch); err != nil {
			return nil, err
		}
	} else {
		opts := registryv1.RenderOptions{Namespace: c.opts.Namespace, Certificates: registryv1.CertManager, BareCRDs: true}
		switch len(c.opts.Watch) {
		case 0:
		case 1:
			config, err := json.Marshal(map[string]string{"watchNamespace": c.opts.Watch[0]})
			if err != nil {
				return nil, err
			}
			opts.Config = config
		default:
			return nil, errors.New("OLM v1 watches one namespace or all; name at most one")
		}
		m, err := b.Render(c.ctx, opts)
		if err != nil {
			return nil, err
		}
		list = m.Objects()
	}
	out := map[objectID]*unstructured.Unstructured{}
	for _, o := range list {
		gvk := o.GroupVersionKind()
		if gvk.Group == rbacGroup && !contains(b, gvk.Kind, o.GetName()) {
			continue // OLM generates it; the permissions are compared instead
		}
		id := objectID{gvk.Group, gvk.Kind, o.GetNamespace(), o.GetName()}
		out[id] = o
		if id.kind == kindCRD {
			continue // package crdsafety compares them
		}
		removeNoise(o, b.CSV())
		removeDefaults(o)
	}
	return out, nil
}

const (
	rbacGroup = "rbac.authorization.k8s.io"
	kindCRD   = "CustomResourceDefinition"
)

// contains reports whether a bundle has a manifest that is neither a CSV nor a CRD.
func contains(b Bundle, kind, name string) bool {
	return slices.ContainsFunc(b.Others, func(m registryv1.Manifest[unstructured.Unstructured]) bool {
		return m.Object.GetKind() == kind && m.Object.GetName() == name
	})
}

// removeNoise removes from an object what OLM adds to it for each version of an operator.
func removeNoise(o *unstructured.Unstructured, csv *v1alpha1.ClusterServiceVersion) { // K224
	ours := func(key, value string) bool {
		return strings.HasPrefix(key, "olm.") || strings.HasPrefix(key, "operators.coreos.com/") || strings.HasPrefix(key, "operatorframework.io/") || key == "olmcahash" || csv.Annotations[key] == value && value != ""
	}
	clean := func(metadata any) {
		meta, _ := metadata.(map[string]any)
		for _, field := range []string{"labels", "annotations"} {
			values, ok := meta[field].(map[string]any)
			if !ok {
				continue
			}
			maps.DeleteFunc(values, func(k string, v any) bool {
				s, _ := v.(string)
				return ours(k, s) || k == "controller-gen.kubebuilder.io/version"
			})
			if len(values) == 0 {
				delete(meta, field)
			}
		}
	}
	clean(o.Object["metadata"])
	spec, _ := o.Object["spec"].(map[string]any)
	template, _ := spec["template"].(map[string]any)
	if template == nil {
		return
	}
	clean(template["metadata"])
	inPod, _ := template["spec"].(map[string]any)
	for _, list := range []string{"containers", "initContainers"} {
		containers, _ := inPod[list].([]any)
		for _, v := range containers {
			container, _ := v.(map[string]any)
			env, ok := container["env"].([]any)
			if !ok {
				continue
			}
			env = slices.DeleteFunc(env, func(v any) bool {
				e, _ := v.(map[string]any)
				return e["name"] == "OPERATOR_CONDITION_NAME" // the name of the CSV
			})
			if container["env"] = env; len(env) == 0 {
				delete(container, "env")
			}
		}
	}
}

// compareObjects returns the changes between two sets of objects.
func (c *comparison) compareObjects(old, created map[objectID]*unstructured.Unstructured) (out []Change) {
	ids := slices.AppendSeq(slices.Collect(maps.Keys(old)), maps.Keys(created))
	slices.SortFunc(ids, objectID.compare)
	for _, id := range slices.Compact(ids) {
		a, b := old[id], created[id]
		switch {
		case a == nil:
			out = append(out, safe(Added, id.String(), "%s is created", id))
		case b == nil:
			out = append(out, c.deleted(id))
		case id.kind == kindCRD:
			// Package crdsafety compares them.
		default:
			out = append(out, c.changed(id, a, b)...)
		}
	}
	return out
}

// deleted returns the change for an object that the new bundle lacks.
func (c *comparison) deleted(id objectID) Change {
	switch {
	case id.kind == kindCRD && c.opts.Classic:
		return c.coded(codes.ImpactObjectDeleted, Removed, id.String(), "", c.at(), "%s is not in the new bundle; classic OLM leaves it on the cluster, but no operator manages its custom resources", id)
	case id.kind == kindCRD:
		what := "all of its custom resources"
		switch n, known := c.opts.Cluster.count(id.name); {
		case known && n == 0:
			return safe(Removed, id.String(), "%s is deleted; it has no custom resources", id)
		case known:
			what = phrase.Count(n, "custom resource")
		case c.opts.Cluster != nil:
			what += ", which are not known: " + c.opts.Cluster.Unread[id.name]
		}
		return c.coded(codes.ImpactDataDeleted, Removed, id.String(), "", c.at(), "%s is deleted with %s", id, what)
	case (id.kind == "Secret" || id.kind == "ConfigMap") && contains(c.old, id.kind, id.name): // OLM generates the others
		return c.coded(codes.ImpactObjectDeleted, Removed, id.String(), "", c.at(), "%s is deleted; values that users changed in it are lost", id)
	}
	return safe(Removed, id.String(), "%s is deleted", id)
}

// changed returns the changes to the fields of an object.
func (c *comparison) changed(id objectID, old, created *unstructured.Unstructured) (out []Change) {
	for _, f := range diff("", old.Object, created.Object) {
		if id.kind == "Deployment" && strings.HasPrefix(f.path, ".spec.selector") {
			continue // see workloads
		}
		ch := fieldChange(id.String(), id.String(), withDefault(id.kind, f), id.kind == "Secret")
		if isFixed(id, f.path, old.Object, created.Object) {
			ch = c.refused(ch, c.manifest(id))
		}
		out = append(out, ch)
	}
	return out
}

// manifest returns the place of an object in the new bundle, or that of the CSV if OLM generates the object.
func (c *comparison) manifest(id objectID) place {
	for i := range c.new.Others {
		if m := &c.new.Others[i]; m.Object.GetKind() == id.kind && m.Object.GetName() == id.name {
			return place{Pos: m.Pos}
		}
	}
	return c.at()
}

// fieldChange returns the change to a field. The values of Secrets are left out.
func fieldChange(object, shown string, f field, secret bool) Change {
	ch := Change{Verdict: Safe, Op: Changed, Object: object, Path: f.path, Old: text(f.old), New: text(f.new), subject: shown}
	if path := strings.TrimPrefix(f.path, "^"); path != "" { // the root of a schema
		shown += ": " + path
	}
	if f.keyword != "" {
		shown += ": " + f.keyword
	}
	if secret && (strings.HasPrefix(f.path, ".data") || strings.HasPrefix(f.path, ".stringData")) {
		ch.Old, ch.New = nil, nil
		ch.Message = shown + " changes"
		return ch
	}
	switch {
	case f.old == nil:
		ch.Op = Added
		ch.Message = shown + " is added: " + short(ch.New)
		ch.effect = "added: " + short(ch.New)
	case f.new == nil:
		ch.Op = Removed
		ch.Message = shown + " is removed: " + short(ch.Old)
		ch.effect = "removed: " + short(ch.Old)
	default:
		was, is := shortPair(ch.Old, ch.New)
		ch.effect = "from " + was + " to " + is
		ch.Message = shown + " changes " + ch.effect
		ch.effect = "changed " + ch.effect
	}
	if f.keyword != "" {
		ch.effect = f.keyword + " " + ch.effect
	}
	return ch
}
