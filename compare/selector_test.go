package compare_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// TestSelectorsLikeKubernetes compares the selectors of operator groups (F1) and of catalogs (C6) with
// LabelSelectorAsSelector, for random selectors and labels. Many of the selectors are invalid.
func TestSelectorsLikeKubernetes(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 7))
	cases := testsize.Of(10_000, 100_000, 1_000_000)
	refused, matched, empty := 0, 0, 0
	for range cases {
		s := randomSelector(r)
		namespace := &olm.Namespace{Header: olm.Header{Metadata: olm.Metadata{Name: "n", Labels: randomLabels(r)}}}
		peer, peerErr := metav1.LabelSelectorAsSelector(s)
		want := peerErr == nil && peer.Matches(labels.Set(namespace.Metadata.Labels))

		g, c := selectors(s)
		for _, named := range [][]string{nil, {"named"}} {
			g.Spec.TargetNamespaces = named
			targets, err := operatorgroup.Targets(g, []*olm.Namespace{namespace})
			wantTargets := []string{}
			switch {
			case peerErr != nil:
				wantTargets = nil
			case named != nil:
				wantTargets = named
			case s == nil || peer.Empty(): // like OLM's getOperatorGroupTargets
				wantTargets = []string{operatorgroup.AllNamespaces}
			case want:
				wantTargets = []string{"n"}
			}
			if (err == nil) != (peerErr == nil) || !reflect.DeepEqual(targets, wantTargets) {
				t.Fatalf("selector %+v, labels %v: targets %q, %v; Kubernetes: %q, %v", s, namespace.Metadata.Labels, targets, err, wantTargets, peerErr)
			}
		}
		if s == nil {
			continue // matches nothing in Kubernetes; a request without a selector uses all catalogs
		}
		if err := c.Validate(); (err == nil) != (peerErr == nil) {
			t.Fatalf("selector %+v: %v; Kubernetes: %v", s, err, peerErr)
		}
		if got := c.Matches(namespace.Metadata.Labels); got != want {
			t.Fatalf("selector %+v, labels %v: %v; Kubernetes: %v", s, namespace.Metadata.Labels, got, want)
		}
		switch {
		case peerErr != nil:
			refused++
		case peer.Empty():
			empty++
		case want:
			matched++
		}
	}
	t.Logf("%d selectors: %d refused, %d empty, %d matched", cases, refused, empty, matched)
	for _, n := range []int{refused, matched, empty} {
		if n < cases/100 {
			t.Errorf("too few cases: %d refused, %d empty, %d matched", refused, empty, matched)
		}
	}
}

// selectors returns the same selector for an operator group and for a request.
func selectors(s *metav1.LabelSelector) (*olm.OperatorGroup, *olmv1.LabelSelector) {
	g := &olm.OperatorGroup{}
	if s == nil {
		return g, nil
	}
	g.Spec.Selector = &olm.LabelSelector{MatchLabels: s.MatchLabels}
	c := &olmv1.LabelSelector{MatchLabels: s.MatchLabels}
	for _, x := range s.MatchExpressions {
		g.Spec.Selector.MatchExpressions = append(g.Spec.Selector.MatchExpressions, olm.LabelSelectorRequirement{Key: x.Key, Operator: string(x.Operator), Values: x.Values})
		c.MatchExpressions = append(c.MatchExpressions, olmv1.LabelRequirement{Key: x.Key, Operator: string(x.Operator), Values: x.Values})
	}
	return g, c
}

// Texts that are valid in Kubernetes, or nearly.
var (
	selectorKeys      = []string{"a", "b", "x.io/a"}
	selectorValues    = []string{"", "x", "y"}
	selectorOperators = []metav1.LabelSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist"}

	oddKeys      = []string{"X.io/a", "/a", "a/", "", "a/b/c", "-a", "a-", "a_.-b", "é", "a\n", "x..io/a", long(63), long(64), long(253) + "/a", long(254) + "/a"}
	oddValues    = []string{"1", "-", "x-", "x y", "x\n", "é", "a/b", "A_.-b", long(63), long(64)}
	oddOperators = []metav1.LabelSelectorOperator{"", "in", "Equals", "=", "!", "Gt", "exists"}
)

func long(n int) string { return fmt.Sprintf("%0*d", n, 0) }

func randomSelector(r *rand.Rand) *metav1.LabelSelector {
	if r.IntN(20) == 0 {
		return nil
	}
	s := &metav1.LabelSelector{}
	if r.IntN(3) == 0 {
		s.MatchLabels = randomLabels(r)
	}
	for range r.IntN(3) {
		x := metav1.LabelSelectorRequirement{Key: pick(r, selectorKeys, oddKeys), Operator: pick(r, selectorOperators, oddOperators)}
		switch r.IntN(4) {
		case 0:
			x.Values = []string{}
		case 1, 2:
			for range 1 + r.IntN(2) {
				x.Values = append(x.Values, pick(r, selectorValues, oddValues))
			}
		}
		s.MatchExpressions = append(s.MatchExpressions, x)
	}
	return s
}

func randomLabels(r *rand.Rand) map[string]string {
	out := map[string]string{}
	for range r.IntN(3) {
		out[pick(r, selectorKeys, oddKeys)] = pick(r, selectorValues, oddValues)
	}
	return out
}

// pick returns one of the usual texts, or sometimes an unusual one.
func pick[T any](r *rand.Rand, usual, odd []T) T {
	if r.IntN(20) == 0 {
		return odd[r.IntN(len(odd))]
	}
	return usual[r.IntN(len(usual))]
}
