package memcluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// A Cluster holds objects. Its zero value is an empty cluster. The methods are
// safe for concurrent use; set the fields first.
type Cluster struct {
	// GlobalNamespace, KubeVersion and Now are passed on with every snapshot.
	// Now may be nil: snapshots then have no time.
	GlobalNamespace string
	KubeVersion     string
	Now             func() time.Time
	// Known is copied into each snapshot. Nil means all kinds: objects that the cluster
	// does not hold do not exist. If only part of a cluster was read, set a list, even an
	// empty one.
	Known []olm.GroupKind
	// Controllers simulates other controllers immediately after each write: CRDs are
	// served, and deployments become available unless Available is set and returns false.
	Controllers bool
	Available   func(*olm.Deployment) bool
	// Intercept, if set, is called by Apply in place of the store: it may fail before or
	// after it applies a change, or write something else first.
	Intercept func(c reconcile.Change, apply func() error) error
	// Admit, if set, is called before each change by Apply and may refuse it, as
	// permissions and admission webhooks do. It may read the cluster: with a current
	// snapshot, [reconcile.Forbidden] reports whether the service account of an operator
	// group may make the change.
	Admit func(c reconcile.Change) error
	// Warn, if set, returns the warnings of the API server.
	Warn func(c reconcile.Change) []string

	mu      sync.Mutex
	objects map[olm.Key]olm.Object
	// ordered holds the objects by key. It is empty in a clone until it is needed.
	ordered []olm.Object
	// decoded has what snapshots share of the current objects.
	decoded  map[olm.Key]olm.Resource
	version  int64
	uid      int64
	watchers map[*watcher]struct{}
}

// ErrNotFound is the error of Get and Delete for an object that does not exist.
var ErrNotFound = errors.New("no such object")

// Put creates or replaces objects, including their status, without any checks. Objects
// without a uid or a generation get one.
func (c *Cluster) Put(resources ...olm.Resource) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range resources {
		o, err := olm.ToObject(r)
		if err != nil {
			return err
		}
		if old, ok := c.objects[o.Key()]; ok {
			o.Metadata.UID = cmp.Or(o.Metadata.UID, old.Metadata.UID)
			if finished(&old, &o) {
				c.delete(o.Key())
				continue
			}
		}
		c.identify(&o)
		if err := c.store(o); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) identify(o *olm.Object) {
	if o.Metadata.UID == "" {
		c.uid++
		o.Metadata.UID = fmt.Sprintf("00000000-0000-0000-0000-%012d", c.uid)
	}
	if o.Metadata.Generation == 0 {
		o.Metadata.Generation = 1
	}
	if c.Now != nil && o.Metadata.CreationTimestamp.IsZero() {
		o.Metadata.CreationTimestamp = c.Now().UTC().Truncate(time.Second)
	}
}

// store writes an object with a new version, and lets the controllers act.
func (c *Cluster) store(o olm.Object) error {
	if c.objects == nil {
		c.objects = map[olm.Key]olm.Object{}
	}
	c.version++
	o.Metadata.ResourceVersion = strconv.FormatInt(c.version, 10)
	typ := "MODIFIED"
	i, exists := c.place(o.Key())
	if exists {
		c.ordered[i] = o
	} else {
		typ, c.ordered = "ADDED", slices.Insert(c.ordered, i, o)
	}
	c.objects[o.Key()] = o
	delete(c.decoded, o.Key())
	c.notify(Event{typ, o})
	if !c.Controllers {
		return nil
	}
	status, err := c.control(o)
	if err != nil {
		return err
	}
	if status == nil || olm.Equal(status, &o) {
		return c.follow(o.Key())
	}
	return c.store(*status)
}

// Get returns an object. The error is ErrNotFound, wrapped.
func (c *Cluster) Get(k olm.Key) (olm.Object, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.objects[k]
	if !ok {
		return o, fmt.Errorf("%s: %w", k, ErrNotFound)
	}
	return o, nil
}

// List returns all objects by key.
func (c *Cluster) List() []olm.Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sorted())
}

// sorted returns all objects by key. The list is valid until the next change, and must not be
// modified.
func (c *Cluster) sorted() []olm.Object {
	if len(c.ordered) != len(c.objects) {
		c.ordered = slices.SortedFunc(maps.Values(c.objects), func(a, b olm.Object) int { return a.Key().Compare(b.Key()) })
	}
	return c.ordered
}

// place returns the index in ordered of the object with a key, or where it would be, and whether
// it exists.
func (c *Cluster) place(k olm.Key) (int, bool) {
	return slices.BinarySearchFunc(c.sorted(), k, func(o olm.Object, k olm.Key) int { return o.Key().Compare(k) })
}

// decode is [reconcile.Decode] for a current object, which is decoded once.
func (c *Cluster) decode(o olm.Object) (olm.Resource, error) {
	k := o.Key()
	if r, ok := c.decoded[k]; ok {
		return r, nil
	}
	r, err := reconcile.Decode(o)
	if err != nil {
		return nil, err
	}
	if c.decoded == nil {
		c.decoded = map[olm.Key]olm.Resource{}
	}
	c.decoded[k] = r
	return r, nil
}

// Delete deletes an object as an API server does: an object with finalizers gets a
// deletionTimestamp, and is deleted when the last finalizer is removed. The error is
// ErrNotFound, wrapped.
func (c *Cluster) Delete(k olm.Key) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.objects[k]; !ok {
		return fmt.Errorf("%s: %w", k, ErrNotFound)
	}
	return c.release(k)
}

// release deletes an object once it has no finalizers.
func (c *Cluster) release(k olm.Key) error {
	o := c.objects[k]
	if len(o.Metadata.Finalizers) == 0 {
		c.delete(k)
		return nil
	}
	if o.Metadata.IsDeleted() {
		return nil
	}
	o.Metadata.DeletionTimestamp = time.Unix(0, 0).UTC() // without a clock, use an arbitrary time
	if c.Now != nil {
		o.Metadata.DeletionTimestamp = c.Now().UTC().Truncate(time.Second)
	}
	return c.store(o)
}

// finished reports whether a write removes the last finalizer of an object that is being
// deleted.
func finished(old, now *olm.Object) bool {
	return old.Metadata.IsDeleted() && len(old.Metadata.Finalizers) > 0 && len(now.Metadata.Finalizers) == 0
}

// Remove deletes an object and its dependents at once and ignores finalizers. The error is
// ErrNotFound, wrapped.
func (c *Cluster) Remove(k olm.Key) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.objects[k]; !ok {
		return fmt.Errorf("%s: %w", k, ErrNotFound)
	}
	c.delete(k)
	return nil
}

// delete deletes an object and the dependents that have no other owner.
func (c *Cluster) delete(k olm.Key) {
	o := c.objects[k]
	if i, exists := c.place(k); exists {
		c.ordered = slices.Delete(c.ordered, i, i+1)
	}
	delete(c.objects, k)
	delete(c.decoded, k)
	c.version++
	c.notify(Event{"DELETED", o})
	var dependents []olm.Key
	for _, x := range c.sorted() {
		if slices.ContainsFunc(x.Metadata.OwnerReferences, func(r olm.OwnerReference) bool { return r.UID == o.Metadata.UID }) {
			dependents = append(dependents, x.Key())
		}
	}
	if len(dependents) == 0 {
		return
	}
	uids := c.uids()
	for _, key := range dependents {
		x, ok := c.objects[key]
		if !ok {
			continue // deleted with another dependent
		}
		if !slices.ContainsFunc(x.Metadata.OwnerReferences, func(r olm.OwnerReference) bool { return uids[r.UID] }) {
			_ = c.release(key) // setting only the deletion timestamp cannot fail
		}
	}
}

// Clone returns a cluster with the same objects, versions and fields, and without
// watchers.
func (c *Cluster) Clone() *Cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &Cluster{
		GlobalNamespace: c.GlobalNamespace, KubeVersion: c.KubeVersion, Now: c.Now, Known: c.Known,
		Controllers: c.Controllers, Available: c.Available, Admit: c.Admit, Intercept: c.Intercept, Warn: c.Warn,
		objects: maps.Clone(c.objects), version: c.version, uid: c.uid,
	}
}

// Read returns the state of the cluster for a namespace. Snapshots share objects, so they
// must not be modified.
func (c *Cluster) Read(ctx context.Context, namespace string) (*reconcile.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	c.mu.Lock()
	s, err := reconcile.NewSnapshotFunc(namespace, c.GlobalNamespace, c.sorted(), c.decode)
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	s.KubeVersion, s.Known = c.KubeVersion, c.Known
	if s.Known == nil {
		s.Known = []olm.GroupKind{reconcile.AllKinds}
	}
	if c.Now != nil {
		s.Now = c.Now().UTC().Truncate(time.Second)
	}
	return s, nil
}

// Apply makes a change, as an API server would.
func (c *Cluster) Apply(ctx context.Context, change reconcile.Change) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	apply := func() error {
		if c.Admit != nil {
			if err := c.Admit(change); err != nil {
				return err
			}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.apply(change)
	}
	var err error
	if c.Intercept != nil {
		err = c.Intercept(change, apply)
	} else {
		err = apply()
	}
	if err != nil || c.Warn == nil {
		return nil, err
	}
	return c.Warn(change), nil
}

func (c *Cluster) apply(change reconcile.Change) error {
	want := change.Object
	k := want.Key()
	old, exists := c.objects[k]
	for _, v := range change.If {
		if c.objects[v.Key].Metadata.ResourceVersion != v.ResourceVersion {
			return fmt.Errorf("%s depends on version %q of %s: %w", k, v.ResourceVersion, v.Key, reconcile.ErrConflict)
		}
	}
	if change.Op == reconcile.Create {
		if exists {
			return fmt.Errorf("%s exists: %w", k, reconcile.ErrConflict)
		}
		return c.create(want)
	}
	switch {
	case !exists:
		return fmt.Errorf("%s does not exist: %w", k, reconcile.ErrConflict)
	case want.Metadata.ResourceVersion != old.Metadata.ResourceVersion:
		return fmt.Errorf("%s has version %s, not %s: %w", k, old.Metadata.ResourceVersion, want.Metadata.ResourceVersion, reconcile.ErrConflict)
	}
	switch change.Op {
	case reconcile.Delete:
		return c.release(k)
	case reconcile.Update:
		return c.update(old, want)
	case reconcile.UpdateStatus:
		return c.updateStatus(old, want)
	}
	return fmt.Errorf("%s: unknown operation %q", k, change.Op)
}

func (c *Cluster) create(o olm.Object) error {
	if o.Metadata.Name == "" && o.Metadata.GenerateName != "" {
		o.Metadata.Name = fmt.Sprintf("%s%05d", o.Metadata.GenerateName, c.version)
	}
	if err := invalid(&o, nil); err != nil {
		return err
	}
	if hasStatus(o.Key()) {
		var err error
		if o, err = o.Set("status", nil); err != nil {
			return err
		}
	}
	o.Metadata.UID, o.Metadata.Generation, o.Metadata.DeletionTimestamp = "", 0, time.Time{}
	c.identify(&o)
	if err := c.store(o); err != nil {
		return err
	}
	c.collect(o)
	return nil
}

// collect deletes an object whose owners no longer exist, as the garbage collector
// does.
func (c *Cluster) collect(o olm.Object) {
	if len(o.Metadata.OwnerReferences) == 0 {
		return
	}
	if !slices.ContainsFunc(c.sorted(), func(x olm.Object) bool {
		return slices.ContainsFunc(o.Metadata.OwnerReferences, func(r olm.OwnerReference) bool { return r.UID == x.Metadata.UID })
	}) {
		_ = c.release(o.Key())
	}
}

func (c *Cluster) uids() map[string]bool {
	uids := make(map[string]bool, len(c.objects))
	for _, x := range c.objects {
		uids[x.Metadata.UID] = true
	}
	return uids
}

func (c *Cluster) update(old, want olm.Object) error {
	if hasStatus(old.Key()) {
		status, _ := old.Get("status")
		var err error
		if want, err = setMember(want, "status", status); err != nil {
			return err
		}
	}
	if err := invalid(&want, &old); err != nil {
		return err
	}
	want.Metadata.UID, want.Metadata.CreationTimestamp, want.Metadata.Generation = old.Metadata.UID, old.Metadata.CreationTimestamp, old.Metadata.Generation
	if want.Metadata.DeletionTimestamp = old.Metadata.DeletionTimestamp; finished(&old, &want) {
		c.delete(old.Key())
		return nil
	}
	before, after := old, want
	before.Metadata, after.Metadata = olm.Metadata{}, olm.Metadata{}
	if !olm.Equal(&before, &after) {
		want.Metadata.Generation++
	} else if olm.Equal(&old, &want) {
		return nil // nothing changes, so the version stays the same
	}
	return c.store(want)
}

func (c *Cluster) updateStatus(old, want olm.Object) error {
	if !hasStatus(old.Key()) {
		return fmt.Errorf("%s has no status subresource", old.Key())
	}
	was, _ := old.Get("status")
	status, _ := want.Get("status")
	if olm.EqualJSON(was, status) {
		return nil
	}
	out, err := setMember(old, "status", status)
	if err != nil {
		return err
	}
	return c.store(out)
}

func setMember(o olm.Object, name string, value []byte) (olm.Object, error) {
	if len(value) == 0 {
		return o.Set(name, nil)
	}
	return o.Set(name, rawJSON(value))
}

// hasStatus reports whether a kind has a status subresource.
func hasStatus(k olm.Key) bool {
	switch k.Group {
	case olm.Group, olm.GroupCRD:
		return true
	case "apps":
		return k.Kind == "Deployment"
	}
	return isAPIService(k)
}
