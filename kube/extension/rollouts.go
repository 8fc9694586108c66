package extension

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/extension/desired"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

// A Source reads the bundles of images. It must be safe for concurrent use.
type Source interface {
	Bundle(ctx context.Context, image string) (*registryv1.Bundle, error)
}

// Rollouts installs bundles as the revisions of package rollout, which are ClusterObjectSets or,
// on clusters without these, Secrets. It is safe for concurrent use for different extensions.
type Rollouts struct { // K63
	// Client reads from the API server and writes.
	Client client.Client
	// Objects reads what has the label olm.operatorframework.io/owner-name, for example from
	// a cache. It may be behind the API server.
	Objects client.Reader
	// ObjectSets, if not nil, reads ClusterObjectSets, which are then the revisions. Extensions
	// with revisions in Secrets keep them. It may be behind the API server.
	ObjectSets client.Reader
	// Watch, if not nil, is called for each kind before its objects are read. An error means
	// that the objects are read from the API server.
	Watch func(context.Context, schema.GroupVersionKind) error
	// Namespace is where the Secrets are.
	Namespace string
	Bundles   Source
	// Certificates provides the certificates of webhooks.
	Certificates registryv1.CertProvider

	mu    sync.Mutex
	known map[string]*knowledge // by extension, or by object set
	pulls map[string]int        // how many images are being read, by registry
}

// knowledge is what is remembered of an extension, or of an object set without one. All of it
// can be lost.
type knowledge struct {
	applied map[types.UID]string // see rollout.Snapshot
	failed  map[string]string    // likewise
	foreign map[string]bool      // keys of objects with our names that Objects does not have
	request string               // identifies what was rendered
	want    *wanted              // from it
	pull    *pull                // of the image that is being read, or nil
	// orphaned is the UID of the extension if it was deleted without its dependents.
	orphaned types.UID
}

func (x *Rollouts) knowledge(name string) *knowledge {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.known == nil {
		x.known = map[string]*knowledge{}
	}
	if x.known[name] == nil {
		x.known[name] = &knowledge{applied: map[types.UID]string{}, failed: map[string]string{}, foreign: map[string]bool{}}
	}
	return x.known[name]
}

func (x *Rollouts) forget(name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if k := x.known[name]; k != nil && k.pull != nil {
		k.pull.cancel()
	}
	delete(x.known, name)
}

// A group is the revisions of an extension, or the object sets with the name of an extension
// that does not exist.
type group struct {
	*knowledge
	extension *api.ClusterExtension // or nil
	snapshot  *rollout.Snapshot
	records   map[string]client.Object // what the revisions are on the cluster, by name
	// release is the first revision, to be created from a Helm release, or nil.
	release *rollout.Revision
}

// add adds a revision.
func (g *group) add(r *rollout.Revision, record client.Object) {
	g.snapshot.Revisions = append(g.snapshot.Revisions, *r)
	g.records[r.Name] = record
}

// read returns the state of an extension.
func (x *Rollouts) read(ctx context.Context, e *api.ClusterExtension, now time.Time) (*group, error) {
	g := x.group(e.Name, now)
	g.extension = e
	s := g.snapshot
	s.Extension = rollout.Extension{
		Name: e.Name, UID: e.UID, ResourceVersion: e.ResourceVersion,
		Deleting: e.DeletionTimestamp != nil, Finalizer: slices.Contains(e.Finalizers, desired.Teardown),
	}
	var list corev1.SecretList
	if err := x.Objects.List(ctx, &list, client.InNamespace(x.Namespace), client.MatchingLabels{desired.OwnerName: e.Name}); err != nil {
		return nil, err
	}
	for i := range list.Items {
		secret := &list.Items[i]
		r, err := desired.FromSecret(secret)
		switch {
		case err != nil:
			return nil, err
		case r == nil:
			s.Secrets = append(s.Secrets, *secret)
		default:
			g.add(r, secret)
		}
	}
	if s.Recorded = x.ObjectSets == nil || len(s.Revisions) > 0; !s.Recorded {
		var sets api.ClusterObjectSetList
		if err := x.ObjectSets.List(ctx, &sets, client.MatchingLabels{desired.OwnerName: e.Name}); err != nil {
			return nil, err
		}
		if err := x.addSets(ctx, g, sets.Items); err != nil {
			return nil, err
		}
	}
	if slices.Contains(e.Finalizers, metav1.FinalizerOrphanDependents) {
		g.orphaned = e.UID
	}
	for i := range s.Revisions {
		r := &s.Revisions[i]
		r.Orphan = r.Orphan || s.Extension.Deleting && (g.orphaned == e.UID || !owns(e, g.records[r.Name]))
	}
	if len(s.Revisions) == 0 && !s.Extension.Deleting {
		var err error
		if g.release, err = x.release(ctx, e.Name); err != nil {
			return nil, err
		}
	}
	return g, x.readObjects(ctx, g)
}

// release returns what operator-controller has installed for an extension as a Helm release, or
// nil.
func (x *Rollouts) release(ctx context.Context, extension string) (*rollout.Revision, error) { // K77
	var list corev1.SecretList
	if err := x.Client.List(ctx, &list, client.InNamespace(x.Namespace), client.MatchingLabels(desired.ReleaseLabels(extension))); err != nil {
		return nil, err
	}
	return desired.FromReleases(list.Items, func(name string) (*corev1.Secret, error) {
		s := &corev1.Secret{}
		return s, x.Client.Get(ctx, client.ObjectKey{Namespace: x.Namespace, Name: name}, s)
	})
}

// owns returns whether an extension is an owner of a revision. The garbage collector removes
// that reference, and then the finalizer of the extension, if it is deleted without its dependents.
func owns(e *api.ClusterExtension, record client.Object) bool { // K94
	return slices.ContainsFunc(record.GetOwnerReferences(), func(x metav1.OwnerReference) bool { return x.UID == e.UID })
}

func (x *Rollouts) group(name string, now time.Time) *group {
	k := x.knowledge(name)
	return &group{
		knowledge: k, records: map[string]client.Object{},
		snapshot: &rollout.Snapshot{Namespace: x.Namespace, Applied: k.applied, Failed: k.failed, Now: now},
	}
}

// addSets adds object sets, and the Secrets that they refer to.
func (x *Rollouts) addSets(ctx context.Context, g *group, sets []api.ClusterObjectSet) error { // K89
	s := g.snapshot
	for i := range sets {
		r := desired.FromObjectSet(&sets[i], x.Namespace)
		g.add(r, &sets[i])
		if r.Archived && !r.Finalizer {
			continue // its objects are gone
		}
		for _, ref := range slices.Concat(r.Refs...) {
			if ref.Name == "" || slices.ContainsFunc(s.Secrets, func(x corev1.Secret) bool { return x.Name == ref.Name && x.Namespace == ref.Namespace }) {
				continue
			}
			var secret corev1.Secret
			err := x.Client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &secret)
			if err == nil {
				s.Secrets = append(s.Secrets, secret)
			} else if !apierrors.IsNotFound(err) {
				return err
			}
		}
	}
	return nil
}

// readObjects reads the objects with the names of those in the revisions.
func (x *Rollouts) readObjects(ctx context.Context, g *group) error {
	s := g.snapshot
	for _, o := range s.Named() {
		live, err := x.object(ctx, g.knowledge, o)
		if err != nil {
			return err
		}
		if live != nil {
			s.Objects = append(s.Objects, live)
		}
	}
	maps.DeleteFunc(g.applied, func(uid types.UID, _ string) bool {
		return !slices.ContainsFunc(s.Objects, func(o *unstructured.Unstructured) bool { return o.GetUID() == uid })
	})
	return nil
}

// object returns the object on the cluster with the name of o, or nil.
func (x *Rollouts) object(ctx context.Context, k *knowledge, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	key := registryv1.Key(o)
	var from client.Reader = x.Objects
	if x.Watch != nil {
		if err := x.Watch(ctx, o.GroupVersionKind()); meta.IsNoMatchError(err) {
			return nil, nil // creating it reports that
		} else if err != nil {
			return nil, err
		}
	}
	live, err := get(ctx, from, o)
	if err == nil && live == nil && k.foreign[key] {
		if live, err = get(ctx, x.Client, o); live == nil {
			delete(k.foreign, key)
		}
		return live, err
	}
	if live != nil {
		delete(k.foreign, key)
	}
	return live, err
}

func get(ctx context.Context, from client.Reader, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(o.GroupVersionKind())
	err := from.Get(ctx, client.ObjectKeyFromObject(o), live)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return live, nil
}

// want returns the revision that a bundle needs. The error is the cause of the context's end,
// a terminal error if retrying does not help, errBusy, or why the image cannot be read.
func (x *Rollouts) want(ctx context.Context, e *api.ClusterExtension, b *rollout.Bundle) (*rollout.Revision, error) {
	k := x.knowledge(e.Name)
	b = new(*b)
	b.Properties = ""
	request := fmt.Sprintf("%s %d %+v", e.UID, e.Generation, *b)
	if k.want != nil && k.request == request {
		return k.want.unpack()
	}
	bundle, err := x.pull(ctx, k, b.Image)
	if err != nil {
		return nil, err
	}
	want, err := desired.Want(ctx, e, b, bundle, registryv1.RenderOptions{Certificates: x.Certificates})
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, reconcile.TerminalError(err)
	}
	packed, err := pack(want)
	if err != nil {
		return nil, reconcile.TerminalError(err)
	}
	k.request, k.want = request, packed
	return want, nil
}

const (
	// maxPulls is how many images of one registry are read at the same time.
	maxPulls = 3
	// firstWait is how long a worker waits for an image. After that it does other work, so registries
	// that do not answer hold no workers.
	firstWait = time.Second
)

// errBusy means that the image is being read, or that as many images of its registry are being read as
// are allowed.
var errBusy = errors.New("the image is still being read")

// A pull reads a bundle.
type pull struct {
	image  string
	cancel context.CancelFunc
	done   chan struct{} // closed when the others are set
	bundle *registryv1.Bundle
	err    error
}

// pull reads the bundle of an extension. The error is errBusy, that of unreadable, or the cause of the
// context's end.
func (x *Rollouts) pull(ctx context.Context, k *knowledge, image string) (*registryv1.Bundle, error) {
	if k.pull != nil && k.pull.image != image {
		k.pull.cancel()
		k.pull = nil
	}
	p, wait := k.pull, time.Duration(0)
	if p == nil {
		if p = x.begin(ctx, image); p == nil {
			return nil, errBusy
		}
		k.pull, wait = p, firstWait
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(wait):
	}
	select {
	case <-p.done:
	default:
		return nil, errBusy
	}
	k.pull = nil
	if p.err != nil {
		return nil, unreadable(p.err)
	}
	return p.bundle, nil
}

// begin begins to read a bundle. It returns nil if the registry is busy.
func (x *Rollouts) begin(ctx context.Context, image string) *pull {
	registry, _, _ := strings.Cut(image, "/")
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.pulls[registry] >= maxPulls {
		return nil
	}
	if x.pulls == nil {
		x.pulls = map[string]int{}
	}
	x.pulls[registry]++
	p := &pull{image: image, done: make(chan struct{})}
	ctx, p.cancel = context.WithCancel(ctx)
	go func() {
		defer p.cancel()
		p.bundle, p.err = x.Bundles.Bundle(ctx, image)
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.pulls[registry]--; x.pulls[registry] == 0 {
			delete(x.pulls, registry)
		}
		close(p.done)
	}()
	return p
}

// unreadable returns the error for a bundle that cannot be read. Content that is invalid stays
// so, and a registry that does not answer may do so later.
func unreadable(err error) error {
	var invalid *registryv1.Error
	if errors.As(err, &invalid) {
		return reconcile.TerminalError(err)
	}
	return &unavailable{err}
}

// unavailable is the error for an image that cannot be pulled.
type unavailable struct{ error }

func (u *unavailable) Unwrap() error { return u.error }

// preflight returns why the CRDs of a revision cannot replace those on the cluster.
func (x *Rollouts) preflight(ctx context.Context, e *api.ClusterExtension, phases []registryv1.Phase) error { // K54
	results, err := desired.Preflight(ctx, e, phases, false, func(o *unstructured.Unstructured) (*unstructured.Unstructured, error) { return get(ctx, x.Client, o) })
	if err != nil {
		return err
	}
	var unsafe []error
	for _, r := range results {
		for _, f := range r.Findings {
			unsafe = append(unsafe, fmt.Errorf("validating upgrade for CRD %q: %s", r.Name, f))
		}
	}
	return errors.Join(unsafe...)
}

// Revisions returns the revisions of an extension, by number: ClusterObjectSets and Secrets.
// Secrets that cannot be read are left out.
func Revisions(ctx context.Context, c client.Reader, namespace, name string) ([]rollout.Revision, error) {
	var out []rollout.Revision
	var list corev1.SecretList
	if err := c.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels{desired.OwnerName: name}); err != nil {
		return nil, err
	}
	for i := range list.Items {
		if r, err := desired.FromSecret(&list.Items[i]); err == nil && r != nil {
			out = append(out, *r)
		}
	}
	var sets api.ClusterObjectSetList
	if err := c.List(ctx, &sets, client.MatchingLabels{desired.OwnerName: name}); err != nil && !meta.IsNoMatchError(err) {
		return nil, err
	}
	for i := range sets.Items {
		out = append(out, *desired.FromObjectSet(&sets.Items[i], namespace))
	}
	slices.SortFunc(out, func(a, b rollout.Revision) int { return cmp.Compare(a.Number, b.Number) })
	return out, nil
}
