package crd_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/olmkit/olmkit/kube/crd"
	"github.com/olmkit/olmkit/kube/internal/envtest"
	"github.com/olmkit/olmkit/olm"
)

// E7: Check reports the same fields and messages as an API server. The API
// server also rejects the schemas that Check rejects.
func TestServer(t *testing.T) {
	config := envtest.Run(t)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	crds := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	create := func(i int, schema string) (group string, err error) {
		group = fmt.Sprintf("c%d.x.io", i)
		text := strings.NewReplacer("things.x.io", "things."+group, "group: x.io", "group: "+group).Replace(crdText(versionOf(schema)))
		_, err = crds.Create(t.Context(), fromYAML[unstructured.Unstructured](t, text), metav1.CreateOptions{})
		return group, err
	}
	groups := make([]string, len(checkCases))
	for i, c := range checkCases { // create all CRDs first, because it takes a while until they are served
		if groups[i], err = create(i, c.schema); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
	}
	for i, c := range checkCases {
		group := groups[i]
		things := client.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "things"}).Namespace("default")
		var got, want []string
		for _, o := range c.resources(t) {
			want = append(want, refused(t, c.schema, o.Metadata.Name, c.specs[len(want)]))
		}
		for j, s := range c.specs {
			o := fromYAML[unstructured.Unstructured](t, fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: t%d}, spec: %s}", group, j, s))
			var err error
			if e := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
				_, err = things.Create(ctx, o, metav1.CreateOptions{})
				return !apierrors.IsNotFound(err), nil
			}); e != nil {
				t.Fatal(e)
			}
			got = append(got, causes(t, err))
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s (-server +Check):\n%s", c.name, diff)
		}
	}
	for i, c := range invalidSchemas {
		if _, err := create(1000+i, c.schema); err == nil {
			t.Errorf("%s: the server accepts the schema", c.name)
		}
	}
}

// refused returns the results of Check for an object, in the format of causes.
func refused(t *testing.T, schema, name, spec string) string {
	list, err := crd.Check(t.Context(), crdOf(t, versionOf(schema)), []olm.Object{thing(t, name, spec)})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, v := range list {
		if !v.Unchecked {
			out = append(out, v.Path+": "+v.Message)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// causes returns the causes of an error of the API server.
func causes(t *testing.T, err error) string {
	var status apierrors.APIStatus
	if err == nil {
		return ""
	}
	if !errors.As(err, &status) || status.Status().Details == nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range status.Status().Details.Causes {
		if !strings.Contains(c.Message, "some validation rules were not checked") {
			out = append(out, strings.TrimPrefix(c.Field, "<nil>")+": "+c.Message)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "\n")
}
