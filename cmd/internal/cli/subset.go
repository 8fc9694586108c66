package cli

import (
	"cmp"
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

// formatFBC prints a catalog itself.
const formatFBC = "fbc"

func newSubset(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "subset CATALOG",
		Short: "Select the smallest part of a catalog that serves given operators",
		Long: `Subset finds the smallest part of a catalog that serves given packages, channels,
versions and installed operators, for mirroring. It keeps all upgrades between the
kept bundles, and their dependencies. With -o fbc, it prints the part as a catalog.`,
		Example: `  olmkit subset ./catalog --package etcd:stable --versions ">=0.9.2" -o fbc > part.json
  olmkit subset ./catalog -p etcd -p prometheus --versions etcd=">=0.9" --versions prometheus="0.65.x"
  olmkit subset ./catalog --installed etcdoperator.v0.9.0`,
	}
	f := addFormats(cmd, "fbc for the part itself", formatFBC)
	fl := cmd.Flags()
	from := addCatalog(cmd)
	var packages, installed, versions []string
	var r subset.Request
	fl.StringArrayVarP(&packages, "package", "p", nil, "a package to keep, as `PACKAGE[:CHANNEL]` (repeatable)")
	fl.StringArrayVar(&versions, "versions", nil, "keep the versions in a range, as `[PACKAGE=]RANGE`: of all packages, or of one (repeatable; default only the heads)")
	fl.StringArrayVarP(&installed, "installed", "i", nil, "an installed operator: "+installedUsage+"; :CHANNEL may follow (repeatable)")
	fl.BoolVar(&r.KeepInstalled, "keep-installed", false, "also keep the installed bundles and what connects them to the head; upgrades do not need them")
	fl.BoolVar(&r.NoDependencies, "no-dependencies", false, "leave out the dependencies of kept bundles")
	reading := addReading(cmd)
	cmd.ValidArgsFunction = from.completeCatalog()
	completeFlag(cmd, "package", from.completePackage(e, true))
	completeFlag(cmd, "installed", from.completeInstalled(e))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := from.alone(args)
		if err != nil {
			return err
		}
		if len(packages)+len(installed) == 0 {
			return usagef("nothing to keep; name packages with --package, and what is installed with --installed")
		}
		l := newLoader(e)
		l.strict = true
		cat, err := l.wholeIndex(cmd.Context(), path)
		if err != nil {
			return err
		}
		r.Reading = *reading
		for _, arg := range packages {
			name, channel, ok := strings.Cut(arg, ":")
			w := subset.Want{Package: name}
			if ok {
				w.Channels = []string{channel}
			}
			r.Packages = append(r.Packages, w)
		}
		if err := giveRanges(r.Packages, versions); err != nil {
			return err
		}
		for _, arg := range installed {
			x, err := installedIn(cat, arg)
			if err != nil {
				return err
			}
			r.Installed = append(r.Installed, x)
		}
		s, err := subset.Cut(cmd.Context(), cat, r)
		var bad *document.Error
		if errors.As(err, &bad) {
			return bad.Err
		}
		if err != nil {
			return err
		}
		for _, w := range s.Warnings {
			visible.Fprintf(e.stderr, "warning: %s\n", w)
		}
		if *f == formatFBC {
			return s.Write(cmd.Context(), machine(e.stdout), &fbc.WriteOptions{Syntax: fbc.JSON})
		}
		return (&printer{w: e.stdout, format: *f}).print((*subsetAnswer)(s))
	}
	return cmd
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
			return usagef("--versions %q: these packages have a range already; write || between two", text)
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
func installedIn(cat *graph.Catalog, arg string) (subset.Installed, error) {
	o, err := findOperand(arg, []*graph.Catalog{cat}, "")
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
