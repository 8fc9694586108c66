package resolver

import (
	"cmp"
	"slices"
)

// apply returns the problem after the change.
func (c Change) apply(p Problem) Problem {
	subs := slices.Clone(p.Subscriptions)
	at := slices.IndexFunc(subs, func(s Subscription) bool { return s.Name == c.Subscription && c.Subscription != "" })
	p.Subscriptions = subs
	switch c.Kind {
	case AddCatalog:
		switch {
		case c.Catalog != (CatalogID{}):
			p.Catalogs = slices.Clone(p.Catalogs)
			for i := range p.Catalogs {
				if p.Catalogs[i].ID() == c.Catalog {
					p.Catalogs[i].Namespace = c.To
				}
			}
			if at >= 0 {
				subs[at].CatalogNamespace = c.To
			}
		case at >= 0: // the new bundle obeys the policies, unless none can
			p.Policies = slices.DeleteFunc(slices.Clone(p.Policies), func(x Policy) bool { return x.Package == subs[at].Package && !x.Hold })
		}
	case ChangePackage:
		subs[at].Package, subs[at].Channel = c.To, cmp.Or(c.Channel, subs[at].Channel)
	case ChangeStartingCSV:
		subs[at].StartingCSV = c.To
	case ClearStartingCSV:
		subs[at].StartingCSV = ""
	case ChangeChannel:
		subs[at].Channel = c.To
		if subs[at].StartingCSV = cmp.Or(c.StartingCSV, subs[at].StartingCSV); c.DropStartingCSV {
			subs[at].StartingCSV = ""
		}
	case ChangeCatalog:
		subs[at].Catalog, subs[at].CatalogNamespace = c.Catalog.Name, c.Catalog.Namespace
		subs[at].StartingCSV = cmp.Or(c.StartingCSV, subs[at].StartingCSV)
		subs[at].Channel = cmp.Or(c.Channel, subs[at].Channel)
	case Reinstall:
		subs[at].Channel, subs[at].InstalledCSV, subs[at].StartingCSV = c.Channel, "", ""
		if c.Catalog != (CatalogID{}) {
			subs[at].Catalog, subs[at].CatalogNamespace = c.Catalog.Name, c.Catalog.Namespace
		}
	case DropSubscription, RemoveSubscribed:
		if at < 0 { // it is held, and not part of the problem
			break
		}
		p.Subscriptions = slices.Delete(subs, at, at+1)
	case AdoptOperator:
		if at >= 0 {
			subs[at].InstalledCSV = c.Operator
			break
		}
		p.Subscriptions = append(subs, Subscription{
			Name: c.Subscription, Package: c.To, Catalog: c.Catalog.Name, CatalogNamespace: c.Catalog.Namespace, InstalledCSV: c.Operator,
		})
	case ChangeTargets:
		p.OperatorGroup = &OperatorGroup{TargetNamespaces: []string{c.To}}
	case ChangePin:
		p.Policies = slices.Clone(p.Policies)
		for i := range p.Policies {
			if p.Policies[i] == c.Rule {
				p.Policies[i].Pin = c.To
			}
		}
	case ExcludeNewer:
		p.Policies = slices.Clone(p.Policies)
		for i := range p.Policies {
			if p.Policies[i] == c.Rule {
				p.Policies[i].Pin, p.Policies[i].Exclude = "", c.To
			}
		}
	case LiftPolicy:
		p.Policies = slices.DeleteFunc(slices.Clone(p.Policies), func(x Policy) bool { return x == c.Rule })
	}
	if c.Kind == RemoveOperator || c.Kind == RemoveSubscribed || c.Kind == Reinstall {
		p.Installed = slices.DeleteFunc(slices.Clone(p.Installed), func(in Installed) bool { return in.Name == c.Operator })
	}
	return p
}
