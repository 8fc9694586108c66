package serving

import (
	"crypto/ecdsa"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/olm"
)

// The keys of a Secret.
const (
	keyCert = "tls.crt"
	keyKey  = "tls.key"
	keyCA   = "olmCAKey"
)

// A State holds everything that the objects of an operator depend on in
// addition to its CSV.
type State struct {
	// Find returns an object of the cluster, or nil.
	Find func(olm.Key) (*olm.Object, error)
	// Webhooks are the webhook configurations of the cluster that are labeled
	// with the CSV.
	Webhooks []*olm.Object
	// Group is the operator group of the CSV.
	Group *olm.OperatorGroup
	// Annotations are set on new APIServices.
	Annotations map[string]string
	// Now is the current time. If it is zero, no certificates can be created.
	Now    time.Time
	NewKey func() (*ecdsa.PrivateKey, error)
}

// An Item is an object that an operator needs.
type Item struct {
	// Have is the object in the cluster, or nil if it does not exist.
	Have *olm.Object
	// Want is the desired object, including additions by others.
	Want olm.Object
	// Rotation is the reason why a certificate in the object must be replaced, if any.
	Rotation error
}

// Settled reports whether the object is in its desired state.
func (i *Item) Settled() bool { return i.Have != nil && olm.Equal(i.Have, &i.Want) }

// Certificates holds the certificates of an operator and their objects.
type Certificates struct {
	// Items holds the Services, Secrets, Roles and RoleBindings, in the order
	// in which to create them.
	Items []Item
	// RotateAt is when the first certificate must be replaced.
	RotateAt time.Time
	// Waiting lists the Secrets that are not in Items, because a certificate is
	// needed and the time is unknown.
	Waiting []olm.Key
}

// NewCertificates returns the objects that an operator needs before its
// deployments (E13). A valid certificate is kept, even if OLM created it.
func NewCertificates(csv *olm.ClusterServiceVersion, s *State) (*Certificates, error) {
	list, err := servers(csv)
	if err != nil {
		return nil, err
	}
	out := &Certificates{}
	for _, srv := range list {
		if err := out.add(csv, s, srv); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// add adds the Service, the certificate and the permissions of a server.
func (c *Certificates) add(csv *olm.ClusterServiceVersion, s *State, srv *server) error {
	ns := csv.Metadata.Namespace
	item := func(apiVersion, kind, name string, fill func(have, want *olm.Object) error) (*Item, error) {
		h := olm.Header{APIVersion: apiVersion, Kind: kind, Metadata: olm.Metadata{Name: name, Namespace: ns}}
		i, err := s.item(h, map[string]string{ownerlabel.Managed: "true"}, fill)
		if err != nil {
			return nil, err
		}
		own(&i.Want, csv)
		return i, nil
	}
	service, err := item("v1", "Service", srv.service(), func(have, want *olm.Object) error {
		return overlay(want, "spec", map[string]any{"ports": srv.ports, "selector": srv.selector})
	})
	if err != nil {
		return err
	}
	var rotation error
	secret, err := item("v1", "Secret", srv.secret(), func(have, want *olm.Object) error {
		var rotateAt time.Time
		if have == nil {
			rotation = errors.New("it does not exist")
		} else if rotateAt, rotation = readCertificate(have).check(s.Now, srv.hosts(ns)); rotation == nil {
			if c.RotateAt.IsZero() || rotateAt.Before(c.RotateAt) {
				c.RotateAt = rotateAt
			}
			return nil
		}
		if s.Now.IsZero() {
			c.Waiting = append(c.Waiting, want.Key())
			return nil
		}
		cert, err := newCertificate(s.NewKey, s.Now, srv.hosts(ns))
		if err != nil {
			return err
		}
		return cert.write(want)
	})
	if err != nil {
		return err
	}
	secret.Rotation = rotation
	role, err := item(olm.RBACV1, "Role", srv.secret(), func(_, want *olm.Object) (err error) {
		*want, err = want.Set("rules", []olm.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{srv.secret()}}})
		return err
	})
	if err != nil {
		return err
	}
	binding, err := item(olm.RBACV1, "RoleBinding", srv.secret(), func(_, want *olm.Object) (err error) {
		if *want, err = want.Set("subjects", srv.subjects(ns)); err == nil {
			*want, err = want.Set("roleRef", olm.RoleRef{APIGroup: olm.GroupRBAC, Kind: "Role", Name: srv.secret()})
		}
		return err
	})
	if err != nil {
		return err
	}
	c.Items = append(c.Items, *service)
	if !slices.Contains(c.Waiting, secret.Want.Key()) {
		c.Items = append(c.Items, *secret)
	}
	c.Items = append(c.Items, *role, *binding)
	return nil
}

func (s *server) subjects(namespace string) []olm.Subject {
	return []olm.Subject{{Kind: "ServiceAccount", Name: s.account, Namespace: namespace}}
}

// item returns the current and the desired state of an object. The desired one
// has the given labels and the changes of fill.
func (s *State) item(h olm.Header, labels map[string]string, fill func(have, want *olm.Object) error) (*Item, error) {
	have, err := s.Find(h.Key())
	if err != nil {
		return nil, err
	}
	i := &Item{Have: have, Want: olm.Object{Header: h}}
	if have != nil {
		i.Want = *have
	}
	i.Want.Metadata.Labels = labeled(i.Want.Metadata.Labels, labels)
	if err := fill(have, &i.Want); err != nil {
		return nil, err
	}
	return i, nil
}

func labeled(have, want map[string]string) map[string]string {
	out := maps.Clone(have)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, want)
	return out
}

// own makes the CSV an owner of an object, so that a newer version that takes
// over the object keeps it when the older CSV is deleted.
func own(o *olm.Object, csv *olm.ClusterServiceVersion) {
	ref := olm.OwnedBy(csv)
	refs := o.Metadata.OwnerReferences
	if slices.ContainsFunc(refs, func(r olm.OwnerReference) bool { return r.Kind == ref.Kind && r.UID == ref.UID }) {
		return
	}
	o.Metadata.OwnerReferences = append(slices.Clip(refs), ref)
}

// overlay sets members in a top-level member of an object. Other members stay.
func overlay(o *olm.Object, name string, set map[string]any) error {
	m := map[string]any{}
	if text, ok := o.Get(name); ok {
		if err := olm.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("%s: /%s: %w", o.Key(), name, err)
		}
	}
	maps.Copy(m, set)
	out, err := o.Set(name, m)
	*o = out
	return err
}

// IsCertificate reports whether an object is a Secret with a certificate of an
// operator.
func IsCertificate(o *olm.Object) bool {
	return o.Key().Group == "" && o.Kind == "Secret" && o.Metadata.Annotations[annotationCAHash] != ""
}

// readCertificate returns the certificate in a Secret. Parts that cannot be
// decoded are empty.
func readCertificate(secret *olm.Object) certificate {
	var data map[string][]byte
	if text, ok := secret.Get("data"); ok {
		_ = olm.Unmarshal(text, &data) // then the certificate is replaced
	}
	return certificate{ca: data[keyCA], cert: data[keyCert], key: data[keyKey]}
}

func (c certificate) write(secret *olm.Object) error {
	secret.Metadata.SetAnnotation(annotationCAHash, hashCA(c.ca))
	encode := base64.StdEncoding.EncodeToString
	out, err := secret.Set("data", map[string]string{keyCA: encode(c.ca), keyCert: encode(c.cert), keyKey: encode(c.key)})
	if err != nil {
		return err
	}
	*secret, err = out.Set("type", "kubernetes.io/tls")
	return err
}

// CAHash returns the hash of the CA of a deployment's certificate, or "" if it
// has none.
func CAHash(s *State, namespace, deployment string) (string, error) {
	ca, err := s.ca(namespace, &server{name: deployment})
	if err != nil || ca == nil {
		return "", err
	}
	return hashCA(ca), nil
}

// ca returns the CA of a server in PEM, or nil.
func (s *State) ca(namespace string, srv *server) ([]byte, error) {
	secret, err := s.Find(olm.Key{Kind: "Secret", Namespace: namespace, Name: srv.secret()})
	if err != nil || secret == nil {
		return nil, err
	}
	return readCertificate(secret).ca, nil
}

// Keys returns the keys of the objects that a CSV needs for serving in its
// namespace: Services, Secrets, Roles and RoleBindings.
func Keys(csv *olm.ClusterServiceVersion) []olm.Key {
	var list []olm.Key
	for _, d := range csv.Spec.Install.Spec.Deployments {
		if !isServer(csv, d.Name) {
			continue
		}
		srv, ns := &server{name: d.Name}, csv.Metadata.Namespace
		list = append(list, olm.Key{Kind: "Service", Namespace: ns, Name: srv.service()}, olm.Key{Kind: "Secret", Namespace: ns, Name: srv.secret()},
			olm.Key{Group: olm.GroupRBAC, Kind: "Role", Namespace: ns, Name: srv.secret()}, olm.Key{Group: olm.GroupRBAC, Kind: "RoleBinding", Namespace: ns, Name: srv.secret()})
	}
	return list
}

// Bindings returns the bindings that let an operator delegate authentication
// and authorization to the API server: a ClusterRoleBinding, and a RoleBinding
// in kube-system, for each deployment that serves. Operators of several
// namespaces may share them, because their names do not contain a namespace.
func Bindings(csv *olm.ClusterServiceVersion) ([]*olm.RoleBinding, error) {
	list, err := servers(csv)
	if err != nil {
		return nil, err
	}
	var out []*olm.RoleBinding
	for _, srv := range list {
		add := func(name, namespace, kind, role, roleKind string) {
			out = append(out, &olm.RoleBinding{
				Header: olm.Header{APIVersion: olm.RBACV1, Kind: kind, Metadata: olm.Metadata{
					Name: srv.service() + name, Namespace: namespace, Labels: ownerlabel.Of(csv),
				}},
				RoleRef:  olm.RoleRef{APIGroup: olm.GroupRBAC, Kind: roleKind, Name: role},
				Subjects: srv.subjects(csv.Metadata.Namespace),
			})
		}
		add("-system:auth-delegator", "", "ClusterRoleBinding", "system:auth-delegator", "ClusterRole")
		add("-auth-reader", "kube-system", "RoleBinding", "extension-apiserver-authentication-reader", "Role")
	}
	return out, nil
}
