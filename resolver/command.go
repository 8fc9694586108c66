package resolver

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/jq"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/prose"
)

// commands returns the commands that make some changes in the namespace of a problem, or nil
// if one of the changes has no command.
func commands(p *Problem, changes []Change) (list []string) {
	for _, c := range changes {
		made := c.commands(p.Namespace)
		switch {
		case c.Rule != (Policy{}):
			made = c.edits(p)
		case c.Kind == AddCatalog && c.Catalog == (CatalogID{}):
			made = c.addition(p)
		}
		if made == nil {
			return nil
		}
		for _, command := range made {
			if !slices.Contains(list, command) { // one catalog can have all that is missing
				list = append(list, command)
			}
		}
	}
	return list
}

func (c *Change) commands(namespace string) []string {
	const subscription, csv = "subscription.operators.coreos.com", "clusterserviceversion"
	patch := func(spec map[string]any) []string {
		return []string{kubectl.Patch(subscription, namespace, c.Subscription, spec)}
	}
	switch c.Kind {
	case ChangePackage:
		spec := map[string]any{"name": c.To}
		if c.Channel != "" {
			spec["channel"] = c.Channel
		}
		return patch(spec)
	case ChangeStartingCSV:
		if c.Manual {
			return append(patch(map[string]any{"startingCSV": c.To, "installPlanApproval": "Manual"}), kubectl.Operator{Namespace: namespace, Name: c.Subscription}.Approve())
		}
		return patch(map[string]any{"startingCSV": c.To})
	case ClearStartingCSV:
		return patch(map[string]any{"startingCSV": nil})
	case ChangeChannel:
		spec := map[string]any{"channel": c.To}
		switch {
		case c.DropStartingCSV:
			spec["startingCSV"] = nil
		case c.StartingCSV != "":
			spec["startingCSV"] = c.StartingCSV
		}
		if c.Manual {
			spec["installPlanApproval"] = "Manual"
		}
		return patch(spec)
	case ChangeCatalog:
		spec := map[string]any{"source": c.Catalog.Name, "sourceNamespace": c.Catalog.Namespace}
		if c.Channel != "" {
			spec["channel"] = c.Channel
		}
		if c.StartingCSV != "" {
			spec["startingCSV"] = c.StartingCSV
		}
		return patch(spec)
	case DropSubscription:
		return []string{kubectl.Delete(subscription, namespace, c.Subscription)}
	case RemoveSubscribed:
		return []string{kubectl.Delete(subscription, namespace, c.Subscription), kubectl.Delete(csv, namespace, c.Operator)}
	case AdoptOperator:
		own := kubectl.PatchStatus(subscription, namespace, c.Subscription, map[string]any{
			"installedCSV": c.Operator, "currentCSV": c.Operator, "state": "AtLatestKnown", "lastUpdated": "1970-01-01T00:00:00Z",
		})
		if c.To == "" {
			return []string{own}
		}
		return []string{
			kubectl.Apply(object("Subscription", c.Subscription, namespace, map[string]any{
				"name": c.To, "source": c.Catalog.Name, "sourceNamespace": cmp.Or(c.Catalog.Namespace, namespace),
			})),
			own,
		}
	case Reinstall: // OLM does not restore a deleted operator of a subscription
		spec := map[string]any{"channel": c.Channel, "startingCSV": nil}
		if c.Catalog != (CatalogID{}) {
			spec["source"], spec["sourceNamespace"] = c.Catalog.Name, c.Catalog.Namespace
		}
		return []string{kubectl.Delete(csv, namespace, c.Operator), kubectl.Recreate(subscription, namespace, c.Subscription, spec)}
	case ChangeTargets:
		spec := map[string]any{"selector": nil, "targetNamespaces": nil}
		if c.To != "" {
			spec["targetNamespaces"] = []string{c.To}
		}
		return []string{kubectl.PatchOnly("operatorgroup.operators.coreos.com", namespace, spec)}
	case AddCatalog:
		create := kubectl.Copy("catalogsource.operators.coreos.com", c.Catalog.Namespace, c.Catalog.Name, object("CatalogSource", c.Catalog.Name, c.To, nil))
		if c.Subscription == "" {
			return []string{create}
		}
		return append([]string{create}, patch(map[string]any{"sourceNamespace": c.To})...)
	case RemoveOperator:
		return []string{kubectl.Delete(csv, namespace, c.Operator)}
	}
	return nil
}

// addition returns the commands that add a catalog of which the image is unknown, and switch the subscription to it if that
// names another one.
func (c *Change) addition(p *Problem) []string {
	if p.Options.Command != "" {
		return []string{p.Options.Command + " --catalog NAME=PATH"}
	}
	id := CatalogID{Name: "additional", Namespace: p.global()}
	known := func(id CatalogID) bool {
		return slices.ContainsFunc(p.Catalogs, func(x Catalog) bool { return x.ID() == id })
	}
	for n := 2; known(id); n++ {
		id.Name = fmt.Sprintf("additional-%d", n)
	}
	create := func(id CatalogID) string {
		return kubectl.ApplyImage(object("CatalogSource", id.Name, id.Namespace, map[string]any{"sourceType": "grpc", "image": kubectl.Image}))
	}
	i := slices.IndexFunc(p.Subscriptions, func(s Subscription) bool { return c.Subscription != "" && cmp.Or(s.Name, s.Package) == c.Subscription })
	switch {
	case i < 0 || p.Subscriptions[i].Source() == (CatalogID{}):
		return []string{create(id)}
	case !known(p.Subscriptions[i].Source()):
		return []string{create(p.Subscriptions[i].Source())}
	}
	return []string{create(id), kubectl.Patch("subscription.operators.coreos.com", p.Namespace, c.Subscription, map[string]any{"source": id.Name, "sourceNamespace": id.Namespace})}
}

// edits returns the command that changes a policy in the file of a problem. It returns nil if
// the file is unknown.
func (c *Change) edits(p *Problem) []string {
	if p.Options.File == "" {
		return nil
	}
	fields := policyFields(c.Rule)
	for name := range fields { // without those in which policies do not differ
		isSet := func(r Policy) bool { x := policyFields(r)[name]; return x != "" && x != false }
		if !slices.ContainsFunc(p.Policies, isSet) {
			delete(fields, name)
		}
	}
	rule := jq.Select(".policies[]?", fields)
	filter := "del(" + rule + ")"
	switch c.Kind {
	case ChangePin:
		filter = jq.Assign(rule, "pin", c.To)
	case ExcludeNewer:
		filter = jq.Replace(rule, "pin", "exclude", c.To)
	}
	return []string{jq.Edit(p.Options.File, p.ID, filter)}
}

// policyFields returns the fields of a policy as in a document.
func policyFields(r Policy) map[string]any {
	return map[string]any{"package": r.Package, "pin": r.Pin, "hold": r.Hold, "exclude": r.Exclude, "from": r.From, "reason": r.Reason}
}

// wayCommands returns the commands that change the channels on the way of an outlook, in order: each
// after OLM has upgraded the operator as far as the channel before leads.
func (u *universe) wayCommands(s *subscription, o *graph.Outlook) []string {
	if o.Way == nil {
		operator, source := kubectl.Operator{Namespace: u.p.Namespace, Name: s.Name}, s.Source()
		if t := o.Newest; o.Fresh && t != nil && t.Channel != "" && (source == (CatalogID{}) || u.catalogNamed(t.Catalog) == source) {
			spec := map[string]any{}
			if o.Started {
				spec["startingCSV"] = nil
			}
			return []string{operator.Follow(t.Channel, spec)}
		}
		return u.keepCommands(operator, s, o)
	}
	return u.legCommands(s, o.Way)
}

// legCommands returns the commands that change the channels on a way.
func (u *universe) legCommands(s *subscription, w *graph.Way) []string {
	source := s.Source()
	in, others := u.sourcesFor(s)
	several := 0
	for _, src := range slices.Concat(in, others) {
		if _, ok := src.Graph.Package(s.Package); ok {
			several++
		}
	}
	return prose.LegCommands(w, kubectl.Operator{Namespace: u.p.Namespace, Name: s.Name}, s.Manual, func(catalog string) map[string]any {
		id := u.catalogNamed(catalog)
		if source == (CatalogID{}) && several < 2 || id == source {
			return nil
		}
		source = id
		return map[string]any{"source": id.Name, "sourceNamespace": id.Namespace}
	})
}

// keepCommands returns the commands that prevent the next upgrade if it is a downgrade, or that make an
// operator that is newer than its channel follow another one.
func (u *universe) keepCommands(operator kubectl.Operator, s *subscription, o *graph.Outlook) []string {
	if o.Downgrade == nil && o.Keep == nil || o.LeadsOn() || o.Downgrade != nil && o.Downgrade.From != o.From {
		return nil
	}
	if o.Keep == nil {
		return []string{kubectl.Patch("subscription.operators.coreos.com", operator.Namespace, operator.Name, map[string]any{"installPlanApproval": "Manual"})}
	}
	spec := map[string]any{}
	if id := u.catalogNamed(o.Keep.Catalog); s.Source() != (CatalogID{}) && id != s.Source() {
		spec["source"], spec["sourceNamespace"] = id.Name, id.Namespace
	}
	return []string{operator.Follow(o.Keep.Channel, spec)}
}

// object returns an object of OLM. A nil spec is left out.
func object(kind, name, namespace string, spec map[string]any) map[string]any {
	o := map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": namespace},
	}
	if spec != nil {
		o["spec"] = spec
	}
	return o
}
