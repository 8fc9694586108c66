package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// readContent reads the content of the catalogs on the command line, and of those that the
// cluster serves for operators. Notes name catalogs that cannot be read.
func (s *clusterState) readContent(ctx context.Context, l *loader, t *census, given []source, operators []operatorStatus) error {
	used := map[resolver.CatalogID]bool{}
	usesV1 := false
	for _, o := range operators {
		if o.isV1() {
			usesV1 = true
		} else {
			used[resolver.CatalogID{Name: o.Catalog, Namespace: o.catalogNamespace}] = true
		}
	}
	served, err := s.served(s.cluster, given, func(id resolver.CatalogID) bool { return used[id] })
	if err != nil {
		return err
	}
	for _, id := range slices.SortedFunc(maps.Keys(used), compareCatalogs) {
		isGiven := slices.ContainsFunc(given, func(src source) bool { return src.name == id.Name && src.namespace == id.Namespace })
		if id.Name != "" && !isGiven && s.lacks(olm.Group, olm.KindCatalogSource, id.Namespace) {
			s.noteContent((&source{name: id.Name, namespace: id.Namespace}).object(), "was not read")
		}
	}
	for i, src := range append(slices.Clone(given), served...) {
		g, err := s.content(ctx, l, src)
		if err != nil {
			return err
		}
		if g == nil {
			continue
		}
		id := resolver.CatalogID{Name: src.name, Namespace: src.namespace}
		if t.content[id] = g; i < len(given) {
			t.given = append(t.given, id)
		}
	}
	if !usesV1 {
		return nil
	}
	list := slices.DeleteFunc(s.withoutSwitchedOff(given), func(src source) bool { return !s.hasClusterCatalog(src.name) })
	served, err = s.servedV1(s.cluster, list)
	if err != nil {
		return err
	}
	if err := s.label(list, served); err != nil {
		return err
	}
	for _, src := range append(list, served...) {
		g, err := s.content(ctx, l, src)
		if err != nil {
			return err
		}
		t.contentV1 = append(t.contentV1, olmv1.Catalog{Name: src.name, Priority: src.priority, Labels: src.labels, Graph: g})
	}
	return nil
}

// reach adds to the status of a ClusterExtension what the content of catalogs shows: the newest
// bundle of its channels and versions, whether it can be upgraded, deprecations, and whether it
// blocks the platform. If a catalog that it selects was not read, the status is unchanged.
func (t *census) reach(ctx context.Context, x *extension, o *operatorStatus) error {
	r := x.request()
	for _, c := range t.contentV1 {
		if r.Selector != nil && !r.Selector.Matches(c.Labels) {
			if c.Graph != nil { // a refusal names it
				r.Catalogs = append(r.Catalogs, c)
			}
			continue
		}
		for _, catalog := range t.served {
			serving, ok := servingOf(catalog)
			if ok && serving.Status != "True" && catalog.Metadata.Name == c.Name && (o.unprocessed || o.Moves == movesLatest) {
				o.Moves, o.Why = movesStuck, fmt.Sprintf("ClusterCatalog %s is %s; until it is served, OLM v1 selects nothing", c.Name, whyUnserved(serving))
				return nil
			}
		}
		if c.Graph == nil {
			return nil
		}
		r.Catalogs = append(r.Catalogs, c)
	}
	if r.Package == "" || len(r.Catalogs) == 0 {
		return nil
	}
	o.known = true
	t.blocksV1(x, o, r.Catalogs)
	next, no, err := selected(ctx, r)
	if bad := (*document.Error)(nil); errors.As(err, &bad) && isAnswer(bad) {
		o.Moves, o.Why, o.malformed = movesStuck, bad.Err.Error(), true
		return nil
	}
	if err != nil {
		return err
	}
	r.Policy = olmv1.SelfCertified // the newest, whether or not it can be reached
	newest, _, err := selected(ctx, r)
	if err != nil {
		return err
	}
	if newest != nil {
		o.Head = newest.Bundle
	}
	if next != nil {
		o.Outlook, o.next, o.nextCatalog = next.Outlook, next.Bundle, next.Catalog
		if next.Bundle == o.Installed {
			for _, d := range next.Deprecated {
				o.deprecate(d.Message, !slices.ContainsFunc(o.Deprecated, func(m string) bool { return strings.Contains(m, d.Message) }))
			}
		}
	}
	if o.unprocessed || o.unexplained && next != nil { // decide as OLM v1 will
		o.Moves, o.Why = movesLatest, ""
	}
	switch {
	case next == nil && o.unexplained:
		o.Why, o.SelectFixes = no.Error(), no.Fixes
	case next == nil && o.Moves == movesStuck:
		o.SelectFixes = no.Fixes
	case o.Moves != movesLatest:
	case next == nil:
		o.Moves, o.Why, o.SelectFixes = movesStuck, no.Error(), no.Fixes
	case o.Installed == "":
		o.Moves, o.Why, o.upcoming = movesNow, "will install "+next.Bundle, true
	case next.Bundle != o.Installed:
		o.Moves, o.Why, o.upcoming = movesNow, "will move to "+next.Bundle, true
		for _, n := range next.Notes {
			if n.Code == olmv1.NotePin {
				o.Why += "; " + n.Text
			}
		}
		if next.Outlook != nil && next.Outlook.Closes != nil {
			o.Why += "; " + prose.Summary(next.Outlook) + ". " + prose.Onward(next.Outlook)
			o.advice = adviceOf(o.Package, next.Outlook, next.Notes, olmv1.NoteCloses)
			o.Commands = o.advice.Commands
		}
	case newest != nil && newest.Graph.Version().GT(next.Graph.Version()):
		o.Moves, o.Why = movesStuck, prose.Outlook(next.Outlook)
		for _, n := range next.Notes {
			if n.Code == olmv1.NoteStuck || n.Code == olmv1.NoteStays {
				o.Why = n.Text
			}
		}
		o.advice = adviceOf(o.Package, next.Outlook, next.Notes, olmv1.NoteStuck, olmv1.NoteStays)
		o.Commands = o.advice.Commands
	default: // at the head of what it is allowed
		for _, n := range next.Notes {
			if n.Code == olmv1.NoteHeldBack {
				o.Why = strings.TrimPrefix(o.Why+"; "+n.Text, "; ")
			}
		}
		o.Commands = commandsOf(next.Notes, olmv1.NoteHeldBack)
	}
	return nil
}

// extensionHelp returns what lets a stuck ClusterExtension go on, for an output.
func (o *operatorStatus) extensionHelp(w io.Writer) string {
	t := proseWriter(w)
	writeWays(t, " for "+o.Package, o.Ways)
	writeFixesV1(t, " for "+o.Package, o.SelectFixes)
	return t.String()
}

// adviceOf returns the advice to take the way of an outlook with the commands of notes with some codes.
func adviceOf(pkg string, o *graph.Outlook, notes []olmv1.Note, codes ...olmv1.NoteCode) resolver.Advice {
	return resolver.Advice{Package: pkg, Outlook: o, Commands: commandsOf(notes, codes...)}
}

// commandsOf returns the commands of notes with some codes.
func commandsOf(notes []olmv1.Note, codes ...olmv1.NoteCode) (out []string) {
	for _, n := range notes {
		if slices.Contains(codes, n.Code) {
			for _, c := range n.Commands {
				out = append(out, c.Line)
			}
		}
	}
	return out
}

// selected returns the bundle that OLM v1 selects, or the refusal to select one.
func selected(ctx context.Context, r olmv1.Request) (*olmv1.Selection, *olmv1.Refusal, error) {
	sel, err := olmv1.Select(ctx, r)
	if no := (*olmv1.Refusal)(nil); errors.As(err, &no) {
		return nil, no, nil
	}
	return sel, nil, err
}

// blocksV1 records whether the installed bundle of a ClusterExtension blocks the next version of
// the platform. The properties of the bundle are those in the first catalog that has it.
func (t *census) blocksV1(x *extension, o *operatorStatus, catalogs []olmv1.Catalog) {
	current, err := property.ParseMinorVersion(t.version)
	if err != nil {
		return // not OpenShift
	}
	for _, c := range catalogs {
		p, ok := c.Graph.Package(o.Package)
		if !ok {
			continue
		}
		b, ok := p.Bundle(o.Installed)
		if !ok {
			continue
		}
		limit, ok, err := property.LowestMaxOpenShift(b.Properties())
		if err != nil || ok && limit.Compare(current.Next()) < 0 {
			o.Blocks = whyBlocks(reconcile.Blocker{CSV: x.Key(), Max: limit, Err: err})
		}
		return
	}
}

// whyBlocks returns why an operator blocks an upgrade of the platform, without the name of
// the operator.
func whyBlocks(b reconcile.Blocker) string {
	return strings.TrimPrefix(b.String(), b.CSV.String()+": ")
}
