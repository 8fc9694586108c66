package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/extension/desired"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// content returns the content of a bundle of the extension's package.
func (x *extensionState) content(ctx context.Context, b *rollout.Bundle) (*registryv1.Bundle, error) {
	packages := x.packages(b.Package)
	var err error
	if len(packages) > 0 {
		var found *readBundle
		if found, err = x.bundles.bundlesOf(!x.offline, packages...).get(ctx, b.Name); err == nil {
			return found.Bundle.Bundle, nil
		}
	}
	switch {
	case err != nil && (b.Image == "" || !errors.Is(err, errUnknownBundle) && !errors.Is(err, errNotAvailable)):
		return nil, err
	case x.offline:
		return nil, errNotAvailable
	case b.Image == "":
		return nil, fmt.Errorf("bundle %s: no catalog that can be read here has it; name a catalog with --catalog", b.Name)
	}
	files, err := x.loader.fetchBundle(ctx, reference{text: registryScheme + b.Image})
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %w", b.Name, err)
	}
	return registryv1.Read(ctx, files, x.bundles.readOptions())
}

// packages returns a package in each catalog that has it, in order of preference.
func (x *extensionState) packages(name string) []graph.Package {
	r, err := desired.Request(x.extension, nil, x.catalogs)
	if err != nil {
		return nil // nothing is selected either
	}
	for i := range r.Catalogs {
		r.Catalogs[i].Graph = x.opener[r.Catalogs[i].Name]
	}
	return preferred(r.Catalogs, name, r.Selector, x.selected)
}

// preferred returns a package in each catalog that has it: that of the selected catalog first, those that the selector
// leaves out last, and the others by priority and name.
func preferred(catalogs []olmv1.Catalog, name string, selector *olmv1.LabelSelector, selected string) (list []graph.Package) {
	rank := func(c olmv1.Catalog) int {
		switch {
		case c.Name == selected:
			return 0
		case selector.Matches(c.Labels):
			return 1
		}
		return 2
	}
	catalogs = slices.Clone(catalogs)
	slices.SortFunc(catalogs, func(a, b olmv1.Catalog) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Name, b.Name))
	})
	for _, c := range catalogs {
		if c.Graph == nil {
			continue
		}
		if p, ok := c.Graph.Package(name); ok {
			list = append(list, p)
		}
	}
	return list
}

// impact returns the verdict on an upgrade, and with --avoid the way around it.
func (x *extensionState) impact(ctx context.Context, from *extensionBundle, to string) (*upgradeImpact, error) {
	c, packages := x.judge, x.packages(x.packageName())
	c.opts = impact.Options{Cache: c.opts.Cache}
	o := &operatorStatus{
		Object: olm.Key{Group: groupV1, Kind: kindExtension, Name: x.extension.Name}, Namespace: x.extension.Spec.Namespace,
		Package: x.packageName(), Installed: from.Name, Version: from.Version,
	}
	if s := x.extension.Spec.Source.Catalog; s != nil {
		o.channels = s.Channels
	}
	c.install(o)
	judge := c.judgeOn(packages...)
	var err error
	if o.Impact, err = judge.of(ctx, from.Name, to); err != nil {
		return nil, err
	}
	if x.avoid.avoids() {
		if err := x.avoid.around(ctx, judge, o, packages); err != nil {
			return nil, err
		}
	}
	return &upgradeImpact{*o.Impact, o.Avoid}, nil
}

// standIn adds the installed revision if its record is not known, with the objects that its
// bundle has now. Its number is on the objects.
func (x *extensionState) standIn(ctx context.Context) error {
	s, b := x.snapshot, x.extension.Status.Install.Bundle
	number, name, uid := int64(1), "", types.UID("unknown")
	s.Recorded = true
	for _, o := range x.cluster.List() {
		if o.Metadata.Labels[labelOwner] != s.Extension.Name {
			continue
		}
		if n, _ := strconv.ParseInt(o.Metadata.Annotations[annotationRevision], 10, 64); n > number {
			number, name = n, ""
		}
		for _, ref := range o.Metadata.OwnerReferences {
			if ref.Kind == kindObjectSet && ref.Controller != nil && *ref.Controller && name == "" {
				s.Recorded, name, uid = false, ref.Name, types.UID(ref.UID)
			}
		}
	}
	r := rollout.Revision{
		Name: cmp.Or(name, fmt.Sprintf("%s-%d", s.Extension.Name, number)), UID: uid, ResourceVersion: "unknown", Finalizer: true,
		Owner: s.Extension.Name, Number: number, Bundle: rollout.Bundle{Name: b.Name, Package: x.packageName(), Version: b.Version},
		Collision: rollout.Prevent, Probes: rollout.DefaultProbes(), Migrated: true,
	}
	s.Extension.Finalizer = true
	if err := x.render(ctx, &r); err != nil {
		return err
	}
	s.Revisions = append(s.Revisions, r)
	return nil
}

func (x *extensionState) packageName() string {
	if c := x.extension.Spec.Source.Catalog; c != nil {
		return c.PackageName
	}
	return ""
}

// restore renders a revision again if its Secrets are not known.
func (x *extensionState) restore(ctx context.Context, r *rollout.Revision) error {
	if r.Archived && !r.Finalizer {
		return nil // nothing is left of it
	}
	for _, ref := range slices.Concat(r.Refs...) {
		if ref.Name != "" && !slices.ContainsFunc(x.snapshot.Secrets, func(s corev1.Secret) bool { return s.Name == ref.Name && s.Namespace == ref.Namespace }) {
			return x.render(ctx, r)
		}
	}
	return nil
}

// render gives a revision the objects that its bundle has with the current configuration, in
// Secrets as OLM v1 names them. A note reports that the objects may differ, unless the Secrets
// have the names that the revision refers to, which depend on the content.
func (x *extensionState) render(ctx context.Context, r *rollout.Revision) error {
	want, packed, err := x.pack(ctx, r)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		x.note(r.Name, "its objects are unknown, so those that only it has are not listed: "+err.Error())
		r.Phases, r.Refs, r.Observed, r.Collisions = nil, nil, nil, nil
		return nil
	}
	if !slices.EqualFunc(r.Refs, packed.Refs, slices.Equal) {
		x.note(r.Name, "its objects are unknown; they are assumed to be those of bundle "+r.Bundle.Name+" with the current configuration")
		r.Observed, r.Collisions = nil, nil
	}
	r.Refs, r.Phases, r.Bundle.Properties, r.Deadline = packed.Refs, nil, want.Bundle.Properties, want.Deadline
	for _, p := range want.Phases {
		r.Phases = append(r.Phases, registryv1.Phase{Name: p.Name, Objects: make([]*unstructured.Unstructured, len(p.Objects))})
	}
	for _, s := range packed.Secrets {
		s.OwnerReferences = []metav1.OwnerReference{{UID: r.UID}}
		x.snapshot.Secrets = append(x.snapshot.Secrets, s)
	}
	return nil
}

// pack returns what the extension needs for the bundle of a revision, and the Secrets with the
// objects.
func (x *extensionState) pack(ctx context.Context, r *rollout.Revision) (*rollout.Revision, *registryv1.Packing, error) {
	content, err := x.content(ctx, &r.Bundle)
	if err != nil {
		return nil, nil, err
	}
	want, err := desired.Want(ctx, x.extension, &r.Bundle, content, x.options)
	if err != nil {
		return nil, nil, err
	}
	owner := registryv1.Owner{Name: r.Owner, Package: r.Bundle.Package, Version: r.Bundle.Version}
	packed, err := registryv1.Pack(registryv1.Own(want.Phases, owner), r.Name, x.snapshot.Namespace, r.Owner)
	return want, packed, err
}
