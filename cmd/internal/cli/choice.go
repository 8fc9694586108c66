package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// A choice is the value of a flag that is one of a few words. The name of Markdown can be shortened.
type choice struct {
	value *string
	words []string
}

// String, Set and Type implement pflag.Value; the type is what help shows.
func (c *choice) String() string { return *c.value }
func (c *choice) Type() string   { return strings.Join(c.words, "|") }
func (c *choice) Set(s string) error {
	if s == "md" && slices.Contains(c.words, string(formatMarkdown)) {
		s = string(formatMarkdown)
	}
	if !slices.Contains(c.words, s) {
		return fmt.Errorf("write one of %s", strings.Join(c.words, ", "))
	}
	*c.value = s
	return nil
}

// addChoice adds a flag that is one of some words, and completes them.
func addChoice(cmd *cobra.Command, value *string, name, short, usage string, words ...string) {
	cmd.Flags().VarP(&choice{value, words}, name, short, usage)
	complete(cmd, name, words...)
}

// complete completes a flag's value with words.
func complete(cmd *cobra.Command, flag string, words ...string) {
	completeFlag(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// completeFlag registers the function that completes a flag's value.
func completeFlag(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic("internal error: " + err.Error()) // the flag was never defined
	}
}
