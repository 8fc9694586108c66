package steps

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/generated"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// stepOrder is the order of an install plan's steps (E3). Kinds that are not
// listed come after Services.
var stepOrder = []string{
	olm.KindCRD, olm.KindClusterServiceVersion, "ServiceAccount", "Role", "RoleBinding",
	"ClusterRole", "ClusterRoleBinding", "Service",
}

// stepGroups lists the API groups of the kinds in stepOrder. A kind with the
// same name in another group is not in that order.
var stepGroups = []string{
	olm.GroupCRD, olm.Group, "", olm.GroupRBAC, olm.GroupRBAC, olm.GroupRBAC, olm.GroupRBAC, "",
}

// Rank returns the position of a kind in the order of steps (E3).
func Rank(r olm.StepResource) int {
	switch i := slices.Index(stepOrder, r.Kind); {
	case i >= 0 && stepGroups[i] == r.Group:
		return i
	case world.IsSubscription(r):
		return len(stepOrder) + 1 // last: its operator must exist first
	}
	return len(stepOrder)
}

// All returns the steps that install the selected bundles, in the order of E3.
// Steps of the same kind are in the order of the selection and of the bundle.
func (p *Builder) All(ctx context.Context, selected []resolver.Selected) ([]olm.Step, error) {
	var steps []olm.Step
	for _, s := range selected {
		list, err := p.bundleSteps(ctx, s)
		if err != nil {
			return nil, err
		}
		steps = append(steps, list...)
		if len(p.Subscribers(s)) == 0 {
			sub, err := p.dependencySubscription(s)
			if err != nil {
				return nil, err
			}
			steps = append(steps, sub)
		}
	}
	slices.SortStableFunc(steps, func(a, b olm.Step) int {
		return cmp.Compare(Rank(a.Resource), Rank(b.Resource))
	})
	return steps, nil
}

// A ManifestError is the error that reconcile.ManifestError describes.
type ManifestError struct {
	Bundle string
	Err    error
}

// Error names the bundle and what is wrong with it.
func (e *ManifestError) Error() string { return fmt.Sprintf("bundle %q: %s", e.Bundle, e.Err) }

// Unwrap returns the cause.
func (e *ManifestError) Unwrap() error { return e.Err }

func (p *Builder) bundleSteps(ctx context.Context, s resolver.Selected) ([]olm.Step, error) {
	manifests, err := p.Content.Manifests(ctx, resolver.CatalogID{Name: s.Catalog, Namespace: s.CatalogNamespace}, s.Bundle)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &ManifestError{s.Name, err}
	}
	csv, others, err := p.installable(s, manifests)
	if err != nil {
		return nil, &ManifestError{s.Name, err}
	}
	rbac, err := operatorgroup.Permissions(csv)
	if err != nil {
		return nil, &ManifestError{s.Name, err}
	}
	resources := []olm.Resource{csv}
	for i := range others {
		resources = append(resources, &others[i])
	}
	for _, name := range rbac.ServiceAccounts {
		if name != "default" { // every namespace has it
			account := generated.ServiceAccount(p.Namespace, name)
			// OLM, if it executes the plan, adds only the owners in the manifest.
			account.Metadata.OwnerReferences = []olm.OwnerReference{olm.OwnedBy(csv)}
			resources = append(resources, account)
		}
	}
	resources = generated.AppendAll(resources, rbac.Roles)
	resources = generated.AppendAll(resources, rbac.RoleBindings)
	resources = generated.AppendAll(resources, rbac.ClusterRoles)
	resources = generated.AppendAll(resources, rbac.ClusterRoleBindings)
	var steps []olm.Step
	for _, r := range resources {
		step, err := newStep(s, r)
		if err != nil {
			return nil, &ManifestError{s.Name, err}
		}
		if !slices.ContainsFunc(steps, func(o olm.Step) bool { return SameResource(o.Resource, step.Resource) }) {
			steps = append(steps, step)
		}
	}
	return steps, nil
}

// SameResource reports whether two steps are for the same object.
func SameResource(a, b olm.StepResource) bool {
	return a.Group == b.Group && a.Kind == b.Kind && a.Name == b.Name
}

// installable returns the CSV of a bundle with spec.replaces, the properties of
// the bundle and the namespace set (E3), and the bundle's other objects.
// Namespaced objects are moved to the namespace.
func (p *Builder) installable(s resolver.Selected, manifests []olm.Object) (*olm.ClusterServiceVersion, []olm.Object, error) {
	var csv *olm.ClusterServiceVersion
	var others []olm.Object
	for _, o := range manifests {
		if k := o.Key(); k.Group == olm.Group && k.Kind == olm.KindClusterServiceVersion {
			if csv != nil {
				return nil, nil, errors.New("two ClusterServiceVersions: want one")
			}
			c, err := olm.As[olm.ClusterServiceVersion](o)
			if err != nil {
				return nil, nil, err
			}
			csv = c
			continue
		}
		if !slices.Contains(kinds, o.Kind) {
			return nil, nil, fmt.Errorf("%s %q: classic OLM does not create objects of this kind", o.Kind, o.Metadata.Name)
		}
		if !p.IsClusterScoped(o.Key(), manifests) {
			o.Metadata.Namespace = p.Namespace
		}
		others = append(others, o)
	}
	if csv == nil {
		return nil, nil, errors.New("no ClusterServiceVersion among its manifests")
	}
	if csv.Metadata.Name != s.Name {
		return nil, nil, fmt.Errorf("its ClusterServiceVersion is named %q: want the name of the bundle", csv.Metadata.Name)
	}
	slices.SortStableFunc(others, func(a, b olm.Object) int { return a.Key().Compare(b.Key()) })
	csv.Metadata.Namespace = p.Namespace
	csv.Spec.Replaces = s.Replaces
	csv.Status = olm.CSVStatus{}
	return csv, others, setProperties(csv, s)
}

func newStep(s resolver.Selected, r olm.Resource) (olm.Step, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return olm.Step{}, err
	}
	h := r.Head()
	group, version := "", h.APIVersion
	if g, v, ok := strings.Cut(h.APIVersion, "/"); ok {
		group, version = g, v
	}
	if h.Kind == "" || h.APIVersion == "" {
		return olm.Step{}, fmt.Errorf("an object named %q without kind or apiVersion", h.Metadata.Name)
	}
	return olm.Step{
		Resolving: s.Name, Status: olm.StepUnknown,
		Resource: olm.StepResource{
			SourceName: s.Catalog, SourceNamespace: s.CatalogNamespace,
			Group: group, Version: version, Kind: h.Kind, Name: cmp.Or(h.Metadata.Name, h.Metadata.GenerateName),
			Manifest: string(text),
		},
	}, nil
}

// dependencySubscription returns a step that creates a subscription for a
// dependency that has none, so that it is upgraded too (E3).
func (p *Builder) dependencySubscription(s resolver.Selected) (olm.Step, error) {
	sub := &olm.Subscription{
		Header: olm.Header{APIVersion: olm.V1Alpha1, Kind: olm.KindSubscription, Metadata: olm.Metadata{
			Name: subscriptionName(s), Namespace: p.Namespace,
		}},
		Spec: olm.SubscriptionSpec{
			Source: s.Catalog, SourceNamespace: s.CatalogNamespace, Package: s.Package, Channel: s.Channel,
			StartingCSV: s.Name, InstallPlanApproval: olm.Automatic,
		},
	}
	return newStep(s, sub)
}

// subscriptionName returns OLM's name for the subscription to a dependency (E3,
// H14). Channel names may contain characters that are invalid in names of
// objects. Those are replaced, and a hash of the original name makes the result
// unique.
func subscriptionName(s resolver.Selected) string {
	name := strings.Join([]string{s.Package, s.Channel, s.Catalog, s.CatalogNamespace}, "-")
	if isObjectName(name) {
		return name
	}
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, name)
	sum := sha256.Sum256([]byte(name))
	hash := hex.EncodeToString(sum[:])[:10]
	clean = strings.Trim(clean[:min(len(clean), maxObjectName-len(hash)-1)], "-")
	return strings.TrimPrefix(clean+"-"+hash, "-")
}

// maxObjectName is the maximum length of an object's name.
const maxObjectName = 253

// isObjectName reports whether a name is valid for an object: labels of
// lower-case letters, digits and hyphens, joined by dots (RFC 1123).
func isObjectName(name string) bool {
	if len(name) > maxObjectName {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return true
}
