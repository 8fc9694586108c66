package clusterstatus_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/olmkit/olmkit/internal/clusterstatus"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
)

// E39: copies are complete if each operator for all namespaces has a copy in every other
// namespace, or none if they are disabled.
func TestCopies(t *testing.T) {
	at := time.Date(2026, 11, 26, 12, 0, 0, 5, time.UTC)
	var x clusterstatus.Copies
	for _, name := range []string{"a", "b", "ops"} {
		x.Namespaces = append(x.Namespaces, &olm.Namespace{Header: olm.Header{Metadata: olm.Metadata{Name: name}}})
	}
	group := &olm.OperatorGroup{Header: olm.Header{Metadata: olm.Metadata{Name: "g", Namespace: "ops"}}}
	group.Status.Namespaces = []string{""}
	x.Groups = []*olm.OperatorGroup{group}
	csv := &olm.ClusterServiceVersion{Header: olm.Header{Metadata: olm.Metadata{Name: "etcd", Namespace: "ops", Annotations: map[string]string{
		"olm.operatorGroup": "g", "olm.operatorNamespace": "ops", "olm.targetNamespaces": "",
	}}}}
	csv.Spec.InstallModes = []olm.InstallMode{{Type: "AllNamespaces", Supported: true}}
	csv.Status.Phase = olm.PhaseSucceeded
	copies := operatorgroup.Copies(csv, group, x.Namespaces, operatorgroup.CopyAll)
	if len(copies) != 2 {
		t.Fatalf("%d copies, want 2", len(copies))
	}
	yes := true
	disabled := &olm.Features{DisableCopiedCSVs: &yes}
	for _, c := range []struct {
		features       *olm.Features
		csvs           []*olm.ClusterServiceVersion
		status, reason string
		message        string
	}{
		{nil, copies, "False", "CopiedCSVsEnabled", "present across the cluster"},
		{nil, copies[:1], "False", "CopiedCSVsEnabled", "at least one copied CSVs is missing"},
		{disabled, nil, "True", "CopiedCSVsDisabled", "no unexpected copied CSVs"},
		{disabled, copies[:1], "False", "CopiedCSVsDisabled", "at least one unexpected copied CSV"},
	} {
		config := &olm.OLMConfig{}
		config.Spec.Features = c.features
		config.Status.Conditions = []olm.Condition{{Type: "Other", Status: "True"}}
		x.CSVs = append([]*olm.ClusterServiceVersion{csv}, c.csvs...)
		if !x.Apply(config, at) || x.Apply(config, at.Add(time.Hour)) {
			t.Errorf("%s: want one change", c.message)
		}
		got, _ := olm.FindCondition(config.Status.Conditions, clusterstatus.CopiesCondition)
		if got.Status != c.status || got.Reason != c.reason || !strings.Contains(got.Message, c.message) || !got.LastTransitionTime.Equal(at.Truncate(time.Second)) || len(config.Status.Conditions) != 2 {
			t.Errorf("the conditions are %+v, want %s, %s: %s", config.Status.Conditions, c.status, c.reason, c.message)
		}
	}
}

// E8: a CatalogSource whose spec names no readable catalog has OLM's reason, unless it has an
// image template, whose reason the plan of the namespace writes and clears.
func TestUnreadable(t *testing.T) {
	for _, c := range []struct {
		spec        olm.CatalogSourceSpec
		annotations map[string]string
		want        string
	}{
		{olm.CatalogSourceSpec{SourceType: "internal"}, nil, "SpecInvalidError"},
		{olm.CatalogSourceSpec{SourceType: "grpc", Address: "x.olm.svc:50051"}, nil, "SpecInvalidError"},
		{olm.CatalogSourceSpec{}, nil, "SpecInvalidError"},
		{olm.CatalogSourceSpec{}, map[string]string{olm.AnnotationImageTemplate: "quay.example/c:v{kube_major_version}"}, "RegistryServerError"},
		{olm.CatalogSourceSpec{Image: "quay.example/c"}, nil, ""},
		{olm.CatalogSourceSpec{Address: "https://catalogs.example"}, nil, ""},
	} {
		source := &olm.CatalogSource{Spec: c.spec}
		source.Metadata.Annotations = c.annotations
		got := ""
		if _, _, err := clusterstatus.Location(source); err != nil {
			got = clusterstatus.Unreadable(source, "", err, true).Reason
		}
		if got != c.want {
			t.Errorf("%+v: the reason is %q, want %q", c.spec, got, c.want)
		}
	}
	if got := clusterstatus.Unreadable(&olm.CatalogSource{}, "image x", errors.New("no"), false); got.Reason != "RegistryServerError" || got.State != clusterstatus.Failing || got.Address != "image x" {
		t.Errorf("the connection is %+v", got)
	}
}
