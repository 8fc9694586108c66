package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
)

// A live holds the flags that select a cluster to read over the network. They mean the same as
// kubectl's.
type live struct {
	on         bool
	kubeconfig string
	overrides  clientcmd.ConfigOverrides
}

// liveFlags are the flags that imply --cluster, with kubectl's names.
var liveFlags = []string{"kubeconfig", "context", "as", "as-group", "request-timeout"}

func (s *live) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&s.on, "cluster", false, "read the cluster of the current context, as kubectl does; nothing is written")
	f.StringVar(&s.kubeconfig, "kubeconfig", "", "read the cluster that the kubeconfig `FILE` names")
	f.StringVar(&s.overrides.CurrentContext, "context", "", "read the cluster of this `CONTEXT` of the kubeconfig")
	f.StringVar(&s.overrides.AuthInfo.Impersonate, "as", "", "read the cluster as this `USER`")
	addList(f, &s.overrides.AuthInfo.ImpersonateGroups, "as-group", "", "read the cluster as a member of this `GROUP` (repeatable)")
	f.StringVar(&s.overrides.Timeout, "request-timeout", "", "give up on a single request after a `DURATION` such as 30s (default never)")
	for _, name := range liveFlags[1:] {
		completeFlag(cmd, name, cobra.NoFileCompletions)
	}
}

// A liveKind is a kind whose objects are all read from a cluster.
type liveKind struct {
	group, version, kind, resource string
	namespaced                     bool
	// selector is a label selector for the objects.
	selector string
}

func (k liveKind) groupKind() olm.GroupKind {
	return olm.GroupKind{Group: k.group, Kind: k.kind}
}

// liveKinds returns the kinds that are read from a cluster, in the order of the requests.
// Secrets are not among them, because users rarely have permission to list them.
func liveKinds() []liveKind {
	return []liveKind{
		{group: olm.Group, version: "v1alpha1", kind: olm.KindSubscription, resource: "subscriptions", namespaced: true},
		{group: olm.Group, version: "v1alpha1", kind: olm.KindClusterServiceVersion, resource: "clusterserviceversions", namespaced: true},
		{group: olm.Group, version: "v1alpha1", kind: olm.KindInstallPlan, resource: "installplans", namespaced: true},
		{group: olm.Group, version: "v1alpha1", kind: olm.KindCatalogSource, resource: "catalogsources", namespaced: true},
		{group: olm.Group, version: "v1", kind: olm.KindOperatorGroup, resource: "operatorgroups", namespaced: true},
		{group: olm.Group, version: "v1", kind: olm.KindOLMConfig, resource: "olmconfigs"},
		{group: olm.Group, version: "v1", kind: olm.KindOperator, resource: "operators"},
		{group: olm.Group, version: "v2", kind: olm.KindOperatorCondition, resource: "operatorconditions", namespaced: true},
		{group: groupV1, version: "v1", kind: kindExtension, resource: "clusterextensions"},
		{group: groupV1, version: "v1", kind: kindClusterCatalog, resource: "clustercatalogs"},
		{group: groupV1, version: "v1", kind: kindObjectSet, resource: "clusterobjectsets"},
		{group: "config.openshift.io", version: "v1", kind: "ClusterVersion", resource: "clusterversions"},
		{group: "config.openshift.io", version: "v1", kind: "Proxy", resource: "proxies"},
		{group: "config.openshift.io", version: "v1", kind: mirrorKinds[0], resource: "imagedigestmirrorsets"},
		{group: "config.openshift.io", version: "v1", kind: mirrorKinds[1], resource: "imagetagmirrorsets"},
		{group: "operator.openshift.io", version: "v1alpha1", kind: mirrorKinds[2], resource: "imagecontentsourcepolicies"},
		{version: "v1", kind: "Namespace", resource: "namespaces"},
		{version: "v1", kind: "Pod", resource: "pods", namespaced: true, selector: labelCatalogPod},
		{version: "v1", kind: "Service", resource: "services", namespaced: true},
		{version: "v1", kind: "ServiceAccount", resource: "serviceaccounts", namespaced: true},
		{group: "apps", version: "v1", kind: "Deployment", resource: "deployments", namespaced: true},
		{group: olm.GroupCRD, version: "v1", kind: olm.KindCRD, resource: "customresourcedefinitions"},
		{group: "apiregistration.k8s.io", version: "v1", kind: "APIService", resource: "apiservices"},
		{group: olm.GroupRBAC, version: "v1", kind: "Role", resource: "roles", namespaced: true},
		{group: olm.GroupRBAC, version: "v1", kind: "RoleBinding", resource: "rolebindings", namespaced: true},
		{group: olm.GroupRBAC, version: "v1", kind: "ClusterRole", resource: "clusterroles"},
		{group: olm.GroupRBAC, version: "v1", kind: "ClusterRoleBinding", resource: "clusterrolebindings"},
		{group: "admissionregistration.k8s.io", version: "v1", kind: "ValidatingWebhookConfiguration", resource: "validatingwebhookconfigurations"},
		{group: "admissionregistration.k8s.io", version: "v1", kind: "MutatingWebhookConfiguration", resource: "mutatingwebhookconfigurations"},
	}
}

// An unread is a kind whose objects could not all be read, so it is unknown whether there are
// others.
type unread struct {
	Group string `json:"group,omitzero"`
	Kind  string `json:"kind"`
	// Reason is the API server's reason.
	Reason string `json:"reason"`
	// Namespaces are those whose objects were read, sorted.
	Namespaces []string `json:"namespaces,omitempty"`
}

// lacks reports whether objects of a namespace could not be read, or objects of any namespace
// if the name is empty.
func (u unread) lacks(namespace string) bool { return !slices.Contains(u.Namespaces, namespace) }

func (u unread) String() string {
	name := u.Kind
	if u.Group != "" {
		name += "." + u.Group
	}
	return name + ": " + u.Reason
}

// The kinds of OLM v1, and the label of the pods that serve a CatalogSource.
const (
	groupV1            = "olm.operatorframework.io"
	kindExtension      = "ClusterExtension"
	kindClusterCatalog = "ClusterCatalog"
	labelCatalogPod    = "olm.catalogSource"
)

// pageSize is the maximum number of objects in a response, as in kubectl.
const pageSize = "500"

// wanted reports whether to read a cluster: --cluster, or a flag that implies it, is set.
func (s *live) wanted(cmd *cobra.Command) bool {
	return s.on || slices.ContainsFunc(liveFlags, cmd.Flags().Changed)
}

// A scope is the part of a cluster that is read if the user may not read all of it.
type scope struct {
	// namespace is the only namespace of interest, or "" for the whole cluster.
	namespace string
	// catalogs are the namespaces of the catalogs that it uses.
	catalogs []string
}

func (s scope) String() string {
	if s.namespace == "" {
		return "this cluster"
	}
	return "this cluster, not even in namespace " + s.namespace
}

// learn adds the namespace of the catalog that a subscription of the namespace names.
func (s *scope) learn(o olm.Object) {
	if k := o.Key(); k.Group != olm.Group || k.Kind != olm.KindSubscription || k.Namespace != s.namespace {
		return
	}
	if ns := text(o, "spec", "sourceNamespace"); ns != "" && !slices.Contains(s.catalogs, ns) {
		s.catalogs = append(s.catalogs, ns)
	}
}

// namespaces returns where to read objects of a kind, sorted.
func (s *scope) namespaces(k liveKind) []string {
	if s.namespace == "" || !k.namespaced {
		return nil
	}
	list := []string{s.namespace}
	if k.kind == olm.KindCatalogSource || k.kind == "Pod" {
		list = append(list, s.catalogs...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// read passes on all objects of the kinds that the user may read, each kind once and in
// pages, and the version of the cluster. A kind that may be listed only in namespaces is read in
// those of the scope. It calls found with each kind that was read, even if it has no objects,
// and returns the kinds that may have objects that were not read. Any other error ends the
// reading.
func (s *live) read(ctx context.Context, part scope, found func(olm.GroupKind), put func(olm.Object) error) (version string, missing []unread, err error) {
	c, err := s.client()
	if err != nil {
		return "", nil, err
	}
	request := c.Get().AbsPath("/version")
	text, err := get(ctx, request)
	var info struct{ GitVersion string }
	switch {
	case err == nil:
		if err := json.Unmarshal(text, &info); err != nil {
			return "", nil, strangerError(request.URL(), err)
		}
	case apierrors.IsBadRequest(err) || apierrors.IsNotFound(err):
		return "", nil, strangerError(request.URL(), err)
	case !apierrors.IsForbidden(err):
		return "", nil, liveError(ctx, err)
	}
	groups := discovery{}
	var refusal error // of the first kind
	nothing := true
	for _, k := range liveKinds() {
		objects, err := list(ctx, c, k, "", groups)
		isRead := true
		if apierrors.IsForbidden(err) {
			refusal = cmp.Or(refusal, err)
			u := unread{Group: k.group, Kind: k.kind, Reason: "may not be listed"}
			if objects, u.Namespaces, err = listIn(ctx, c, k, part.namespaces(k), groups); err == nil {
				if len(u.Namespaces) > 0 {
					u.Reason = "may be listed only in " + phrase.Plural(len(u.Namespaces), "namespace") + " " + phrase.And(u.Namespaces)
				}
				missing = append(missing, u)
				isRead = len(u.Namespaces) > 0
			}
		}
		var why *notServedError
		switch {
		case errors.As(err, &why):
			if len(why.versions) > 0 {
				missing = append(missing, unread{Group: k.group, Kind: k.kind, Reason: why.Error()})
				continue
			}
		case err != nil:
			return "", nil, fmt.Errorf("list %s: %w", k.resource, liveError(ctx, err))
		}
		if isRead {
			nothing = false
			found(k.groupKind())
		}
		for _, o := range objects {
			part.learn(o)
			if err := put(o); err != nil {
				return "", nil, fmt.Errorf("list %s: %w", k.resource, err)
			}
		}
	}
	if nothing {
		return "", nil, fmt.Errorf("you may read nothing of %s; \"olmkit status --print-rbac\" prints the role that reads everything, and with --namespace the role that suffices for a namespace: %w", part, refusal)
	}
	return strings.TrimPrefix(info.GitVersion, "v"), missing, nil
}

// listIn returns the objects of a kind in those of the namespaces whose objects the user may
// list, and these namespaces.
func listIn(ctx context.Context, c rest.Interface, k liveKind, namespaces []string, groups discovery) (objects []olm.Object, read []string, err error) {
	for _, ns := range namespaces {
		part, err := list(ctx, c, k, ns, groups)
		switch {
		case apierrors.IsForbidden(err):
		case err != nil:
			return nil, nil, err
		default:
			objects, read = append(objects, part...), append(read, ns)
		}
	}
	return objects, read, nil
}

// list returns all objects of a kind in a namespace, or in the cluster if its name is empty. If
// the list expires between pages, it is read again in one request.
func list(ctx context.Context, c rest.Interface, k liveKind, namespace string, groups discovery) (objects []olm.Object, err error) {
	path := apiPath(schema.GroupVersion{Group: k.group, Version: k.version}) + "/"
	if namespace != "" {
		path += "namespaces/" + namespace + "/"
	}
	path += k.resource
	limit, next := pageSize, ""
	for {
		request := c.Get().AbsPath(path)
		for name, value := range map[string]string{"limit": limit, "continue": next, "labelSelector": k.selector} {
			if value != "" {
				request.Param(name, value)
			}
		}
		text, err := get(ctx, request)
		switch {
		case next != "" && isExpired(err):
			objects, limit, next = nil, "", ""
			continue
		case apierrors.IsNotFound(err):
			return nil, notServed(ctx, c, k, groups)
		case err != nil:
			return nil, err
		}
		var page struct {
			Metadata struct{ Continue string }
		}
		if err := json.Unmarshal(text, &page); err != nil {
			return nil, err
		}
		if err := objectsOf(text, func(olm.GroupKind) {}, func(o olm.Object) error {
			objects = append(objects, o)
			return nil
		}); err != nil {
			return nil, err
		}
		if next = page.Metadata.Continue; next == "" {
			return objects, nil
		}
	}
}

// isExpired reports whether the remaining pages of a list have expired.
func isExpired(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusGone
}

// A notServedError reports that the cluster does not serve a kind in the version that olmkit
// reads. It lists the versions in which the kind is served. If there are none, the cluster has
// no objects of that kind.
type notServedError struct{ versions []string }

func (e *notServedError) Error() string {
	return "served only as " + strings.Join(e.versions, ", ")
}

// A discovery holds the responses of the API server about groups and their versions, by path, so
// that each is requested once.
type discovery map[string]discovered

type discovered struct {
	text []byte
	err  error
}

func (d discovery) get(ctx context.Context, c rest.Interface, path string) ([]byte, error) {
	got, ok := d[path]
	if !ok {
		got.text, got.err = get(ctx, c.Get().AbsPath(path))
		d[path] = got
	}
	return got.text, got.err
}

// apiPath returns the path of a group version on an API server.
func apiPath(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.String()
}

// notServed returns a notServedError for a kind that was not found, or the error of looking
// for other versions.
func notServed(ctx context.Context, c rest.Interface, k liveKind, groups discovery) error {
	text, err := groups.get(ctx, c, "/apis/"+k.group)
	if apierrors.IsNotFound(err) {
		return &notServedError{}
	}
	if err != nil {
		return err
	}
	var group metav1.APIGroup
	if err := json.Unmarshal(text, &group); err != nil {
		return err
	}
	why := &notServedError{}
	for _, v := range group.Versions {
		if v.Version == k.version {
			continue
		}
		text, err := groups.get(ctx, c, "/apis/"+v.GroupVersion)
		if err != nil {
			return err
		}
		var list metav1.APIResourceList
		if err := json.Unmarshal(text, &list); err != nil {
			return err
		}
		if slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == k.resource }) {
			why.versions = append(why.versions, v.GroupVersion)
		}
	}
	return why
}

// readRole returns, as YAML, the minimal role for reading all of liveKinds in a namespace, or in
// the cluster if the name is empty, and, if secrets is true, pull secrets.
func readRole(namespace string, secrets bool) string {
	var b strings.Builder
	visible.Fprintf(&b, "apiVersion: %s\n", olm.RBACV1)
	if namespace == "" {
		visible.Fprintf(&b, "kind: ClusterRole\nmetadata:\n  name: olmkit-read\nrules:\n")
	} else {
		visible.Fprintf(&b, "kind: Role\nmetadata:\n  name: olmkit-read\n  namespace: %s\nrules:\n", namespace)
	}
	var groups []string
	resources := map[string][]string{}
	for _, k := range liveKinds() {
		if namespace != "" && !k.namespaced {
			continue
		}
		if resources[k.group] == nil {
			groups = append(groups, k.group)
		}
		resources[k.group] = append(resources[k.group], k.resource)
	}
	for _, g := range groups {
		visible.Fprintf(&b, "- apiGroups: [%q]\n  resources: [%s]\n  verbs: [list]\n", g, strings.Join(resources[g], ", "))
	}
	if secrets {
		b.WriteString("- apiGroups: [\"\"]\n  resources: [secrets]\n  verbs: [get]\n")
	}
	return b.String()
}
