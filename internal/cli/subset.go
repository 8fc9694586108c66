package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/subset"
)

// formatFBC prints a catalog itself.
const formatFBC = "fbc"

func newSubset(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "subset CATALOG",
		Short: "Cut the smallest part of a catalog that serves some operators",
		Long: `Subset finds the smallest part of a catalog that serves given packages, channels,
versions and installed operators, for mirroring. It keeps every upgrade between
what it keeps, and what kept bundles depend on. With -o fbc it prints the part as
a catalog.`,
		Example: `  olmkit subset ./catalog --package etcd:stable --versions ">=0.9.2" -o fbc > part.json
  olmkit subset ./catalog --installed etcdoperator.v0.9.0`,
	}
	f := formatText
	fl := cmd.Flags()
	fl.StringVarP((*string)(&f), "output", "o", string(formatText), "how to print: text, json, yaml, or fbc for the part itself")
	complete(cmd, "output", append(slices.Clone(formats), formatFBC)...)
	sample := addSample(cmd)
	var packages, installed []string
	var versions string
	var r subset.Request
	fl.StringArrayVarP(&packages, "package", "p", nil, "a package to keep, as `PACKAGE[:CHANNEL]` (repeatable)")
	fl.StringVar(&versions, "versions", "", "keep the versions of those packages in a `RANGE` (default only the heads)")
	fl.StringArrayVarP(&installed, "installed", "i", nil, "an installed operator, as `PACKAGE=VERSION[:CHANNEL]` with a version, bundle name or NAME@VERSION (repeatable)")
	fl.BoolVar(&r.NoDependencies, "no-dependencies", false, "leave out what kept bundles depend on")
	reading := addReading(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(formats, string(f)) && f != formatFBC {
			return usagef("--output %q is not one of text, json, yaml, fbc", f)
		}
		if *sample {
			args = append(args, samplePath)
		}
		switch {
		case len(args) != 1:
			return usagef("one catalog is cut, and got %d; name its directory, or give --sample", len(args))
		case len(packages)+len(installed) == 0:
			return usagef("nothing to keep; name packages with --package, and what is installed with --installed")
		}
		cat, err := wholeIndex(cmd.Context(), newLoader(e), args[0])
		if err != nil {
			return err
		}
		r.Reading = *reading
		for _, arg := range packages {
			name, channel, ok := strings.Cut(arg, ":")
			w := subset.Want{Package: name, Versions: versions}
			if ok {
				w.Channels = []string{channel}
			}
			r.Packages = append(r.Packages, w)
		}
		for _, arg := range installed {
			x, err := installedIn(cat, arg)
			if err != nil {
				return err
			}
			r.Installed = append(r.Installed, x)
		}
		s, err := subset.Cut(cmd.Context(), cat, r)
		var bad *subset.RequestError
		if errors.As(err, &bad) {
			return bad.Err
		}
		if err != nil {
			return err
		}
		for _, w := range s.Warnings {
			fmt.Fprintf(e.stderr, "warning: %s\n", w)
		}
		if f == formatFBC {
			return s.Write(cmd.Context(), e.stdout, &fbc.WriteOptions{Syntax: fbc.JSON})
		}
		return (&printer{w: e.stdout, format: f}).print((*subsetAnswer)(s))
	}
	return cmd
}

// installedIn reads PACKAGE=VERSION[:CHANNEL].
func installedIn(cat *graph.Catalog, arg string) (subset.Installed, error) {
	pkg, rest, ok := strings.Cut(arg, "=")
	if !ok {
		for p := range cat.Packages() {
			if _, found := p.Bundle(arg); found {
				return subset.Installed{Package: p.Name(), Name: arg}, nil
			}
		}
		return subset.Installed{}, fmt.Errorf("--installed %s: the catalog has no bundle of this name; write PACKAGE=NAME@VERSION for what it need not know", arg)
	}
	version, channel, _ := strings.Cut(rest, ":")
	p, ok := cat.Package(pkg)
	if !ok {
		return subset.Installed{}, fmt.Errorf("--installed %s: the catalog has no package %q", arg, pkg)
	}
	n, err := findNode(p, version)
	if err != nil {
		return subset.Installed{}, fmt.Errorf("--installed %s: %w", arg, err)
	}
	return subset.Installed{Package: pkg, Name: n.Name, Version: n.Version, Channel: channel}, nil
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
	_, err := fmt.Fprintf(w, "%d of %s %s kept.\n", a.Bundles, plural(a.Of, "bundle"), verb)
	return err
}
