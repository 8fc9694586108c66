package cli

import (
	"fmt"

	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// rivals returns notes on the packages that classic OLM and OLM v1 both manage, in the order of the objects.
func rivals(c *memcluster.Cluster) (out []reconcile.Note) {
	list := c.List()
	for _, o := range list {
		if k := o.Key(); k.Group != groupV1 || k.Kind != kindExtension {
			continue
		}
		e, err := asExtension(o)
		if err != nil {
			continue // reported where it is planned
		}
		for _, o := range list {
			s, err := olm.As[olm.Subscription](o)
			if k := o.Key(); err != nil || k.Group != olm.Group || k.Kind != olm.KindSubscription || s.Spec.Package != e.Spec.Source.Catalog.PackageName {
				continue
			}
			text := fmt.Sprintf("%s installs package %s, too", s.Key(), s.Spec.Package)
			command := kubectl.Delete("subscription.operators.coreos.com", s.Metadata.Namespace, s.Metadata.Name)
			switch {
			case e.Status.Install.Bundle.Name == "":
				text += "; delete this ClusterExtension, which has installed nothing"
				command = kubectl.Delete("clusterextension", "", e.Metadata.Name)
			case s.Status.InstalledCSV == "":
				text += "; delete the subscription, which has installed nothing"
			default:
				command += " && " + kubectl.Delete("clusterserviceversion", s.Metadata.Namespace, s.Status.InstalledCSV)
				text += fmt.Sprintf(", so it runs twice, and both change its CRDs. Keep one: the subscription and ClusterServiceVersion %s can be deleted without losing CRDs, while those that the ClusterExtension installed are deleted with it", s.Status.InstalledCSV)
			}
			out = append(out, reconcile.Note{Object: e.Key(), Message: text, Command: command})
		}
	}
	return out
}
