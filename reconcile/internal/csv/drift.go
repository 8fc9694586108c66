package csv

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/generated"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// Deployments that were changed, and service accounts and roles that were changed or
// deleted, are restored to what the CSV specifies. The running OLM only compares its
// label on the deployment. Other objects of a bundle, such as Services, ConfigMaps
// and CRDs, are created by the install plan and then left to their users.

// annotationRestored holds the hash of the spec that a deployment had before it was
// restored. If it has that spec again, something else, such as a webhook, controls it, and
// restoring it would never end.
const annotationRestored = "olmkit/restored-from"

// drift returns the JSON pointer of the first part of the desired spec that a deployment
// lacks, or "". Additions by the API server or others are ignored.
func (p *planner) drift(want, have *olm.Deployment) string {
	var w, h any
	if olm.Unmarshal(want.Spec, &w) != nil || olm.Unmarshal(have.Spec, &h) != nil {
		return "" // an invalid spec is never written
	}
	if m, ok := h.(map[string]any); !ok || m["template"] == nil {
		return "" // every deployment has a spec, so this one was not read
	}
	at, ok := lacks(w, h, "", false)
	if !ok {
		return ""
	}
	if have.Metadata.Annotations[annotationRestored] == specHash(have.Spec) {
		p.Note(have.Key(), "%s differs from the operator's specification; it was already reverted once and changed again, so it is left as it is; stop the changes, then delete the deployment to have it recreated", at)
		return ""
	}
	return at
}

// sameSelector reports whether two deployments select the same pods. A selector that was
// not read counts as equal.
func sameSelector(want, have *olm.Deployment) bool {
	var w, h struct {
		Selector any `json:"selector"`
	}
	if olm.Unmarshal(want.Spec, &w) != nil || olm.Unmarshal(have.Spec, &h) != nil || h.Selector == nil {
		return true
	}
	_, less := lacks(w.Selector, h.Selector, "", false)
	_, more := lacks(h.Selector, w.Selector, "", false)
	return !less && !more
}

func specHash(spec []byte) string {
	v := jsontext.Value(slices.Clone(spec))
	if v.Canonicalize() != nil {
		v = spec
	}
	sum := sha256.Sum256(v)
	return hex.EncodeToString(sum[:8])
}

// lacks returns the JSON pointer of the first element of want, in the order of names, that is
// missing in have, and whether there is one. Objects may have more members, but lists must
// have the same length. Empty and missing values are equal, because an API server drops many
// empty values.
func lacks(want, have any, at string, quantities bool) (string, bool) {
	if have == nil && isEmpty(want) {
		return "", false
	}
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return at, true
		}
		for _, name := range slices.Sorted(maps.Keys(w)) {
			path := at + "/" + strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
			if path, ok := lacks(w[name], h[name], path, quantities || holdsQuantities(name)); ok {
				return path, true
			}
		}
		return "", false
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return at, true
		}
		for i := range w {
			if path, ok := lacks(w[i], h[i], at+"/"+strconv.Itoa(i), quantities); ok {
				return path, true
			}
		}
		return "", false
	}
	if want == have || quantities && sameQuantity(want, have) {
		return "", false
	}
	return at, true
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(v)), func(x any) bool { return !isEmpty(x) })
	case []any:
		return len(v) == 0
	}
	return v == "" || v == false || v == 0.0
}

// holdsQuantities reports whether the values below a member are quantities, such as 1Gi,
// which an API server normalizes.
func holdsQuantities(name string) bool {
	switch name {
	case "limits", "requests", "sizeLimit", "divisor", "overhead":
		return true
	}
	return false
}

func sameQuantity(a, b any) bool {
	x, ok1 := quantity(fmt.Sprint(a))
	y, ok2 := quantity(fmt.Sprint(b))
	return ok1 && ok2 && x.Cmp(y) == 0
}

// quantity reads a number with a suffix of Kubernetes.
func quantity(s string) (*big.Rat, bool) {
	number := strings.TrimRight(s, "numkKMGTPEi")
	suffix := s[len(number):]
	var factor big.Rat
	switch i := strings.Index("num", suffix); {
	case suffix == "":
		factor.SetInt64(1)
	case i >= 0 && len(suffix) == 1:
		factor.SetFrac64(1, []int64{1e9, 1e6, 1e3}[i])
	case suffix == "k":
		factor.SetInt64(1000)
	default:
		power := strings.Index("KMGTPE", suffix[:1]) + 1
		base := int64(1000)
		if strings.HasSuffix(suffix, "i") {
			base = 1024
		}
		if power == 0 || len(suffix) > 2 || len(suffix) == 2 && base == 1000 {
			return nil, false
		}
		factor.SetInt(new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(power)), nil))
	}
	if len(number) > 64 || strings.ContainsAny(number, "/_xXpP") {
		return nil, false
	}
	if _, exp, ok := strings.Cut(strings.ToLower(number), "e"); ok && len(exp) > 3 {
		return nil, false // larger than any real quantity
	}
	v, ok := new(big.Rat).SetString(number)
	if !ok {
		return nil, false
	}
	return v.Mul(v, &factor), true
}

// restorePermissions restores the service accounts and the roles of an operator that ran
// before, and reports whether nothing had to be restored. An install plan created them, and
// nothing else would recreate them. If the operator group names a service account, nothing is
// restored: that is left to the owner of the account.
func (p *planner) restorePermissions(c *olm.ClusterServiceVersion) (settled bool, err error) {
	gs := p.Groups()
	if !p.isInstalled(c) || p.Coming(c.Key()) || len(gs) != 1 || gs[0].Spec.ServiceAccountName != "" {
		return true, nil
	}
	rbac, err := operatorgroup.Permissions(c)
	if err != nil {
		return false, err
	}
	const rule, why = "E3", "the operator's permissions, which were changed or deleted"
	settled = true
	for _, name := range rbac.ServiceAccounts {
		if name == "default" || p.HasServiceAccount(name) || !p.IsRead(world.KindServiceAccount, name) {
			continue
		}
		settled = false
		account := generated.ServiceAccount(p.Namespace, name)
		account.Metadata.Labels = map[string]string{ownerlabel.Managed: "true"}
		account.Metadata.OwnerReferences = []olm.OwnerReference{olm.OwnedBy(c)}
		if err := p.Emit(change.Create, account, c.Key(), nil, rule, why); err != nil {
			return false, err
		}
	}
	var all []olm.Resource
	all = generated.AppendAll(all, rbac.Roles)
	all = generated.AppendAll(all, rbac.RoleBindings)
	all = generated.AppendAll(all, rbac.ClusterRoles)
	all = generated.AppendAll(all, rbac.ClusterRoleBindings)
	for _, r := range all {
		if k := r.Head().Key(); p.Object(k) == nil && !p.Knows(olm.GroupKind{Group: k.Group, Kind: k.Kind}) {
			continue
		}
		ok, _, err := p.EnsureShared(r, c.Key(), rule, why)
		if err != nil {
			return false, err
		}
		settled = settled && ok
	}
	return settled, nil
}

// isBeyondRestoring reports whether a requirement is missing that restorePermissions does
// not restore.
func isBeyondRestoring(r olm.RequirementStatus) bool { return !isMet(r) && r.Kind != "ServiceAccount" }

// isInstalled reports whether an install plan created a CSV and its operator ran before.
func (p *planner) isInstalled(c *olm.ClusterServiceVersion) bool {
	planned := world.IsPlanned(c) || slices.ContainsFunc(p.Subscriptions, func(s *olm.Subscription) bool {
		return s.Status.InstalledCSV == c.Metadata.Name
	})
	return planned && (c.Status.Phase == olm.PhaseSucceeded || slices.ContainsFunc(c.Status.Conditions, func(x olm.CSVCondition) bool {
		return x.Phase == olm.PhaseSucceeded
	}))
}

// refusal describes the changes for an operator that the cluster refused in the last pass.
func (p *planner) refusal(k olm.Key) string {
	var parts []string
	for _, r := range p.Refusals {
		if r.For == k && r.Runs {
			parts = append(parts, fmt.Sprintf("%s: %s", r.Key, r.Message))
		}
	}
	return strings.Join(parts, "; ")
}

// wasRefused reports whether the cluster refused a change for running an operator in
// the last pass.
func (p *planner) wasRefused(k olm.Key) bool {
	return slices.ContainsFunc(p.Refusals, func(r world.Refusal) bool { return r.For == k && r.Runs })
}
