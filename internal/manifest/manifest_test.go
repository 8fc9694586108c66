package manifest

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/yamljson"
)

func TestClusterServiceVersion(t *testing.T) {
	for _, tt := range []struct {
		name, manifest, want, err string
	}{
		{name: "JSON", manifest: `{"kind":"ClusterServiceVersion","spec":{}}`, want: `{"kind":"ClusterServiceVersion","spec":{}}`},
		{name: "YAML", manifest: "kind: ClusterServiceVersion\nspec: {displayName: Etcd}\n", want: `{"kind":"ClusterServiceVersion","spec":{"displayName":"Etcd"}}`},
		{name: "another kind", manifest: `{"kind":"Service"}`},
		{name: "another kind that mentions it", manifest: `{"kind":"ConfigMap","data":{"owner":"ClusterServiceVersion"}}`},
		{name: "a list", manifest: `["ClusterServiceVersion"]`, err: "not an object"},
		{name: "neither", manifest: "a: b: ClusterServiceVersion", err: "not YAML"},
		{name: "nothing", manifest: ""},
	} {
		got, err := ClusterServiceVersion(t.Context(), []byte(`{"data":"`+base64.StdEncoding.EncodeToString([]byte(tt.manifest))+`"}`))
		if string(got) != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got %s, %v; want %s, %s", tt.name, got, err, tt.want, tt.err)
		}
	}
	for _, value := range []string{`{"data":"%"}`, `{"data":1}`, `"text"`, ``} {
		if got, err := ClusterServiceVersion(t.Context(), []byte(value)); err == nil {
			t.Errorf("of %s it returns %s", value, got)
		}
	}
}

// The expansion of aliases in a manifest is limited (S1).
func TestManifestExpansion(t *testing.T) {
	text := "kind: ClusterServiceVersion\nx: &a " + strings.Repeat("A", 1<<16) + "\ny: [" + strings.Repeat("*a,", 1100) + "]\n"
	var limit *yamljson.LimitError
	if _, err := ClusterServiceVersion(t.Context(), []byte(`{"data":"`+base64.StdEncoding.EncodeToString([]byte(text))+`"}`)); !errors.As(err, &limit) {
		t.Errorf("got %v", err)
	}
	text = "%TAG !e! tag:x\n---\nkind: ClusterServiceVersion\nx: !e!y z\n"
	if _, err := ClusterServiceVersion(t.Context(), []byte(`{"data":"`+base64.StdEncoding.EncodeToString([]byte(text))+`"}`)); err == nil || !strings.Contains(err.Error(), "%TAG") {
		t.Errorf("with a directive for tags: %v", err)
	}
}
