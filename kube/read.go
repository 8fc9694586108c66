package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
)

// Read returns the snapshot of a namespace that package reconcile plans with.
// Objects in other namespaces that cannot be decoded are left out; such an
// object in the namespace itself is an error.
func (c *Cluster) Read(ctx context.Context, namespace string) (*reconcile.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	now := c.opts.Now().UTC().Truncate(time.Second)
	version, err := c.kubeVersion(ctx, now)
	if err != nil {
		return nil, err
	}
	r := &reading{
		ctx: ctx, cluster: c, namespace: namespace, has: map[olm.Key]bool{},
		out: &reconcile.Snapshot{Namespace: namespace, GlobalNamespace: c.opts.GlobalNamespace, KubeVersion: version, Now: now, Known: reconcile.PlannedKinds(), Served: []property.GVK{}},
	}
	s := r.out
	own := selection{namespace: namespace}
	fill(r, &s.Namespaces, kindNamespace, selection{})
	fill(r, &s.OperatorGroups, kindOperatorGroup, selection{})
	fill(r, &s.CRDs, kindCRD, selection{})
	fill(r, &s.CSVs, kindCSV, selection{index: byOriginal})
	fill(r, &s.CSVs, kindCSV, selection{index: byOriginal, value: namespace})
	var configs []*olm.OLMConfig
	fill(r, &configs, kindOLMConfig, selection{})
	for _, o := range configs {
		if o.Metadata.Name == "cluster" {
			s.OLMConfig = o
		}
	}
	fill(r, &s.CatalogSources, kindCatalogSource, own)
	if s.GlobalNamespace != namespace {
		fill(r, &s.CatalogSources, kindCatalogSource, selection{namespace: s.GlobalNamespace})
	}
	fill(r, &s.Subscriptions, kindSubscription, own)
	fill(r, &s.InstallPlans, kindInstallPlan, own)
	fill(r, &s.OperatorConditions, kindOperatorCondition, own)
	fill(r, &s.Deployments, kindDeployment, own)
	r.sightings()
	r.objects(kindServiceAccount, own)
	r.objects(kindRole, own)
	r.objects(kindRoleBinding, own)
	generated := selection{index: byOwner, value: namespace}
	for _, k := range []kind{kindRole, kindRoleBinding, kindClusterRole, kindClusterRoleBinding, kindValidatingWebhook, kindMutatingWebhook} {
		r.objects(k, generated)
	}
	r.objects(kindClusterRoleBinding, selection{index: bySubject, value: namespace})
	r.objects(kindAPIService, selection{})
	r.operators()
	r.placesOfCopies()
	r.shared()
	r.served()
	r.grantedRoles()
	r.steps()
	r.conversions()
	r.foundBefore()
	r.platform()
	if r.err != nil {
		return nil, r.err
	}
	slices.SortFunc(r.interests, olm.Key.Compare)
	c.wants.set(namespace, slices.Compact(r.interests))
	return s, nil
}

// A reading collects a snapshot. After the first error, its methods do nothing.
type reading struct {
	ctx       context.Context
	cluster   *Cluster
	namespace string
	out       *reconcile.Snapshot
	has       map[olm.Key]bool // of out.Objects
	interests []olm.Key
	err       error
}

func fill[T any, P interface {
	*T
	olm.Resource
}](r *reading, list *[]*T, k kind, s selection) {
	if r.err != nil {
		return
	}
	entries, err := r.cluster.source.list(r.ctx, k, s)
	if err != nil {
		r.err = err
		return
	}
	*list = slices.Grow(*list, len(entries))
	for _, e := range entries {
		if e.err != nil {
			if e.namespace == r.namespace {
				r.err = e.err
				return
			}
			continue
		}
		if v, ok := e.value.(P); ok {
			*list = append(*list, (*T)(v))
		}
	}
}

func (r *reading) objects(k kind, s selection) {
	var list []*olm.Object
	fill(r, &list, k, s)
	for _, o := range list {
		r.add(o)
	}
}

func (r *reading) add(o *olm.Object) {
	if k := o.Key(); !r.has[k] {
		r.has[k] = true
		r.out.Objects = append(r.out.Objects, *o)
	}
}

// want adds an object, if it exists, and registers interest in its changes.
func (r *reading) want(k kind, namespace, name string) {
	key := olm.Key{Group: k.gvk.Group, Kind: k.gvk.Kind, Namespace: namespace, Name: name}
	if r.interest(key); r.err != nil || r.has[key] {
		return
	}
	v, err := r.cluster.source.get(r.ctx, k, namespace, name)
	if err != nil {
		r.err = err
		return
	}
	if o, ok := v.(*olm.Object); ok {
		r.add(o)
	}
}

func (r *reading) interest(k olm.Key) {
	if k.Namespace != r.namespace {
		r.interests = append(r.interests, k)
	}
}

// shared adds the objects generated for the operators and groups of the
// namespace, even if they belong to another namespace: operators of several
// namespaces may share them.
func (r *reading) shared() {
	if r.err != nil {
		return
	}
	naming := r.cluster.opts.RoleNaming
	for _, g := range r.out.OperatorGroups {
		if g.Metadata.Namespace != r.namespace {
			continue
		}
		apis := operatorgroup.Annotated(g).Union(operatorgroup.Provided(g, r.out.CSVs))
		wantAll(r, operatorgroup.GroupRoles(g, apis, naming))
		for _, c := range r.out.CSVs {
			if c.Metadata.Namespace != r.namespace || olm.IsCopied(c) {
				continue
			}
			wantAll(r, operatorgroup.APIRoles(g, c, naming))
			rbac, err := operatorgroup.TargetRBAC(c, g.Status.Namespaces)
			if err != nil {
				continue // reported by the plan for the CSV
			}
			wantAll(r, rbac.Roles)
			wantAll(r, rbac.RoleBindings)
			wantAll(r, rbac.ClusterRoles)
			wantAll(r, rbac.ClusterRoleBindings)
		}
	}
	for _, c := range r.out.CSVs {
		if c.Metadata.Namespace != r.namespace || olm.IsCopied(c) {
			continue
		}
		for _, d := range slices.Concat(c.Spec.CRDs.Owned, c.Spec.CRDs.Required) {
			r.interest(olm.Key{Group: olm.GroupCRD, Kind: olm.KindCRD, Name: d.Name})
		}
		for _, d := range c.Spec.APIServices.Required {
			r.discover(d.Group, d.Version, d.Kind)
		}
		for _, d := range c.Spec.NativeAPIs {
			r.discover(d.Group, d.Version, d.Kind)
		}
	}
}

// discover registers interest in an API that a CSV requires, and records whether the API
// server serves it. The answer may be an old one, but APIs that were not served are looked up
// again.
func (r *reading) discover(group, version, kind string) {
	r.interest(olm.Key{Group: kindAPIService.gvk.Group, Kind: kindAPIService.gvk.Kind, Name: version + "." + group})
	_, err := r.cluster.opts.Mapper.RESTMapping(schema.GroupKind{Group: group, Kind: kind}, version)
	var answer apierrors.APIStatus
	switch {
	case err == nil:
		r.out.Served = append(r.out.Served, property.GVK{Group: group, Version: version, Kind: kind})
	case meta.IsNoMatchError(err) || errors.As(err, &answer): // such as 503 for an API whose server does not run
	case r.err == nil:
		r.err = fmt.Errorf("discovering %s %s/%s: %w", kind, group, version, err)
	}
}

func wantAll[R olm.Resource](r *reading, list []R) {
	for _, x := range list {
		key := x.Head().Key()
		if k, ok := findKind(key.Group, key.Kind); ok {
			r.want(k, key.Namespace, key.Name)
		}
	}
}

// isServed reports whether an object is of a kind that operators with webhooks or
// aggregated APIs need and that is not watched.
func isServed(k olm.Key) bool { return k.Group == "" && (k.Kind == "Service" || k.Kind == "Secret") }

// served adds the Services and Secrets of operators with webhooks or aggregated APIs,
// and the bindings that such operators share. Services and Secrets are not watched.
func (r *reading) served() {
	for _, c := range r.out.CSVs {
		if c.Metadata.Namespace != r.namespace || olm.IsCopied(c) || len(c.Spec.Webhooks) == 0 && len(c.Spec.APIServices.Owned) == 0 {
			continue
		}
		keys, err := reconcile.Owned(c)
		if err != nil {
			continue // reported by the plan for the CSV
		}
		for _, key := range keys {
			switch {
			case r.err != nil:
				return
			case isServed(key):
				r.other(schema.GroupVersionKind{Version: "v1", Kind: key.Kind}, key.Namespace, key.Name)
			case key.Group == olm.GroupRBAC && key.Namespace != r.namespace:
				if k, ok := findKind(key.Group, key.Kind); ok {
					r.want(k, key.Namespace, key.Name)
				}
			}
		}
	}
}

// grantedRoles adds the roles that are bound to service accounts of the
// namespace.
func (r *reading) grantedRoles() {
	for _, o := range slices.Clone(r.out.Objects) {
		if k := o.Key(); k.Group != olm.GroupRBAC || k.Kind != "RoleBinding" && k.Kind != "ClusterRoleBinding" {
			continue
		}
		b, err := olm.As[olm.RoleBinding](o)
		if err != nil || !slices.ContainsFunc(b.Subjects, func(s olm.Subject) bool { return s.Kind == "ServiceAccount" && s.Namespace == r.namespace }) {
			continue
		}
		if b.RoleRef.Kind == "ClusterRole" {
			r.want(kindClusterRole, "", b.RoleRef.Name)
		} else {
			r.want(kindRole, b.Metadata.Namespace, b.RoleRef.Name)
		}
	}
}

// isAwaited reports whether a CSV of an install plan is Pending.
func (r *reading) isAwaited(p *olm.InstallPlan) bool {
	return slices.ContainsFunc(r.out.CSVs, func(c *olm.ClusterServiceVersion) bool {
		return c.Metadata.Namespace == r.namespace && c.Status.Phase == olm.PhasePending && slices.Contains(p.Spec.ClusterServiceVersionNames, c.Metadata.Name)
	})
}

// steps adds the existing objects that unfinished install plans of the
// namespace create, if their kinds are not read in full. It also adds the
// custom resources that upgrades of CRDs are validated against (E7), and the objects
// that a failed plan did not create, if a CSV waits for them (E40).
func (r *reading) steps() {
	for _, p := range r.out.InstallPlans {
		failed := p.Status.Phase == olm.PlanFailed
		if p.Status.Phase == olm.PlanComplete || failed && !r.isAwaited(p) {
			continue
		}
		for _, s := range p.Status.Plan {
			if r.err != nil {
				return
			}
			if isCRD(s.Resource) {
				r.interest(olm.Key{Group: olm.GroupCRD, Kind: olm.KindCRD, Name: s.Resource.Name})
			}
			if s.Status == olm.StepCreated || s.Status == olm.StepPresent || s.Status == olm.StepWaitingForAPI {
				continue
			}
			if isCRD(s.Resource) {
				if !failed {
					r.instances(&s.Resource)
				}
				continue
			}
			gvk := schema.GroupVersionKind{Group: s.Resource.Group, Version: s.Resource.Version, Kind: s.Resource.Kind}
			name := s.Resource.Name
			if _, ok := s.Resource.Reference(); !ok {
				o, err := s.Resource.Object()
				if err != nil {
					continue // reported by the plan
				}
				gvk, name = gvkOf(o), o.Metadata.Name
			}
			namespace := r.scope(gvk)
			if k, ok := findKind(gvk.Group, gvk.Kind); ok {
				if k.group() == kindCSV.group() {
					r.copyInTheWay(namespace, name)
				}
				if _, isObject := objectKinds[k.group()]; isObject {
					r.want(k, namespace, name)
				}
				continue
			}
			r.other(gvk, namespace, name)
		}
	}
}

// scope returns the namespace of an object in a bundle: the install plan's, or
// "" if the kind is cluster-scoped.
func (r *reading) scope(gvk schema.GroupVersionKind) string {
	m, err := r.cluster.opts.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err == nil && m.Scope.Name() == meta.RESTScopeNameRoot {
		return ""
	}
	return r.namespace // unknown kinds included, which have no objects
}

func isCRD(s olm.StepResource) bool { return s.Group == olm.GroupCRD && s.Kind == olm.KindCRD }

// objectKinds are the kinds in a snapshot's Objects.
var objectKinds = map[groupKind]bool{
	kindServiceAccount.group(): true, kindRole.group(): true, kindRoleBinding.group(): true,
	kindClusterRole.group(): true, kindClusterRoleBinding.group(): true, kindAPIService.group(): true,
	kindValidatingWebhook.group(): true, kindMutatingWebhook.group(): true,
}

// other adds an object of any kind from the API server, if it exists.
func (r *reading) other(gvk schema.GroupVersionKind, namespace, name string) {
	if name == "" {
		return
	}
	u, err := r.cluster.live.unstructured(r.ctx, gvk, namespace, name)
	if isForbidden(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsBadRequest(err) {
		return // creating the object is refused too, and that error is reported to users
	}
	if err != nil {
		r.err = err
		return
	}
	if u == nil {
		return
	}
	o, err := decodeObject(u)
	if err != nil {
		r.err = err
		return
	}
	r.add(o)
}

// foundBefore adds the objects that earlier creations found to exist.
func (r *reading) foundBefore() {
	for _, key := range r.cluster.wants.more(r.namespace) {
		if r.err != nil {
			return
		}
		if k, ok := findKind(key.Group, key.Kind); ok && objectKinds[k.group()] {
			r.want(k, key.Namespace, key.Name)
		}
		if !r.has[key] {
			r.cluster.wants.lost(r.namespace, key)
		}
	}
}

// instances adds the custom resources of a CRD that is to be upgraded. If reading them
// is forbidden, the snapshot does not list the kind as known.
func (r *reading) instances(step *olm.StepResource) {
	var crd *olm.CustomResourceDefinition
	for _, x := range r.out.CRDs {
		if x.Metadata.Name == step.Name {
			crd = x
		}
	}
	if crd == nil || r.err != nil {
		return
	}
	if o, err := step.Object(); err == nil && !reconcile.ChangesCRD(crd, o) {
		return
	}
	list, err := r.cluster.customResources(r.ctx, crd)
	switch {
	case isForbidden(err):
		return
	case err != nil:
		r.err = err
		return
	}
	for i := range list {
		r.add(&list[i])
	}
	r.out.Known = append(r.out.Known, olm.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind})
}

// conversions adds the custom resources of CRDs whose conversion webhook is no longer
// served. Objects that the webhook would have to convert cannot be read, so errors are
// ignored.
func (r *reading) conversions() {
	if r.err != nil {
		return
	}
	for _, crd := range reconcile.Unserved(r.out) {
		list, err := r.cluster.customResources(r.ctx, crd)
		if err != nil {
			continue
		}
		for i := range list {
			r.add(&list[i])
		}
		r.out.Known = append(r.out.Known, olm.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind})
	}
}

// customResources returns the objects of a CRD in the cluster.
func (c *Cluster) customResources(ctx context.Context, crd *olm.CustomResourceDefinition) ([]olm.Object, error) {
	version := ""
	for _, v := range crd.Spec.AllVersions() {
		if v.Served && (version == "" || v.Storage) {
			version = v.Name
		}
	}
	if version == "" || !crd.Status.IsEstablished() {
		return nil, nil
	}
	k := kind{
		gvk:    schema.GroupVersionKind{Group: crd.Spec.Group, Version: version, Kind: crd.Spec.Names.Kind},
		decode: decodeAs[olm.Object],
	}
	entries, err := c.live.list(ctx, k, selection{})
	if err != nil {
		return nil, fmt.Errorf("reading the objects of %s to validate its upgrade: %w", crd.Metadata.Name, err)
	}
	var out []olm.Object
	for _, e := range entries {
		if e.err != nil {
			return nil, e.err
		}
		if o, ok := e.value.(*olm.Object); ok {
			out = append(out, *o)
		}
	}
	return out, nil
}
