package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// completePackages offers the packages of the catalogs that the command line
// names so far and, after a colon, the channels.
func completePackages(cmd *cobra.Command, e *env, r *request) {
	offer := func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		list, err := sources(args, r.catalogs, *r.sample)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		pkg, _, wantsChannel := strings.Cut(word, ":")
		l := newLoader(e)
		var words []string
		for _, s := range list {
			g, err := l.index(cmd.Context(), s.path)
			if err != nil || s.path == stdinPath {
				continue
			}
			if !wantsChannel {
				for p := range g.Packages() {
					words = append(words, p.Name())
				}
			} else if p, ok := g.Package(pkg); ok {
				for ch := range p.Channels() {
					words = append(words, pkg+":"+ch.Name())
				}
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc("package", offer); err != nil {
		panic("internal error: " + err.Error())
	}
}
