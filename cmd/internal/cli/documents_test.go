package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every command with -o json prints documents that have a schema, except those that
// print catalogs, which OLM defines.
func TestEveryOutputHasSchema(t *testing.T) {
	catalogs := []string{"extract", "fmt", "merge", "render"}
	var by []string
	for _, d := range Documents() {
		by = append(by, d.By)
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
