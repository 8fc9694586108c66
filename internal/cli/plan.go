package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/reconcile"
)

func newPlan(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan -f FILE... [CATALOG...]",
		Short: "Show what would happen next in a namespace of a cluster, and why",
		Long: `Plan reads objects of a cluster, as "kubectl get -o yaml" prints them, and shows
which writes Operator Lifecycle Manager would make next in a namespace, each with
its reason, and what stands still and for what it waits. Nothing is written.

A CATALOG is a directory of a file-based catalog, or one file of it: the content
of the CatalogSource of the same name. --catalog gives it another name, or a
namespace. A catalog without a CatalogSource counts as a healthy one in the
global namespace; a CatalogSource without content counts as unhealthy. For a
bundle whose manifests the catalog does not carry, its properties stand in.

What follows from these writes is for "olmkit simulate" to tell.

Exit codes: 0 here is the plan, 1 the subscriptions cannot be resolved (the plan
says why), 2 the input could not be read.`,
		Example: `  kubectl get -n operators -o yaml sub,csv,ip,og > state.yaml
  olmkit plan -f state.yaml --catalog community=./catalog
  olmkit plan -f - -n operators ./catalog < state.yaml -o json`,
	}
	var s clusterState
	f := addFormat(cmd)
	s.addFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		cluster, catalogs, err := s.load(ctx, newLoader(e), args)
		if err != nil {
			return err
		}
		snapshot, err := cluster.Read(ctx, s.namespace)
		if err != nil {
			return err
		}
		plan, err := reconcile.Decide(ctx, snapshot, catalogs, nil)
		if err != nil {
			return err
		}
		out := printer{w: e.stdout, format: *f}
		if err := out.print(&planDocument{Plan: plan, Hash: plan.Hash(), Refused: refusal(plan)}); err != nil {
			return err
		}
		if plan.Refused != nil {
			return errNegative
		}
		return nil
	}
	return cmd
}

// A planDocument is a plan for people and machines.
type planDocument struct {
	*reconcile.Plan
	// Hash tells plans apart: the same state has the same one (G2).
	Hash    string `json:"hash"`
	Refused string `json:"refused,omitempty"`
}

func (d *planDocument) text(w io.Writer) error {
	var err error
	print := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, format, args...)
		}
	}
	if len(d.Changes) == 0 {
		print("Nothing to do in namespace %s.\n", d.Namespace)
	}
	for i := range d.Changes {
		print("%3d. %s\n", i+1, &d.Changes[i])
	}
	if d.Refused != "" {
		print("The subscriptions cannot be resolved: %s\n", d.Refused)
	}
	for _, n := range d.Notes {
		print("note: %s\n", n)
	}
	return err
}
