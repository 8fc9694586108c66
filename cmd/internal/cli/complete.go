package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/visible"
)

// Completion reads the catalogs that the command line names so far. It ignores catalogs
// that cannot be read; the command will report the error.

// named returns the indexes of the catalogs that a command line names so far,
// except standard input.
func (r *request) named(cmd *cobra.Command, e *env, args []string) []*graph.Catalog {
	// Cobra parses the flags twice before completion, so every value occurs twice.
	catalogs := slices.Compact(slices.Sorted(slices.Values(r.catalogs)))
	list, err := sources(args, catalogs, *r.sample, r.global)
	if err != nil {
		return nil
	}
	return openAll(cmd, e, list)
}

// openAll returns the indexes of sources that can be read.
func openAll(cmd *cobra.Command, e *env, list []source) []*graph.Catalog {
	l := newLoader(e)
	l.silent = true
	var cats []*graph.Catalog
	for _, s := range list {
		if s.path == stdinPath {
			continue
		}
		if g, err := l.indexOf(cmd.Context(), s); err == nil {
			cats = append(cats, g)
		}
	}
	return cats
}

// completeRequest completes the flags of a request.
func completeRequest(cmd *cobra.Command, e *env, r *request) {
	completeFlag(cmd, "package", r.completePackages(e, true))
	completeFlag(cmd, "installed", r.completeInstalled(e))
	completeFlag(cmd, "starting-csv", r.completeBundles(e, "="))
	completeFlag(cmd, "namespace", cobra.NoFileCompletions)
}

// completeCatalogFlag completes --catalog with file names.
func completeCatalogFlag(cmd *cobra.Command) {
	completeFlag(cmd, "catalog", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveDefault
	})
}

// completePackages completes packages and, after a colon, channels.
func (r *request) completePackages(e *env, channels bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		return packageWords(r.named(cmd, e, args), word, channels), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeInstalled completes packages and, after an equals sign, their versions.
func (r *request) completeInstalled(e *env) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		return installedWords(r.named(cmd, e, args), word)
	}
}

// completeChannels completes the channels of one package, or of all.
func (r *request) completeChannels(e *env, pkg func() string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return channelWords(packagesOf(r.named(cmd, e, args), pkg())), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeBundles completes the bundles of the packages in --package, or of all. A prefix
// that ends with the separator is kept.
func (r *request) completeBundles(e *env, separator string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		cats := r.named(cmd, e, args)
		var wanted []string
		for _, p := range r.packages {
			name, _, _ := strings.Cut(p, ":")
			wanted = append(wanted, name)
		}
		prefix := ""
		if before, _, ok := strings.Cut(word, separator); ok && separator != "" {
			wanted, prefix = []string{before}, before+separator
		}
		if len(wanted) == 0 {
			wanted = []string{""}
		}
		var words []string
		for _, name := range wanted {
			for _, p := range packagesOf(cats, name) {
				for b := range p.Bundles() {
					words = append(words, prefix+b.Name())
				}
			}
		}
		return offered(words), cobra.ShellCompDirectiveNoFileComp
	}
}

// packageWords returns the packages, or after a colon the channels of one.
func packageWords(cats []*graph.Catalog, word string, channels bool) []string {
	pkg, _, wantsChannel := strings.Cut(word, ":")
	if !wantsChannel || !channels {
		return offered(namesOf(cats))
	}
	var words []string
	for _, name := range channelWords(packagesOf(cats, pkg)) {
		words = append(words, pkg+":"+name)
	}
	return words
}

func channelWords(list []graph.Package) []string {
	var words []string
	for _, p := range list {
		for ch := range p.Channels() {
			words = append(words, ch.Name())
		}
	}
	return offered(words)
}

// installedWords returns packages, to be followed by "=", or the versions of one.
func installedWords(cats []*graph.Catalog, word string) ([]string, cobra.ShellCompDirective) {
	var words []string
	pkg, _, ok := strings.Cut(word, "=")
	if !ok {
		for _, name := range namesOf(cats) {
			words = append(words, name+"=")
		}
		return offered(words), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	for _, p := range packagesOf(cats, pkg) {
		for _, v := range versionWords(p) {
			words = append(words, pkg+"="+v)
		}
	}
	return offered(words), cobra.ShellCompDirectiveNoFileComp
}

// versionWords returns the versions of a package.
func versionWords(p graph.Package) []string {
	var words []string
	for b := range p.Bundles() {
		if b.HasVersion() {
			words = append(words, b.Version().String())
		}
	}
	return offered(words)
}

// offered returns the words sorted and without duplicates. It leaves out words with
// characters that a terminal does not print, because completing their escapes would give
// another name (S8).
func offered(words []string) []string {
	words = slices.DeleteFunc(words, func(w string) bool { return w != visible.Line(w) })
	slices.Sort(words)
	return slices.Compact(words)
}
