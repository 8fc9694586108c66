package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// Apply makes one change and returns the warnings of the API server. Updates
// and deletions carry the resource version they were planned from, so the API
// server rejects them if the object has changed since. The other objects that a
// change depends on are checked immediately before the write. If one of them
// changes after that, the next plan takes it into account.
//
// Steps of an install plan, and the objects that run an operator, are written
// as the service account that the operator group of the namespace names, if
// any.
func (c *Cluster) Apply(ctx context.Context, change reconcile.Change) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if err := c.checkBasis(ctx, change); err != nil {
		return nil, err
	}
	cl, err := c.writer(ctx, change)
	if err != nil {
		return nil, err
	}
	u, err := encode(change.Object)
	if err != nil {
		return nil, err
	}
	uid := u.GetUID()
	done, err := c.turns.wait(ctx, change.Key())
	if err != nil {
		return nil, err
	}
	defer done()
	if change.Op != reconcile.Create && c.recent.overtook(uid, u.GetResourceVersion()) {
		return nil, fmt.Errorf("%s: version %q has been replaced: %w", change.Key(), u.GetResourceVersion(), reconcile.ErrConflict)
	}
	call, warnings := withWarnings(ctx)
	at := c.opts.Now()
	switch change.Op {
	case reconcile.Create:
		u.SetResourceVersion("")
		u.SetUID("")
		err = cl.Create(call, u)
	case reconcile.Update:
		err = cl.Update(call, u)
	case reconcile.UpdateStatus:
		err = cl.Status().Update(call, u)
	case reconcile.Delete:
		version := u.GetResourceVersion()
		err = cl.Delete(call, u, client.Preconditions{UID: nonEmpty(uid), ResourceVersion: &version}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	default:
		return nil, fmt.Errorf("%s: unknown operation %q", change.Key(), change.Op)
	}
	if err != nil {
		return nil, c.refused(ctx, change, err)
	}
	if change.Op != reconcile.Delete {
		c.basis.add(reconcile.Version{Key: change.Key(), ResourceVersion: u.GetResourceVersion()}, at)
	}
	c.remember(change, u, uid)
	return warnings.list(), nil
}

func nonEmpty(uid types.UID) *types.UID {
	if uid == "" {
		return nil
	}
	return &uid
}

// remember makes the next Read return the change even if the cache has not seen
// it yet.
func (c *Cluster) remember(change reconcile.Change, u *unstructured.Unstructured, uid types.UID) {
	if c.opts.Cache == nil {
		return
	}
	key := keyOf(u)
	if _, ok := findKind(key.Group, key.Kind); !ok {
		return
	}
	if change.Op == reconcile.Delete {
		c.recent.put(key, write{uid: uid})
		return
	}
	if u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0 { // the last one was removed
		c.recent.put(key, write{uid: uid, gone: true})
		return
	}
	u.SetManagedFields(nil)
	c.recent.put(key, write{object: u})
	c.recent.wrote(u.GetUID(), u.GetResourceVersion(), beneficiary(change))
}

// beneficiary returns the namespace whose plan contains the change.
func beneficiary(change reconcile.Change) string {
	if change.For.Namespace != "" {
		return change.For.Namespace
	}
	return change.Object.Metadata.Namespace
}

// checkBasis returns an error if an object that the change depends on has
// changed.
func (c *Cluster) checkBasis(ctx context.Context, change reconcile.Change) error {
	var err error
	for _, v := range change.If {
		k, ok := findKind(v.Key.Group, v.Key.Kind)
		if !ok && isServed(v.Key) {
			k, ok = kind{gvk: schema.GroupVersionKind{Version: "v1", Kind: v.Key.Kind}}, true
		}
		if !ok {
			return fmt.Errorf("%s depends on %s, whose kind is not watched", change.Key(), v.Key)
		}
		if change.Op == reconcile.Create && c.basis.has(v, c.opts.Now()) && c.isCached(ctx, v) {
			continue
		}
		at := c.opts.Now()
		now, getErr := c.liveVersion(ctx, k, v.Key)
		if getErr != nil {
			return getErr
		}
		if now == v.ResourceVersion {
			c.basis.add(v, at)
		} else { // check the other objects too: they may have changed at the same time
			c.look(ctx, v.Key)
			err = errors.Join(err, fmt.Errorf("%s depends on version %q of %s: %w", change.Key(), v.ResourceVersion, v.Key, reconcile.ErrConflict))
		}
	}
	return err
}

// isCached reports whether the cache has a version of an object.
func (c *Cluster) isCached(ctx context.Context, v reconcile.Version) bool {
	k, ok := findKind(v.Key.Group, v.Key.Kind)
	if !ok || c.opts.Cache == nil {
		return false
	}
	have, err := c.source.get(ctx, k, v.Key.Namespace, v.Key.Name)
	return err == nil && have != nil && have.Head().Metadata.ResourceVersion == v.ResourceVersion
}

// A basis holds when the API server was last known to have certain versions of objects, because
// they were read from it or written. It is safe for concurrent use.
type basis struct {
	mu   sync.Mutex
	seen map[reconcile.Version]time.Time
	// order holds the keys of seen in the order in which they were added. A version that was
	// added again is in it more than once.
	order []reconcile.Version
}

// basisLasts is how long a version that was seen may be relied on, so that a process that was
// stopped in between reads it again. Reading it before each creation would not close the gap
// between the look and the write, because the API server has no transactions; it would only make
// it shorter. In that gap a creation overwrites nothing, and the next plan starts from what changed.
// Updates and deletions always look, and the API server checks the version of their object.
const basisLasts = time.Second

// add records that the API server had a version at a time, and forgets what is too old.
func (b *basis) add(v reconcile.Version, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at = at.Round(0) // a monotonic clock may stop with the machine
	for len(b.order) > 0 && !isRecent(b.seen[b.order[0]], at) {
		delete(b.seen, b.order[0])
		b.order = b.order[1:]
	}
	if b.seen == nil {
		b.seen = map[reconcile.Version]time.Time{}
	}
	b.seen[v], b.order = at, append(b.order, v)
}

func (b *basis) has(v reconcile.Version, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok := b.seen[v]
	return ok && isRecent(at, now.Round(0))
}

func isRecent(at, now time.Time) bool {
	age := now.Sub(at)
	return 0 <= age && age < basisLasts
}

// liveVersion returns the current resource version of an object on the API
// server, or "" if it does not exist.
func (c *Cluster) liveVersion(ctx context.Context, k kind, key olm.Key) (string, error) {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(k.gvk)
	err := c.client.Get(ctx, types.NamespacedName{Namespace: key.Namespace, Name: key.Name}, m)
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", classify(err)
	}
	return m.ResourceVersion, nil
}

// refused translates the error of a rejected change to the errors of package
// reconcile. After a conflict, refused reads the object again, so that the next
// Read does not return a stale version.
func (c *Cluster) refused(ctx context.Context, change reconcile.Change, err error) error {
	key := change.Key()
	err = classify(err)
	switch {
	case errors.Is(err, reconcile.ErrConflict):
		c.look(ctx, key)
		if change.Op == reconcile.Create {
			c.wants.found(beneficiary(change), key)
		}
	case isForbidden(err):
		return forbidden{err}
	case apierrors.IsNotFound(err) && change.Op != reconcile.Create:
		// Either the object does not exist, or its kind does not have a status.
		u, lookErr := c.live.unstructured(ctx, gvkOf(change.Object), key.Namespace, key.Name)
		if lookErr != nil {
			return classify(lookErr)
		}
		if u == nil {
			c.look(ctx, key)
			return fmt.Errorf("%w: %w", reconcile.ErrConflict, err)
		}
	}
	return err
}

// A forbidden is an error that is also reconcile.ErrForbidden.
type forbidden struct{ error }

func (f forbidden) Is(target error) bool { return target == reconcile.ErrForbidden }
func (f forbidden) Unwrap() error        { return f.error }

func gvkOf(o olm.Object) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
}

// look reads an object from the API server and overlays the cache with that
// version.
func (c *Cluster) look(ctx context.Context, key olm.Key) {
	k, ok := findKind(key.Group, key.Kind)
	if !ok || c.opts.Cache == nil {
		return
	}
	u, err := c.live.unstructured(ctx, k.gvk, key.Namespace, key.Name)
	if err != nil {
		return // the next read reports the same error
	}
	if u == nil {
		v, err := c.source.get(ctx, k, key.Namespace, key.Name)
		if err == nil && v != nil {
			c.recent.put(key, write{uid: types.UID(v.Head().Metadata.UID)})
		}
		return
	}
	u.SetManagedFields(nil)
	c.recent.put(key, write{object: u})
}
