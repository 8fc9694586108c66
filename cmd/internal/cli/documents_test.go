package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestEveryOutputHasSchema checks that the documents of every command with -o json have a schema. Commands that print
// catalogs are excepted, because OLM defines that format.
func TestEveryOutputHasSchema(t *testing.T) {
	catalogs := []string{"extract", "fmt", "merge", "render"}
	var by []string
	for _, d := range Documents() {
		by = append(by, d.By...)
	}
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		f := cmd.Flags().Lookup("output")
		if f == nil || !slices.Contains(strings.Split(f.Value.Type(), "|"), string(formatJSON)) {
			return
		}
		if name := strings.Fields(cmd.CommandPath())[1]; !slices.Contains(by, name) && !slices.Contains(catalogs, name) {
			t.Errorf("no schema for olmkit %s -o json", name)
		}
	})
}
