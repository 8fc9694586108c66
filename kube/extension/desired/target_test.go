package desired

import (
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/rollout"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

func revision(version string) *rollout.Revision {
	return &rollout.Revision{Bundle: rollout.Bundle{Name: "etcd.v" + version, Package: "etcd", Version: version, Image: "etcd:" + version}}
}

// What an extension should have while a revision rolls out, and if nothing can be selected.
func TestTarget(t *testing.T) { // K67, K105
	one, two, three := revision("1.0.0"), revision("1.1.0"), revision("1.2.0")
	catalog := []olmv1.Catalog{{Name: "community"}}
	unavailable := []olmv1.Catalog{{Name: "community", Unavailable: true}}
	failed := func(version string, catalogs []olmv1.Catalog) *Decision {
		return &Decision{Err: errors.New("nothing"), Request: olmv1.Request{Package: "etcd", Version: version, Catalogs: catalogs}}
	}
	content, err := graph.LoadReader(t.Context(), strings.NewReader(`{"schema":"olm.package","name":"etcd","defaultChannel":"stable"}
{"schema":"olm.channel","package":"etcd","name":"stable","entries":[{"name":"etcd.v1.3.0"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.3.0","image":"etcd:1.3.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.3.0"}}]}`), "catalog", nil)
	if err != nil {
		t.Fatal(err)
	}
	pkg, _ := content.Package("etcd")
	bundle, _ := pkg.Bundle("etcd.v1.3.0")
	selected := &Decision{Selection: &olmv1.Selection{Bundle: "etcd.v1.3.0", Version: "1.3.0", Graph: bundle}, Request: olmv1.Request{Package: "etcd"}}
	for name, test := range map[string]struct {
		installed *rollout.Revision
		rolling   []*rollout.Revision
		decision  *Decision
		want      string
	}{
		"selected":                         {nil, nil, selected, "1.3.0"},
		"an upgrade":                       {one, nil, selected, "1.3.0"},
		"rolling out":                      {one, []*rollout.Revision{two, three}, nil, "1.1.0"},
		"nothing installed":                {nil, nil, failed("", nil), ""},
		"no catalog":                       {one, nil, failed("", nil), "1.0.0"},
		"no catalog, the same version":     {one, nil, failed("1.0.0", nil), "1.0.0"},
		"no catalog, a range":              {one, nil, failed("1.0.x", nil), ""},
		"no catalog, another version":      {one, nil, failed("1.1.0", nil), ""},
		"a catalog without the package":    {one, nil, failed("", catalog), ""},
		"a catalog that is not served now": {one, nil, failed("", unavailable), ""},
		"an invalid extension":             {one, nil, &Decision{Err: errors.New("invalid")}, ""},
	} {
		b, err := Target(test.installed, test.rolling, test.decision)
		got := ""
		if b != nil {
			got = b.Version
		}
		if b != nil && b.Image != "etcd:"+b.Version {
			t.Errorf("%s: image %q", name, b.Image)
		}
		if got != test.want || (b == nil) != (err != nil) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
		}
	}
}
