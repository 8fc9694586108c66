package cli_test

import (
	"os"
	"strings"
	"testing"
)

// TestMalformedImageSets checks that a field that olmkit does not know, or that has another form, is
// reported where it decides what is mirrored.
func TestMalformedImageSets(t *testing.T) {
	t.Chdir(t.TempDir())
	head := "apiVersion: mirror.openshift.io/v2alpha1\nkind: ImageSetConfiguration\nmirror:\n  operators:\n"
	catalog := head + "  - catalog: registry.example.com/catalog:v4.18\n"
	for _, tt := range []struct{ text, want string }{
		{"", "is empty"},
		{"text", "is not an object"},
		{"[]", "is not an object"},
		{"a: [b", "yaml: line 1: did not find expected ',' or ']'"},
		{strings.TrimSpace(head) + " {a: b}", "line 4: /mirror/operators is not a list"},
		{head + "  - text", "line 5: /mirror/operators/0 is not a mapping of fields"},
		{head + "  - catalog: [a]", "line 5: /mirror/operators/0/catalog is not a single value"},
		{catalog + "    full: sure", "line 6: /mirror/operators/0/full is sure; write true or false"},
		{catalog + "    skipDependencies: 1", "line 6: /mirror/operators/0/skipDependencies is 1; write true or false"},
		{catalog + "    headsOnly: false", "line 5: /mirror/operators/0/headsOnly: is a field of v1alpha1; write full: true in place of headsOnly: false, and omit headsOnly: true"},
		{catalog + "    packages: etcd", "line 6: /mirror/operators/0/packages is not a list"},
		{catalog + "    packages: [etcd]", "line 6: /mirror/operators/0/packages/0 is not a mapping of fields"},
		{catalog + "    packages: [{name: etcd, startingVersion: 0.9.2}]", "line 6: /mirror/operators/0/packages/0 has no field startingVersion; its fields are bundles, channels, defaultChannel, maxVersion, minBundle, minVersion, name"},
		{catalog + "    packages: [{name: etcd, channels: [&c {name: stable, MinVersion: 0.9.2}, *c]}]", "line 6: /mirror/operators/0/packages/0/channels/0 has no field MinVersion; its fields are maxVersion, minBundle, minVersion, name"},
		{catalog + "    packages: [{name: etcd, bundles: [etcdoperator.v0.9.4]}]", "line 6: /mirror/operators/0/packages/0/bundles/0 is not a mapping of fields"},
		{catalog + "    targetTag: v1\n    originalRef: a\n    packages: [{name: etcd, channels: , bundles: }]", ""},
	} {
		check(t, os.WriteFile("set.yaml", []byte(tt.text), 0o666))
		_, stderr, code := run(t, "", []string{"subset", "--sample", "--imageset", "set.yaml"}, "", "")
		want, wantCode := "", 0
		if tt.want != "" {
			want, wantCode = "olmkit: --imageset: set.yaml: "+tt.want+"\n", 2
		}
		if stderr != want || code != wantCode {
			t.Errorf("%s\n%sexit code %d, want\n%s", tt.text, stderr, code, want)
		}
	}
}
