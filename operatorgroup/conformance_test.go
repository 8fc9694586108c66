package operatorgroup_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/property"
)

// recorded holds the answers of OLM v0.45.0, next to a checkout.
const recorded = "../../shared/conformance/operatorgroups.jsonl"

// differ lists the cases that are deliberately answered otherwise, with the
// reason. There are none.
var differ = map[string]string{}

type conformanceCase struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Request struct {
		InstallModes []olm.InstallMode `json:"installModes"`
		Namespace    string            `json:"namespace"`
		Targets      []string          `json:"targets"`
		Add          []property.GVK    `json:"add"`
		Group        surface           `json:"group"`
		Others       []surface         `json:"others"`
		APIs         []property.GVK    `json:"apis"`
		Annotation   string            `json:"annotation"`
	} `json:"request"`
	Want struct {
		OK           bool           `json:"ok"`
		Result       string         `json:"result"`
		Intersecting []string       `json:"intersecting"`
		ProvidedAPIs *string        `json:"providedAPIs"`
		Annotation   string         `json:"annotation"`
		APIs         []property.GVK `json:"apis"`
	} `json:"want"`
}

type surface struct {
	Name         string   `json:"name"`
	Namespace    string   `json:"namespace"`
	Targets      []string `json:"targets"`
	ProvidedAPIs string   `json:"providedAPIs"`
}

func (s surface) group() *olm.OperatorGroup {
	g := new(olm.OperatorGroup)
	g.Metadata.Name, g.Metadata.Namespace = s.Name, s.Namespace
	g.Metadata.SetAnnotation(operatorgroup.AnnotationProvidedAPIs, s.ProvidedAPIs)
	g.Status.Namespaces = s.Targets
	return g
}

// The answers of the running OLM for install modes (F2), intersections (F6) and
// the annotation of provided APIs (F5, H21).
func TestConformance(t *testing.T) {
	f, err := os.Open(recorded)
	if err != nil {
		t.Skip("the recorded answers of the running OLM are not part of the project: ", err)
	}
	defer f.Close()
	var total, same int
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c conformanceCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		total++
		if diff := c.diff(); diff == "" {
			same++
		} else if reason, ok := differ[c.ID]; !ok {
			t.Errorf("%s (-OLM +olmkit):\n%s\n%s", c.ID, diff, lines.Bytes())
		} else {
			t.Logf("%s differs: %s", c.ID, reason)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d cases (%.1f %%) answered as by the running OLM, %d deliberately otherwise", same, total, 100*float64(same)/float64(total), len(differ))
}

func (c *conformanceCase) diff() string {
	r := &c.Request
	switch c.Kind {
	case "supports":
		err := operatorgroup.Supports(r.InstallModes, r.Namespace, r.Targets)
		return cmp.Diff(c.Want.OK, err == nil)
	case "annotation":
		return cmp.Diff(c.Want.Annotation, operatorgroup.NewAPIs(r.APIs...).String())
	case "parse":
		got := operatorgroup.ParseAPIs(r.Annotation)
		want := operatorgroup.NewAPIs(c.Want.APIs...)
		return cmp.Diff(c.Want.Annotation, got.String()) + cmp.Diff(want, got)
	case "intersection":
		var others []*olm.OperatorGroup
		for _, o := range r.Others {
			others = append(others, o.group())
		}
		d := operatorgroup.Decide(operatorgroup.NewAPIs(r.Add...), r.Group.group(), others)
		var neighbors []string
		for _, n := range d.Neighbors {
			neighbors = append(neighbors, n.Metadata.Name+"/"+n.Metadata.Namespace)
		}
		slices.Sort(neighbors)
		slices.Sort(c.Want.Intersecting)
		if len(neighbors) == 0 {
			neighbors = []string{}
		}
		diff := cmp.Diff(c.Want.Result, string(d.Action)) + cmp.Diff(c.Want.Intersecting, neighbors)
		if c.Want.ProvidedAPIs != nil {
			diff += cmp.Diff(*c.Want.ProvidedAPIs, d.APIs.String())
		}
		return diff
	}
	return "unknown kind " + c.Kind
}
