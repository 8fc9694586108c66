package graph

// A Disagreement is a node that classic OLM and OLM v1 take elsewhere (G4).
type Disagreement struct {
	From Node `json:"from"`
	// Classic and V1 are the steps that each takes next, nil when it stays.
	Classic *Step `json:"classic"`
	V1      *Step `json:"v1"`
	// OnlyClassic and OnlyV1 are the nodes that some steps reach under one
	// reading only.
	OnlyClassic []Node `json:"onlyClassic,omitempty"`
	OnlyV1      []Node `json:"onlyV1,omitempty"`
}

// Disagreements returns the nodes from which the next steps of the two readings
// lead to different bundles, or which reach other nodes under one than under the
// other, in the order of [Upgrades.Nodes]. The same options hold for both. There are none
// where one has an [Upgrades.Err].
func (p Package) Disagreements(opts *UpgradeOptions) []Disagreement {
	classic, v1 := p.Upgrades(Classic, opts), p.Upgrades(V1, opts)
	var out []Disagreement
	for from := range v1.Nodes() {
		d := Disagreement{From: from}
		if s, ok := classic.Next(from); ok && s.To != from {
			d.Classic = &s
		}
		if s, ok := v1.Next(from); ok {
			d.V1 = &s
		}
		d.OnlyClassic = only(classic, v1, from)
		d.OnlyV1 = only(v1, classic, from)
		next := (d.Classic == nil) != (d.V1 == nil) || d.Classic != nil && d.Classic.To != d.V1.To
		if next || len(d.OnlyClassic) > 0 || len(d.OnlyV1) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// only returns what a reaches from a node and b does not.
func only(a, b *Upgrades, from Node) []Node {
	reached := map[Node]bool{}
	for n := range b.Reachable(from) {
		reached[n] = true
	}
	var out []Node
	for n := range a.Reachable(from) {
		if !reached[n] {
			out = append(out, n)
		}
	}
	return out
}
