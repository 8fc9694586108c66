package cli

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/olmkit/olmkit/internal/clusterstatus"
	"github.com/olmkit/olmkit/kube/catalogd"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// anyTime is the time of simulated connections and conditions, which is not printed.
var anyTime = time.Unix(0, 0).UTC()

// catalogStatuses simulates what the controller writes to the statuses of CatalogSources.
func (w *rehearsal) catalogStatuses(ctx context.Context) error {
	written := false
	for _, o := range w.cluster.List() {
		k := o.Key()
		if k.Group != olm.Group || k.Kind != olm.KindCatalogSource {
			continue
		}
		isRead, exists := w.sources[resolver.CatalogID{Name: k.Name, Namespace: k.Namespace}]
		if !exists || o.Metadata.IsDeleted() {
			continue
		}
		c, err := olm.As[olm.CatalogSource](o)
		if err != nil {
			return err
		}
		x, reason := w.connection(c, isRead)
		if !x.Apply(c) {
			continue
		}
		if err := w.write(ctx, c, reason, ""); err != nil {
			return err
		}
		written = true
	}
	if written {
		w.passes++
	}
	return nil
}

// connection returns the connection that the controller would report for a catalog, and
// describes it. isRead states whether the catalog was read here; if not, or if the cluster does not reach it,
// its state stays.
func (w *rehearsal) connection(c *olm.CatalogSource, isRead bool) (x clusterstatus.Connection, reason string) {
	image, address, err := clusterstatus.Location(c)
	switch {
	case err != nil:
	case image != "":
		address = clusterstatus.ImageAddress(image)
	default:
		var client *catalogd.Client
		if client, err = catalogd.New(address, nil); err == nil {
			address = client.URL()
		}
	}
	switch was := c.Status.ConnectionState; {
	case err != nil:
		x = clusterstatus.Unreadable(c, "", err, true)
		return x, x.State + ", " + x.Reason + ": " + x.Message
	case isRead && !isUnhealthy(c):
		x = clusterstatus.Connection{Address: address, State: olm.ConnectionReady, Since: anyTime}
		x.Reason, x.Message = clusterstatus.Fault(c, w.pullSecrets)
		return x, x.State + ", read from " + address
	default:
		x = clusterstatus.Connection{Address: address, State: clusterstatus.Failing, Reason: c.Status.Reason, Message: c.Status.Message}
		if was != nil {
			x.State = cmp.Or(was.LastObservedState, x.State)
		}
		return x, "read from " + address + "; whether the controller can read it is unknown"
	}
}

// configStatus simulates what the controller writes to the status of the OLMConfig.
func (w *rehearsal) configStatus(ctx context.Context) error {
	now, err := w.cluster.Read(ctx, w.cluster.GlobalNamespace)
	if err != nil || now.OLMConfig == nil || now.OLMConfig.Metadata.Name != clusterstatus.ConfigName {
		return err
	}
	if !slices.Contains(now.Known, olm.GroupKind{Kind: "Namespace"}) && !slices.Contains(now.Known, reconcile.AllKinds) {
		return nil // it is unknown which copies there should be
	}
	config := *now.OLMConfig
	if !(clusterstatus.Copies{Namespaces: now.Namespaces, Groups: now.OperatorGroups, CSVs: now.CSVs}).Apply(&config, anyTime) {
		return nil
	}
	c, _ := olm.FindCondition(config.Status.Conditions, clusterstatus.CopiesCondition)
	if err := w.write(ctx, &config, c.Type+" is "+c.Status+": "+c.Message, "E39"); err != nil {
		return err
	}
	w.passes++
	return nil
}

// write writes a status, and prints it or keeps it until the end.
func (w *rehearsal) write(ctx context.Context, r olm.Resource, reason, rule string) error {
	o, err := olm.ToObject(r)
	if err != nil {
		return err
	}
	change := reconcile.Change{Op: reconcile.UpdateStatus, Object: o, Reason: reason, Rule: rule}
	_, err = w.cluster.Apply(ctx, change)
	w.progress(1, change, err)
	return cmp.Or(err, w.err)
}
