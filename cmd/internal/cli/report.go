package cli

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/cmd/internal/collect"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/lifecycle"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
)

const formatHTML format = "html"

func newReport(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report CATALOG",
		Short: "Report the quality of a catalog, as a page to publish",
		Long: `Report lists for each package of a catalog what its users should know: the versions
without a path to the head of their channel, the upgrades that break something on a
cluster, images that are malformed or have no digest, dependencies that nothing in
the catalog satisfies, and all other findings of "olmkit validate". For the head of
the default channel it lists dangerous permissions, APIs that Kubernetes removes, and
whether OLM v1 installs it. Release dates come from the annotation createdAt of
bundles; --on DATE adds the age of the newest release. A version is stranded in
classic OLM if no upgrades lead from it to the head of its channel, and in OLM v1 if
none lead to the newest version of the package.

With --base OLD, the numbers of the older catalog stand next to the new ones, and the
versions that were added, removed or lost their path are listed.

Permissions, APIs and upgrades need the manifests of bundles. They come from
olm.bundle.object properties, from --bundles or, with --pull, from images.

-o html prints one self-contained page without scripts, and -o markdown (or md) a page
for a repository or a pull request. Equal input gives equal output.

Exit codes: 0 the report was made, 2 the catalog could not be read.`,
		Example: `  olmkit report ./catalog -o html --bundles ./operators --on 2026-01-31 > report.html
  olmkit report ./catalog -o markdown --base ./released
  olmkit report ./catalog -p etcd -o json`,
	}
	r := &reporter{run: newImpactRun(e)}
	r.run.keep = true
	f := addFormats(cmd, "html for a page to publish, markdown for a repository", string(formatHTML), string(formatMarkdown))
	from := addCatalog(cmd)
	cmd.ValidArgsFunction = from.completeCatalog()
	var base, on string
	system := "v1"
	fl := cmd.Flags()
	fl.StringVar(&base, "base", "", "an older `CATALOG` to compare with")
	fl.StringVar(&r.run.tree, "bundles", "", "the `DIR` with bundle directories, PACKAGE/VERSION, for bundles whose manifests are not in the catalog")
	fl.BoolVar(&r.run.pull, "pull", false, "also read bundle images")
	fl.StringVar(&on, "on", "", "report how old releases are on this `DATE`, as YYYY-MM-DD")
	addList(fl, &r.only, "package", "p", "report only this `PACKAGE` (repeatable)")
	addChoice(cmd, &system, "olm", "", "which OLM upgrades the operators", "v1", "classic")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		defer collect.Less()()
		catalog, err := from.alone(args)
		if err != nil {
			return err
		}
		if on != "" {
			if r.on, err = lifecycle.ParseDate(on); err != nil {
				return usagef("--on: %v", err)
			}
		}
		if catalog == stdinPath && base == stdinPath {
			return usagef("standard input has one catalog; name a file or directory for the other")
		}
		r.run.opts.Classic = system == "classic"
		out, err := r.report(cmd.Context(), catalog, base)
		if err != nil {
			return err
		}
		switch *f {
		case formatHTML:
			return out.page(machine(e.stdout))
		case formatMarkdown:
			return out.markdown(e.stdout)
		}
		return (&printer{w: e.stdout, format: *f}).print(out)
	}
	return cmd
}

// A quality is the report on a catalog.
type quality struct {
	Catalog string `json:"catalog"`
	// Base is the older catalog, if there is one.
	Base string `json:"base,omitempty"`
	// On is the day for the ages of releases.
	On lifecycle.Date `json:"on,omitempty"`
	// OLM is the system whose upgrades are judged: v1 or classic.
	OLM string `json:"olm"`
	// Total has the sums over all packages, and Before those of the older catalog.
	Total  qualityNumbers  `json:"total"`
	Before *qualityNumbers `json:"before,omitempty"`
	// Packages are sorted by name.
	Packages []packageQuality `json:"packages"`
	// Removed are the packages that only the older catalog has.
	Removed []string `json:"removed,omitempty"`
	// Findings are those that belong to no package.
	Findings fbc.Diagnostics `json:"findings,omitempty"`
}

// A qualityNumbers has the numbers of a package, or of a catalog.
type qualityNumbers struct {
	Versions int `json:"versions"`
	// Stranded is the number of versions without a path to the head of a channel in classic OLM.
	Stranded int `json:"stranded"`
	// StrandedV1 is the number of versions from which OLM v1 never gets to the newest version of the package.
	StrandedV1 int `json:"strandedV1"`
	// Breaking is the number of upgrades that break something on a cluster, Compared the
	// number of those that were compared, and NotCompared that of the others.
	Breaking    int `json:"breaking"`
	Compared    int `json:"compared"`
	NotCompared int `json:"notCompared"`
	// Unmet is the number of requirements of bundles that nothing in the catalog satisfies.
	Unmet int `json:"unmet"`
	// Unpinned is the number of images without a digest.
	Unpinned int `json:"unpinned"`
	// Risks is the number of kinds of dangerous permissions that the head has.
	Risks int `json:"risks"`
	// RisksUnknown is the number of heads whose risks are unknown, for lack of manifests.
	RisksUnknown int `json:"risksUnknown,omitzero"`
	// Refused is the number of heads that OLM v1 does not install.
	Refused  int `json:"refused"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
}

func (n *qualityNumbers) add(m *qualityNumbers) {
	n.Versions += m.Versions
	n.Stranded += m.Stranded
	n.StrandedV1 += m.StrandedV1
	n.Breaking += m.Breaking
	n.Compared += m.Compared
	n.NotCompared += m.NotCompared
	n.Unmet += m.Unmet
	n.Unpinned += m.Unpinned
	n.Risks += m.Risks
	n.RisksUnknown += m.RisksUnknown
	n.Refused += m.Refused
	n.Errors += m.Errors
	n.Warnings += m.Warnings
}

// A reporter makes a report.
type reporter struct {
	run  *impactRun
	on   lifecycle.Date
	only []string
}

// report returns the report on a catalog, compared with an older one unless base is empty.
func (r *reporter) report(ctx context.Context, catalog, base string) (*quality, error) {
	l := newLoader(r.run.env)
	out, index, err := r.catalog(ctx, l, catalog, false)
	if err != nil || base == "" {
		return out, err
	}
	old, before, err := r.catalog(ctx, l, base, true)
	if err != nil {
		return nil, err
	}
	out.Base, out.Before = display(base), &old.Total
	diff, err := graph.Compare(ctx, before, index, graph.Classic)
	if err != nil {
		return nil, err
	}
	for i := range out.Packages {
		p := &out.Packages[i]
		k, ok := slices.BinarySearchFunc(old.Packages, p.Package, packageQuality.compare)
		if p.New = !ok; ok {
			p.Before = &old.Packages[k].Numbers
		}
		for j := range diff.Packages {
			if diff.Packages[j].Name == p.Package {
				p.change(&diff.Packages[j])
			}
		}
	}
	for _, p := range old.Packages {
		if _, ok := slices.BinarySearchFunc(out.Packages, p.Package, packageQuality.compare); !ok {
			out.Removed = append(out.Removed, p.Package)
		}
	}
	return out, nil
}

// catalog returns the report on one catalog. The base may lack packages that were named.
func (r *reporter) catalog(ctx context.Context, l *loader, path string, base bool) (*quality, *graph.Catalog, error) {
	blobs, found, _, err := l.check(ctx, path, true)
	switch {
	case err != nil:
		return nil, nil, notLoaded(ctx, path, err)
	case blobs.Len() == 0 && len(found) > 0:
		return nil, nil, &catalogError{path, found[0]}
	}
	index, err := graph.Build(ctx, blobs, l.limits.graph())
	if err != nil {
		return nil, nil, notLoaded(ctx, path, err)
	}
	findings := map[string]fbc.Diagnostics{}
	for _, d := range found {
		findings[d.Package] = append(findings[d.Package], d)
	}
	contents := map[string]*fbc.Catalog{}
	for name, c := range blobs.ByPackage() {
		contents[name] = c
	}
	names := namesOf([]*graph.Catalog{index})
	if len(r.only) > 0 {
		all := names
		names = slices.Compact(slices.Sorted(slices.Values(r.only)))
		for _, name := range names {
			if !base && !slices.Contains(all, name) {
				return nil, nil, noPackage(path, name, all)
			}
		}
		names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(all, name) })
	}
	out := &quality{Catalog: display(path), On: r.on, OLM: "v1", Packages: make([]packageQuality, len(names))}
	if r.run.opts.Classic {
		out.OLM = "classic"
	}
	err = r.run.eachPackage(ctx, "judging packages", names, func(ctx context.Context, n int, name string) error {
		p, ok := index.Package(name)
		if !ok {
			return nil
		}
		q, err := r.pkg(ctx, p, contents[name], findings[name])
		if err == nil {
			out.Packages[n] = *q
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range out.Packages {
		out.Total.add(&out.Packages[i].Numbers)
	}
	for _, d := range found {
		if _, ok := index.Package(d.Package); !ok && len(r.only) == 0 {
			out.Findings = append(out.Findings, d)
		}
	}
	out.Total.Errors += len(out.Findings.Errors())
	out.Total.Warnings += len(out.Findings.Warnings())
	return out, index, nil
}

// qualityHeader has the columns of the table of packages.
var qualityHeader = []string{"PACKAGE", "HEAD", "RELEASED", "VERSIONS", "STRANDED", "STRANDED V1", "BREAKING", "UNMET", "UNPINNED", "RISKS", "OLM V1", "ERRORS", "WARNINGS"}

// header returns the columns with the OLM that they are about.
func (q *quality) header() []string {
	out := slices.Clone(qualityHeader)
	for i, name := range out {
		switch name {
		case "STRANDED":
			out[i] += " (CLASSIC)"
		case "STRANDED V1":
			out[i] = "STRANDED (V1)"
		case "BREAKING":
			out[i] += " (" + strings.ToUpper(q.OLM) + ")"
		}
	}
	return out
}

// cells returns the cells of a package.
func (p *packageQuality) cells() []string {
	n, b := &p.Numbers, p.Before
	number := func(now int, before func(*qualityNumbers) int) string {
		text := strconv.Itoa(now)
		if b != nil && before(b) != now {
			text += " (was " + strconv.Itoa(before(b)) + ")"
		}
		return text
	}
	breaking := "?"
	if n.Compared > 0 || n.NotCompared == 0 {
		breaking = strconv.Itoa(n.Breaking)
		if b != nil && b.Compared > 0 {
			breaking = number(n.Breaking, func(n *qualityNumbers) int { return n.Breaking })
		}
	}
	released := string(p.Head.Date)
	if p.Head.Follows != nil {
		released = "?"
	}
	risks := "?"
	switch {
	case p.Head.Manifests && b != nil && b.RisksUnknown > 0:
		risks = strconv.Itoa(n.Risks) + " (was ?)"
	case p.Head.Manifests:
		risks = number(n.Risks, func(n *qualityNumbers) int { return n.Risks })
	}
	return []string{
		p.Package, p.Head.Version, released,
		number(n.Versions, func(n *qualityNumbers) int { return n.Versions }),
		number(n.Stranded, func(n *qualityNumbers) int { return n.Stranded }),
		number(n.StrandedV1, func(n *qualityNumbers) int { return n.StrandedV1 }),
		breaking,
		number(n.Unmet, func(n *qualityNumbers) int { return n.Unmet }),
		number(n.Unpinned, func(n *qualityNumbers) int { return n.Unpinned }),
		risks, p.Head.OLMv1,
		number(n.Errors, func(n *qualityNumbers) int { return n.Errors }),
		number(n.Warnings, func(n *qualityNumbers) int { return n.Warnings }),
	}
}

func (q *quality) text(w io.Writer) error {
	t := &table{header: q.header()}
	for i := range q.Packages {
		t.add(q.Packages[i].cells()...)
	}
	if err := t.text(w); err != nil {
		return err
	}
	visible.Fprintf(w, "\n%s\n", q.summary())
	for _, name := range q.Removed {
		visible.Fprintf(w, "Package %s is no longer in the catalog.\n", name)
	}
	for i := range q.Packages {
		p := &q.Packages[i]
		lines := p.news()
		if text := p.headDate(); text != "" {
			lines = append(lines, text)
		}
		for _, line := range lines {
			visible.Fprintf(w, "%s: %s\n", p.Package, line)
		}
	}
	return nil
}

// summary returns a sentence about the whole catalog.
func (q *quality) summary() string {
	n := &q.Total
	text := phrase.Count(len(q.Packages), "package") + " with " + phrase.Count(n.Versions, "version") + ": " +
		strconv.Itoa(n.Stranded) + " stranded in classic OLM, " + strconv.Itoa(n.StrandedV1) + " in OLM v1, " + phrase.Count(n.Errors, "error") + ", " + phrase.Count(n.Warnings, "warning")
	if n.Compared > 0 {
		text += ", " + strconv.Itoa(n.Breaking) + " of " + phrase.Count(n.Compared, "compared upgrade") + " breaking with " + olmTitle(q.OLM)
	}
	if n.NotCompared > 0 {
		text += "; " + phrase.Count(n.NotCompared, "upgrade") + " not compared, because manifests are not available"
	}
	return text
}
