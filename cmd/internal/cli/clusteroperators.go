package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

// A clusterReader reads the operators of a cluster and the catalogs that it serves.
type clusterReader struct {
	*clusterState
	loader    *loader
	census    *census
	operators []operatorStatus
}

// readOperators reads the cluster, and returns a reader with the operators of the chosen
// namespace, or of all namespaces.
func (s *clusterState) readOperators(ctx context.Context, l *loader) (*clusterReader, error) {
	c, err := s.read(ctx, l)
	if err != nil {
		return nil, err
	}
	groups := []string{olm.Group, groupV1}
	if s.namespace != "" {
		groups = groups[:1] // installed reports that ClusterExtensions are unknown
	}
	if err := s.readable(groups...); err != nil {
		return nil, err
	}
	t, err := s.takeCensus()
	if err != nil {
		return nil, err
	}
	if err := t.mentioned(c, s.namespace); err != nil {
		return nil, err
	}
	r := &clusterReader{clusterState: s, loader: l, census: t}
	all, err := t.operators(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if s.namespace == "" || o.Namespace == s.namespace {
			r.operators = append(r.operators, o)
		}
	}
	return r, nil
}

// readable returns an error if objects of the groups that an answer depends on could not be
// read.
func (s *clusterState) readable(groups ...string) error {
	lacking := s.lacking()
	i := slices.IndexFunc(lacking, func(u unread) bool {
		return slices.Contains(groups, u.Group) && u.Kind != olm.KindOperatorCondition && u.Kind != olm.KindOLMConfig && u.Kind != olm.KindOperator
	})
	if i < 0 {
		return nil
	}
	return fmt.Errorf("the answer needs objects that could not be read: %s; \"olmkit status --print-rbac\" prints the role that reads everything, and with --namespace the role that suffices for a namespace", lacking[i])
}

// lacking returns the kinds of which objects of the chosen namespace, or of any if none was
// chosen, may be missing.
func (s *clusterState) lacking() []unread {
	return slices.DeleteFunc(slices.Clone(s.missing), func(u unread) bool {
		return !u.lacks(s.namespace)
	})
}

// installed returns the operator of a package. There must be exactly one.
func (r *clusterReader) installed(pkg string) (*operatorStatus, error) {
	var found []operatorStatus
	var where, known []string
	for _, o := range r.operators {
		known = append(known, o.Package)
		if o.Package == pkg && o.Installed != "" {
			found = append(found, o)
			where = append(where, o.Object.String())
		}
	}
	switch len(found) {
	case 0:
		if err := r.readable(groupV1); err != nil {
			return nil, fmt.Errorf("no subscription or ClusterServiceVersion of package %q was found%s; %w", pkg, hint(pkg, known), err)
		}
		return nil, fmt.Errorf("no operator of package %q is installed in the cluster%s", pkg, hint(pkg, known))
	case 1:
		return &found[0], nil
	}
	return nil, usagef("package %s is installed several times (%s); choose one with --namespace", pkg, strings.Join(where, ", "))
}

// catalogs returns the catalogs that the cluster serves and the command line does not give:
// those of CatalogSources, or ClusterCatalogs.
func (r *clusterReader) catalogs(given []source, v1 bool) ([]source, error) {
	if v1 {
		return r.servedV1(r.cluster, given)
	}
	return r.served(r.cluster, given, func(resolver.CatalogID) bool { return true })
}

// find returns an operator's package in the preferred catalog that the cluster serves for it.
func (r *clusterReader) find(ctx context.Context, o *operatorStatus) (graph.Package, error) {
	list, err := r.catalogs(nil, o.isV1())
	if err != nil {
		return graph.Package{}, err
	}
	byPriority(list)
	for _, src := range list {
		if !o.isV1() && (src.name != o.Catalog || src.namespace != o.catalogNamespace) {
			continue
		}
		g, err := r.content(ctx, r.loader, src)
		if err != nil {
			return graph.Package{}, err
		}
		if g == nil {
			continue
		}
		if p, ok := g.Package(o.Package); ok {
			return p, nil
		}
	}
	return graph.Package{}, fmt.Errorf("no catalog of the cluster that can be read here has package %s of %s; name a catalog with --catalog", o.Package, o.Object)
}

// byPriority sorts catalogs by descending priority, and then by name.
func byPriority(list []source) {
	slices.SortFunc(list, func(a, b source) int {
		if a.priority != b.priority {
			return b.priority - a.priority
		}
		return strings.Compare(a.name, b.name)
	})
}

// addNamespace adds the flags that choose the namespaces of operators, all by default.
func (s *clusterState) addNamespace(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&s.namespace, "namespace", "n", "", "with a cluster, the `NAMESPACE` of the operators")
	cmd.Flags().BoolVarP(&s.all, "all-namespaces", "A", false, "with a cluster, the operators of all namespaces (default)")
	cmd.MarkFlagsMutuallyExclusive("all-namespaces", "namespace")
	completeFlag(cmd, "namespace", cobra.NoFileCompletions)
}

// checkNamespace returns an error if a flag of addNamespace is set without a cluster.
func (s *clusterState) checkNamespace() error {
	if s.namespace != "" || s.all {
		return usagef("--namespace and --all-namespaces need a cluster; add --cluster or --filename")
	}
	return nil
}

// notes prints what was inferred or could not be read.
func (r *clusterReader) notes() {
	noteAll(r.loader, r.inferred)
}

func (o *operatorStatus) isV1() bool { return o.Object.Group == groupV1 }
