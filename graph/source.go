package graph

import "slices"

// A Source is a catalog in which a subscription looks for updates.
type Source struct {
	Name    string
	Catalog *Catalog
}

// A Precedence is one of the four places of document 003 where an update may
// come from (B4), in the order in which they are tried.
type Precedence int

// The places.
const (
	OwnHead   Precedence = 1 + iota // the channel's head in the subscription's source
	OwnNext                         // the next operator in that source
	OtherHead                       // the channel's head in another visible source
	OtherNext                       // the next operator in any visible source
)

// String says where the update comes from.
func (p Precedence) String() string {
	switch p {
	case OwnHead:
		return "head of the channel in the subscription's source"
	case OwnNext:
		return "next in the subscription's source"
	case OtherHead:
		return "head of the channel in another source"
	case OtherNext:
		return "next in another source"
	}
	return "none"
}

// An Update is a classic step together with the source that offers it.
type Update struct {
	Step
	Source     Source
	Precedence Precedence
}

// UpdatesFrom returns what may follow an installed operator of a package in a
// channel, the preferred first (B4): for the subscription's own source, then for
// all others, the head if it admits the installed operator, then the entries
// nearer to the head before those farther from it. Sources are asked in the order
// given, the first of them being the subscription's own. The running OLM, for a
// subscription that names its source, asks no other: give it one. The error is an
// [Upgrades.Err].
func UpdatesFrom(installed Node, pkg, channel string, sources ...Source) ([]Update, error) {
	var out []Update
	for i, s := range sources {
		p, ok := s.Catalog.Package(pkg)
		if !ok {
			continue
		}
		u := p.Upgrades(Classic, &UpgradeOptions{Channels: []string{channel}, Installed: []Node{installed}})
		if u.Err() != nil {
			return nil, u.Err()
		}
		heads := u.Heads()
		for step := range u.Steps(installed) {
			x := Update{Step: step, Source: s, Precedence: OwnNext}
			if slices.Contains(heads, step.To) {
				x.Precedence = OwnHead
			}
			if i > 0 {
				x.Precedence += OtherHead - OwnHead
			}
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(x, y Update) int { return int(x.Precedence) - int(y.Precedence) })
	return out, nil
}
