package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/subset"
)

// Formats of olmkit subset.
const (
	formatFBC      = "fbc"      // a catalog
	formatImages   = "images"   // the images to mirror
	formatImageSet = "imageset" // an ImageSetConfiguration of oc-mirror
)

func newSubset(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "subset {CATALOG|--imageset FILE}",
		Short: "Select the smallest part of a catalog that serves given operators",
		Long: `Subset finds the smallest part of a catalog that serves given packages, channels,
versions and installed operators, for mirroring. It keeps all upgrades between the
kept bundles, and their dependencies. With -o fbc, it prints the part as a catalog.

With --imageset, the catalogs, packages, channels and versions are those of an
ImageSetConfiguration of oc-mirror, v1alpha2 or v2alpha1. A CATALOG replaces the only
catalog of the file, for example with a local copy of the image.

-o imageset prints such a configuration, in which the packages of each catalog are
exactly the kept channels and versions; the rest of the file is unchanged. -o images
prints the images of the part, including related images, by digest and one per line.
Both warn about invalid image references, which make mirroring tools fail and are left
out of the list, and about references without a digest, whose content can change.

Exit codes: 0 the part was printed, 1 -o images left out invalid references, 2 the
input could not be read.`,
		Example: `  olmkit subset ./catalog --package etcd:stable --versions ">=0.9.2" -o fbc > part.json
  olmkit subset ./catalog -p etcd -p prometheus --versions etcd=">=0.9" --versions prometheus="0.65.x"
  olmkit subset ./catalog --installed etcdoperator.v0.9.0
  olmkit subset --imageset imageset-config.yaml -o imageset > smaller.yaml
  olmkit subset --imageset imageset-config.yaml -o images > images.txt`,
	}
	f := addFormats(cmd, "fbc for the part itself, images for a list of its images, imageset for oc-mirror", formatFBC, formatImages, formatImageSet)
	fl := cmd.Flags()
	s := partPrinter{catalog: addCatalog(cmd)}
	addList(fl, &s.packages, "package", "p", "a package to keep, as `PACKAGE[:CHANNEL]` (repeatable)")
	addList(fl, &s.versions, "versions", "", "keep the versions in a range, as `[PACKAGE=]RANGE`: of all packages, or of one (repeatable; default only the heads)")
	addList(fl, &s.installed, "installed", "i", "an installed operator: "+installedUsage+"; :CHANNEL may follow (repeatable)")
	fl.BoolVar(&s.keepInstalled, "keep-installed", false, "also keep the installed bundles and what connects them to the head; upgrades do not need them")
	fl.BoolVar(&s.noDependencies, "no-dependencies", false, "leave out the dependencies of kept bundles")
	fl.StringVar(&s.imageSet, "imageset", "", "keep what the ImageSetConfiguration in `FILE` requests, in addition to packages and operators of the command line")
	s.reading = addReading(cmd)
	cmd.ValidArgsFunction = s.catalog.completeCatalog()
	completeFlag(cmd, "package", s.catalog.completePackage(e, true))
	completeFlag(cmd, "installed", s.catalog.completeInstalled(e))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s.loader, s.format = newLoader(e), *f
		return s.run(cmd.Context(), args)
	}
	return cmd
}

// A partPrinter holds the flags of olmkit subset, and prints parts of catalogs.
type partPrinter struct {
	*loader
	format                        format
	catalog                       *catalogArg
	packages, installed, versions []string
	keepInstalled, noDependencies bool
	imageSet                      string
	reading                       *graph.Reading
}

func (s *partPrinter) run(ctx context.Context, args []string) error {
	path := ""
	if s.imageSet == "" || len(args) > 0 || s.catalog.flag != "" || *s.catalog.sample {
		var err error
		if path, err = s.catalog.alone(args); err != nil {
			return err
		}
	}
	isPlain := len(s.packages)+len(s.installed) > 0
	var set *imageSet
	var err error
	switch {
	case s.imageSet != "":
		set, err = s.readImageSet(ctx, s.imageSet)
	case !isPlain:
		err = usagef("nothing to keep; name packages with --package, what is installed with --installed, or an ImageSetConfiguration with --imageset")
	case s.format == formatImageSet:
		set, err = newImageSet(path)
	}
	if err != nil {
		return err
	}
	s.strict = true
	if set == nil || s.imageSet == "" {
		cat, err := s.wholeIndex(ctx, path)
		if err != nil {
			return err
		}
		part, err := s.cut(ctx, cat, subset.Request{})
		if err != nil {
			return err
		}
		if set != nil {
			return s.printImageSet(ctx, set, []*subset.Subset{part}, []*graph.Catalog{cat})
		}
		return s.print(ctx, part)
	}
	if many := len(set.operators) > 1; many && (path != "" || isPlain || s.format != formatImages && s.format != formatImageSet) {
		return usagef("%s has %d catalogs; with several, give no other catalog, package or operator, and choose -o images or -o imageset", display(s.imageSet), len(set.operators))
	}
	var parts []*subset.Subset
	var cats []*graph.Catalog
	for _, o := range set.operators {
		cat, err := s.wholeIndex(ctx, cmp.Or(path, o.path()))
		if err != nil {
			return err
		}
		r, err := o.request(cat)
		if err != nil {
			return err
		}
		part, err := s.cut(ctx, cat, r)
		if err != nil {
			return err
		}
		for _, w := range o.above(part) {
			visible.Fprintf(s.stderr, "warning: %s\n", w)
		}
		parts, cats = append(parts, part), append(cats, cat)
	}
	switch {
	case s.format == formatImageSet:
		return s.printImageSet(ctx, set, parts, cats)
	case s.format == formatImages:
		return s.printImages(ctx, parts)
	}
	return s.print(ctx, parts[0])
}

// cut returns the part of a catalog that serves a request and the flags.
func (s *partPrinter) cut(ctx context.Context, cat *graph.Catalog, r subset.Request) (*subset.Subset, error) {
	r.Reading, r.KeepInstalled, r.NoDependencies = *s.reading, s.keepInstalled, r.NoDependencies || s.noDependencies
	var own []subset.Want
	for _, arg := range s.packages {
		name, channel, ok := strings.Cut(arg, ":")
		w := subset.Want{Package: name}
		if ok {
			w.Channels = []string{channel}
		}
		own = append(own, w)
	}
	if err := giveRanges(own, s.versions); err != nil {
		return nil, err
	}
	r.Packages = append(r.Packages, own...)
	for _, arg := range s.installed {
		x, err := installedIn(s.loader, cat, arg)
		if err != nil {
			return nil, err
		}
		r.Installed = append(r.Installed, x)
	}
	part, err := subset.Cut(ctx, cat, r)
	var bad *document.Error
	if errors.As(err, &bad) {
		return nil, bad.Err
	}
	if err != nil {
		return nil, err
	}
	for _, w := range part.Warnings {
		visible.Fprintf(s.stderr, "warning: %s\n", w)
	}
	return part, nil
}

// print prints a part of a catalog.
func (s *partPrinter) print(ctx context.Context, part *subset.Subset) error {
	switch s.format {
	case formatFBC:
		return part.Write(ctx, machine(s.stdout), &fbc.WriteOptions{Syntax: fbc.JSON})
	case formatImages:
		return s.printImages(ctx, []*subset.Subset{part})
	}
	return (&printer{w: s.stdout, format: s.format}).print((*subsetAnswer)(part))
}

// printImages prints the images of parts of catalogs, and reports findings about them.
func (s *partPrinter) printImages(ctx context.Context, parts []*subset.Subset) error {
	all, isComplete, err := s.images(ctx, parts)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, ref := range all {
		b.WriteString(ref + "\n")
	}
	if _, err := io.WriteString(machine(s.stdout), b.String()); err != nil {
		return err
	}
	if !isComplete {
		return errNegative
	}
	return nil
}

// images returns the images of parts, sorted, and prints findings about them. It returns false if
// invalid references are left out.
func (s *partPrinter) images(ctx context.Context, parts []*subset.Subset) (all []string, isComplete bool, err error) {
	isComplete = true
	for _, part := range parts {
		refs, findings, err := part.Images(ctx)
		if err != nil {
			return nil, false, err
		}
		for _, d := range findings {
			visible.Fprintf(s.stderr, "%s: %s [%s]\n", d.Severity, d.Error(), d.Code)
			isComplete = isComplete && d.Severity != fbc.Error
		}
		all = append(all, refs...)
	}
	slices.Sort(all)
	return slices.Compact(all), isComplete, nil
}

// printImageSet prints an ImageSetConfiguration whose packages are those of parts of its
// catalogs, and reports findings about their images.
func (s *partPrinter) printImageSet(ctx context.Context, set *imageSet, parts []*subset.Subset, cats []*graph.Catalog) error {
	if _, _, err := s.images(ctx, parts); err != nil {
		return err
	}
	for i, part := range parts {
		warnings, err := set.keep(&set.operators[i], part, cats[i])
		if err != nil {
			return err
		}
		for _, w := range warnings {
			visible.Fprintf(s.stderr, "warning: %s\n", w)
		}
	}
	return set.write(machine(s.stdout))
}

// giveRanges sets the version range of each package in wants: the one given for that package,
// or else the one given for all packages.
func giveRanges(wants []subset.Want, ranges []string) error {
	common, own := "", map[string]string{}
	for _, text := range ranges {
		name, rng, ok := strings.Cut(text, "=")
		if ok = ok && slices.ContainsFunc(wants, func(w subset.Want) bool { return w.Package == name }); !ok {
			name, rng = "", text
		}
		switch {
		case ok && own[name] != "", !ok && common != "":
			return usagef("--versions %q: these packages already have a range; join the ranges with ||", text)
		case ok:
			own[name] = strings.TrimSpace(rng)
		default:
			common = rng
		}
	}
	for i := range wants {
		wants[i].Versions = cmp.Or(own[wants[i].Package], common)
	}
	return nil
}

// installedIn returns the bundle that --installed names.
func installedIn(l *loader, cat *graph.Catalog, arg string) (subset.Installed, error) {
	o, err := l.findInstalled(arg, []*graph.Catalog{cat}, "")
	if err == nil && o.pkg == "" {
		err = fmt.Errorf("its package is unknown; write PACKAGE=%s%s", arg, hint(o.Name, namesOf([]*graph.Catalog{cat})))
	}
	if err != nil {
		return subset.Installed{}, fmt.Errorf("--installed %s: %w", arg, err)
	}
	return subset.Installed{Package: o.pkg, Name: o.Name, Version: o.Version, Channel: o.channel}, nil
}

type subsetAnswer subset.Subset

func (a *subsetAnswer) text(w io.Writer) error {
	t := table{header: []string{"PACKAGE", "CHANNELS", "BUNDLE", "VERSION", "WHY"}}
	for _, p := range a.Packages {
		for _, b := range p.Bundles {
			var channels []string
			for _, ch := range p.Channels {
				if slices.Contains(ch.Entries, b.Name) {
					channels = append(channels, ch.Name)
				}
			}
			t.add(p.Name, strings.Join(channels, ","), b.Name, b.Version, b.Why)
		}
	}
	if err := t.text(w); err != nil {
		return err
	}
	verb := "are"
	if a.Bundles == 1 {
		verb = "is"
	}
	_, err := visible.Fprintf(w, "%d of %s %s kept.\n", a.Bundles, phrase.Count(a.Of, "bundle"), verb)
	return err
}
