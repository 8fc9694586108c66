package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/lifecycle"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/imageref"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/kube/bundlelint"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/kube/permissions"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// A packageQuality is the report on a package.
type packageQuality struct {
	Package string `json:"package"`
	// New is true if an older catalog does not have the package.
	New     bool            `json:"new,omitzero"`
	Numbers qualityNumbers  `json:"numbers"`
	Before  *qualityNumbers `json:"before,omitempty"`
	// Head is the head of the default channel. It is empty if there is none.
	Head     headQuality      `json:"head,omitzero"`
	Releases releases         `json:"releases"`
	Channels []channelQuality `json:"channels"`
	// StrandedV1 are the versions from which OLM v1 on its own never gets to Newest, the newest version of the package.
	Newest     string       `json:"newest,omitempty"`
	StrandedV1 []graph.Node `json:"strandedV1,omitempty"`
	// Upgrades are those that break something, and those that an administrator should read.
	Upgrades []edgeImpact `json:"upgrades,omitempty"`
	// Unpinned are the images without a digest, and Malformed the references that are not
	// valid, both sorted.
	Unpinned  []string `json:"unpinned,omitempty"`
	Malformed []string `json:"malformed,omitempty"`
	// Findings are those of olmkit validate.
	Findings fbc.Diagnostics `json:"findings,omitempty"`
	// Added and Deleted are the versions that only the new and only the older catalog has.
	// Lost have no path to the head of a channel any longer, although both catalogs have the channel.
	Added   []graph.Node `json:"added,omitempty"`
	Deleted []graph.Node `json:"deleted,omitempty"`
	Lost    []graph.Node `json:"lost,omitempty"`
	// ChannelsRemoved are the channels that only the older catalog has.
	ChannelsRemoved []string `json:"channelsRemoved,omitempty"`
}

func (p packageQuality) compare(name string) int { return strings.Compare(p.Package, name) }

// A headQuality is the report on the head of a default channel.
type headQuality struct {
	Name    string         `json:"name"`
	Version string         `json:"version"`
	Channel string         `json:"channel"`
	Date    lifecycle.Date `json:"date,omitempty"`
	// Follows is a bundle that the head replaces, directly or not, although its date is later. One of the
	// dates is wrong.
	Follows *datedBundle `json:"follows,omitempty"`
	// Manifests is true if the manifests were available. Risks and APIs are unknown without.
	Manifests bool               `json:"manifests"`
	Risks     []permissions.Risk `json:"risks,omitempty"`
	// APIs are the Kubernetes APIs in the manifests that a version of Kubernetes removes.
	APIs []string `json:"apis,omitempty"`
	// OLMv1 states whether OLM v1 installs the bundle: yes, no, or unknown.
	OLMv1   string   `json:"olmV1"`
	Refused []string `json:"refused,omitempty"`
}

// A channelQuality is the report on a channel.
type channelQuality struct {
	Name     string `json:"name"`
	Head     string `json:"head,omitempty"`
	Versions int    `json:"versions"`
	// Stranded are the versions from which classic OLM does not reach the head.
	Stranded []graph.Node `json:"stranded,omitempty"`
}

// pkg returns the report on a package.
func (r *reporter) pkg(ctx context.Context, p graph.Package, blobs *fbc.Catalog, found fbc.Diagnostics) (*packageQuality, error) {
	q := &packageQuality{Package: p.Name(), Findings: found}
	bundles := r.run.bundlesOf(r.run.pull, p)
	edges, err := r.run.judge(ctx, p, bundles)
	if err != nil {
		return nil, err
	}
	for _, e := range edges.Edges {
		if e.Error == "" && e.Verdict.AtLeast(impact.Look) {
			q.Upgrades = append(q.Upgrades, e)
		}
	}
	slices.SortStableFunc(q.Upgrades, func(a, b edgeImpact) int { // breaks first
		switch {
		case a.Verdict == b.Verdict:
			return 0
		case a.Verdict == impact.Breaks:
			return -1
		}
		return 1
	})
	if err := q.channels(p); err != nil {
		return nil, err
	}
	var dates []lifecycle.Date
	dated := map[string]lifecycle.Date{}
	for _, b := range blobs.Bundles {
		content, err := bundles.get(ctx, b.Name) // without manifests, the catalog still has images
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			content = nil
		}
		date := created(b, content)
		if date != "" {
			dates = append(dates, date)
			dated[b.Name] = date
		}
		q.images(b, content)
		if g, ok := p.Bundle(b.Name); ok && isHead(p, g) {
			if q.Head, err = r.head(ctx, bundles, b); err != nil {
				return nil, err
			}
			ch, _ := p.DefaultChannel()
			q.Head.Date, q.Head.Version, q.Head.Channel = date, versionText(g), ch.Name()
		}
	}
	q.Releases = releasesOf(dates, r.on)
	q.Head.Follows = laterDated(p, dated)
	for _, list := range []*[]string{&q.Unpinned, &q.Malformed} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	stranded := map[graph.Node]bool{}
	for _, ch := range q.Channels {
		for _, n := range ch.Stranded {
			stranded[n] = true
		}
	}
	kinds := map[fbc.Code]bool{}
	for _, risk := range q.Head.Risks {
		kinds[risk.Code] = true
	}
	q.Numbers = qualityNumbers{
		Versions: len(blobs.Bundles), Stranded: len(stranded), StrandedV1: len(q.StrandedV1),
		Breaking: edges.Breaks, Compared: edges.Safe + edges.Look + edges.Breaks, NotCompared: edges.Unavailable,
		Unpinned: len(q.Unpinned), Risks: len(kinds), Errors: len(found.Errors()), Warnings: len(found.Warnings()),
	}
	for _, d := range found {
		if d.Code == codes.Unmet {
			q.Numbers.Unmet++
		}
	}
	if q.Head.OLMv1 == verdictNo {
		q.Numbers.Refused = 1
	}
	if !q.Head.Manifests {
		q.Numbers.RisksUnknown = 1
	}
	return q, nil
}

// channels sets the channels and their stranded versions.
func (q *packageQuality) channels(p graph.Package) error {
	for ch := range p.Channels() {
		c := channelQuality{Name: ch.Name()}
		if head, ok := ch.Head(); ok {
			c.Head = head.Name()
		}
		u := p.Upgrades(graph.Classic, &graph.UpgradeOptions{Channels: []string{ch.Name()}})
		if u.Err() != nil {
			return u.Err()
		}
		for n := range u.Nodes() {
			if !u.IsVirtual(n) {
				c.Versions++
			}
		}
		for n := range u.Stranded() {
			if !u.IsVirtual(n) {
				c.Stranded = append(c.Stranded, n)
			}
		}
		q.Channels = append(q.Channels, c)
	}
	u := p.Upgrades(graph.V1, nil)
	if u.Err() != nil {
		return u.Err()
	}
	for _, n := range u.Heads() {
		q.Newest = cmp.Or(n.Version, n.Name)
	}
	for n := range u.Nodes() {
		if !u.IsVirtual(n) && !u.Walk(n).AtHead {
			q.StrandedV1 = append(q.StrandedV1, n)
		}
	}
	return nil
}

// head returns the report on a bundle, without its version and date.
func (r *reporter) head(ctx context.Context, bundles *packageBundles, blob *fbc.Bundle) (headQuality, error) {
	h := headQuality{Name: blob.Name, OLMv1: verdictYes}
	read, err := bundles.get(ctx, blob.Name)
	if ctx.Err() != nil {
		return h, context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, errNotAvailable) {
		h.Refused = append(h.Refused, readErrorText(err))
	}
	var content *registryv1.Bundle
	if err == nil {
		content = read.Bundle.Bundle
		h.Manifests = true
		allowed, err := permissions.Of(content, permissions.Options{Classic: r.run.opts.Classic})
		if err != nil {
			return h, err
		}
		h.Risks = allowed.Risks
		h.APIs = oldAPIs(content)
	}
	e, err := eligibility(ctx, blob, content, registryv1.EligibleOptions{Certificates: registryv1.CertManager, Limits: r.run.limits.forBundles()})
	if err != nil {
		return h, err
	}
	if e.Partial {
		h.OLMv1 = verdictUnknown
	}
	for _, x := range e.Problems {
		h.Refused = append(h.Refused, x.Message)
	}
	if len(h.Refused) > 0 {
		h.OLMv1 = verdictNo
	}
	return h, nil
}

// oldAPIs returns the native APIs in manifests that a version of Kubernetes does not serve.
func oldAPIs(b *registryv1.Bundle) (out []string) {
	add := func(gvk schema.GroupVersionKind) {
		since, instead := bundlelint.Removed(gvk)
		if since == nil {
			return
		}
		text := fmt.Sprintf("%s %s, which Kubernetes %s and later do not serve", gvk.GroupVersion(), gvk.Kind, since)
		if instead != "" {
			text += "; use " + instead
		}
		out = append(out, text)
	}
	for i := range b.CRDs {
		if v := b.CRDs[i].Object.APIVersion; v != apiextensionsv1.SchemeGroupVersion.String() {
			add(schema.FromAPIVersionAndKind(v, "CustomResourceDefinition"))
		}
	}
	for i := range b.Others {
		add(b.Others[i].Object.GroupVersionKind())
	}
	for _, gvk := range b.CSV().Spec.NativeAPIs {
		add(schema.GroupVersionKind(gvk))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// images adds the images of a bundle that have no digest or are malformed.
func (q *packageQuality) images(b *fbc.Bundle, content *readBundle) {
	add := func(text string) {
		if text == "" {
			return
		}
		switch {
		case imageref.Check(text) != nil:
			q.Malformed = append(q.Malformed, text)
		case !strings.Contains(text, "@"):
			q.Unpinned = append(q.Unpinned, text)
		}
	}
	add(b.Image)
	for _, x := range b.RelatedImages {
		add(x.Image)
	}
	if content != nil {
		for _, x := range content.Images() {
			add(x.Reference)
		}
	}
}

// change adds what differs from an older catalog.
func (q *packageQuality) change(d *graph.PackageDiff) {
	q.Added, q.Deleted = d.BundlesAdded, d.BundlesRemoved
	q.ChannelsRemoved = d.ChannelsRemoved
	for _, ch := range d.Channels {
		if !slices.Contains(d.ChannelsRemoved, ch.Name) {
			q.Lost = append(q.Lost, ch.Lost...)
		}
	}
	slices.SortFunc(q.Lost, func(a, b graph.Node) int { return strings.Compare(a.Name, b.Name) })
	q.Lost = slices.Compact(q.Lost)
}

// news returns what changed since an older catalog, in sentences without periods.
func (q *packageQuality) news() (out []string) {
	if q.New {
		return []string{"the package is new, with " + phrase.Count(q.Numbers.Versions, "version")}
	}
	for _, part := range []struct {
		text string
		list []graph.Node
	}{
		{"added: ", q.Added}, {"removed: ", q.Deleted}, {"no longer with a path to the head: ", q.Lost},
	} {
		if len(part.list) > 0 {
			out = append(out, part.text+nodesText(part.list))
		}
	}
	if n := len(q.ChannelsRemoved); n > 0 {
		shown, more := shorten(q.ChannelsRemoved)
		text := "channels that no longer exist, so subscriptions to them get no updates: " + strings.Join(shown, ", ")
		if more > 0 {
			text += fmt.Sprintf(", and %d more", more)
		}
		out = append(out, text)
	}
	return out
}

// most is the number of elements of a list that pages show.
const most = 20

// shorten returns the first elements of a list, and the number of the others.
func shorten[T any](list []T) ([]T, int) {
	if len(list) > most {
		return list[:most], len(list) - most
	}
	return list, 0
}

func nodesText(list []graph.Node) string {
	var names []string
	shown, more := shorten(list)
	for _, n := range shown {
		names = append(names, n.Name)
	}
	text := strings.Join(names, ", ")
	if more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}
