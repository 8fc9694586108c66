package serving

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
)

// fixedKey returns the same key each time.
func fixedKey() (*ecdsa.PrivateKey, error) {
	raw := make([]byte, 32)
	raw[31] = 7
	return ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
}

// recorded is a time at which the certificates of the recordings are valid.
var recorded = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// A cluster holds the objects for serving of an operator that OLM v0.45.0
// installed, from testdata.
type cluster struct {
	objects map[olm.Key]*olm.Object
	csv     *olm.ClusterServiceVersion
	group   *olm.OperatorGroup
}

func read(t *testing.T, file string) *cluster {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var list []olm.Object
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	c := &cluster{objects: map[olm.Key]*olm.Object{}}
	for i, o := range list {
		switch o.Kind {
		case olm.KindClusterServiceVersion:
			c.csv, err = olm.As[olm.ClusterServiceVersion](o)
		case olm.KindOperatorGroup:
			c.group, err = olm.As[olm.OperatorGroup](o)
		default:
			c.objects[o.Key()] = &list[i]
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *cluster) state(now time.Time) *State {
	s := &State{
		Find:  func(k olm.Key) (*olm.Object, error) { return c.objects[k], nil },
		Group: c.group, Now: now, NewKey: fixedKey,
	}
	for _, o := range c.objects {
		if IsConfiguration(o.Key()) {
			s.Webhooks = append(s.Webhooks, o)
		}
	}
	return s
}

// drop removes the objects of the given kinds, or of all kinds except CRDs.
func (c *cluster) drop(kinds ...string) {
	for k := range c.objects {
		if slices.Contains(kinds, k.Kind) || len(kinds) == 0 && k.Kind != olm.KindCRD {
			delete(c.objects, k)
		}
	}
}

func items(t *testing.T, c *cluster, s *State) []Item {
	t.Helper()
	certs, err := NewCertificates(c.csv, s)
	if err != nil {
		t.Fatal(err)
	}
	apis, err := APIServices(c.csv, s)
	if err != nil {
		t.Fatal(err)
	}
	hooks, err := Webhooks(c.csv, s)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(certs.Items, apis, hooks)
}

var recordings = []string{"webhook.json", "conversion.json", "apiservice.json"}

// E13, E15: the objects that OLM created for an operator are taken over without
// a write.
func TestTakeover(t *testing.T) {
	for _, file := range recordings {
		c := read(t, file)
		s := c.state(recorded)
		s.NewKey = func() (*ecdsa.PrivateKey, error) { return nil, errors.New("no key is needed") }
		list := items(t, c, s)
		if len(list) < 5 {
			t.Errorf("%s: %d objects; want a Service, a Secret, a Role, a RoleBinding and registrations", file, len(list))
		}
		for _, i := range list {
			if !i.Settled() {
				t.Errorf("%s: %s would be written: %s", file, i.Want.Key(), cmp.Diff(plain(t, i.Have), plain(t, &i.Want)))
			}
		}
	}
}

// E13: the pod template computed from a CSV equals OLM's.
func TestMount(t *testing.T) {
	for _, file := range recordings {
		c := read(t, file)
		for _, spec := range c.csv.Spec.Install.Spec.Deployments {
			var got map[string]any
			if err := olm.Unmarshal(spec.Spec, &got); err != nil {
				t.Fatal(err)
			}
			hash, err := CAHash(c.state(recorded), c.csv.Metadata.Namespace, spec.Name)
			if err != nil {
				t.Fatal(err)
			}
			Mount(c.csv, spec.Name, got, hash)
			o := c.objects[olm.Key{Group: "apps", Kind: "Deployment", Namespace: c.csv.Metadata.Namespace, Name: spec.Name}]
			d, err := olm.As[olm.Deployment](*o)
			if err != nil {
				t.Fatal(err)
			}
			if HashIn(d) != hash || hash == "" {
				t.Errorf("%s: hash %q, want %q", file, hash, HashIn(d))
			}
			var want map[string]any
			if err := olm.Unmarshal(d.Spec, &want); err != nil {
				t.Fatal(err)
			}
			pick := func(spec map[string]any) []any {
				pod := object(object(spec, "template"), "spec")
				for _, v := range pod["volumes"].([]any) {
					delete(v.(map[string]any)["secret"].(map[string]any), "defaultMode") // the API server's default
				}
				return []any{pod["volumes"], pod["serviceAccountName"], pod["containers"].([]any)[0].(map[string]any)["volumeMounts"]}
			}
			if diff := cmp.Diff(pick(want), pick(got)); diff != "" {
				t.Errorf("%s (-OLM +got):\n%s", file, diff)
			}
		}
	}
}

// E13, E15: new objects equal OLM's, apart from keys, generated names and the
// API server's additions.
func TestSameAsOLM(t *testing.T) {
	for _, file := range recordings {
		c := read(t, file)
		want := map[string]any{}
		for k, o := range c.objects {
			if k.Kind != "Deployment" && k.Kind != "ClusterRoleBinding" {
				want[generic(k)] = normal(t, o)
			}
		}
		c.drop()
		s := c.state(recorded)
		certs, err := NewCertificates(c.csv, s)
		if err != nil {
			t.Fatal(err)
		}
		for i := range certs.Items {
			c.objects[certs.Items[i].Want.Key()] = &certs.Items[i].Want
		}
		got := map[string]any{}
		for _, i := range items(t, c, s) {
			got[generic(i.Want.Key())] = normal(t, &i.Want)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-OLM +got):\n%s", file, diff)
		}
	}
}

// generic returns a key without a generated suffix.
func generic(k olm.Key) string {
	if IsConfiguration(k) {
		k.Name = k.Name[:strings.LastIndex(k.Name, "-")]
	}
	return k.String()
}

func plain(t *testing.T, o *olm.Object) map[string]any {
	t.Helper()
	text, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// normal returns an object without the fields that differ between runs.
func normal(t *testing.T, o *olm.Object) map[string]any {
	v := plain(t, o)
	meta := v["metadata"].(map[string]any)
	for _, name := range []string{"name", "uid", "resourceVersion", "creationTimestamp", "generation"} {
		delete(meta, name)
	}
	delete(v, "status")
	mask(v)
	switch o.Kind {
	case "Service":
		spec := v["spec"].(map[string]any)
		v["spec"] = map[string]any{"ports": spec["ports"], "selector": spec["selector"]}
	case "Secret":
		for name := range v["data"].(map[string]any) {
			v["data"].(map[string]any)[name] = "masked"
		}
		meta["annotations"].(map[string]any)[annotationCAHash] = "masked"
	}
	return v
}

func mask(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			if name == "caBundle" {
				v[name] = "masked"
			}
			mask(x)
		}
	case []any:
		for _, x := range v {
			mask(x)
		}
	}
}

// E13: the bindings equal OLM's, except that the one in kube-system has labels,
// so that it can be deleted.
func TestBindings(t *testing.T) {
	c := read(t, "webhook.json")
	list, err := Bindings(c.csv)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 {
		t.Fatalf("%d bindings, want 2", len(list))
	}
	o, err := olm.ToObject(list[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(normal(t, c.objects[o.Key()]), normal(t, &o)); diff != "" {
		t.Errorf("-OLM +got:\n%s", diff)
	}
	if b := list[1]; b.Metadata.Namespace != "kube-system" || b.Metadata.Name != "widget-controller-service-auth-reader" || b.RoleRef.Name != "extension-apiserver-authentication-reader" {
		t.Errorf("binding %s to %s", b.Key(), b.RoleRef.Name)
	}
}

// E14: a certificate is replaced a day before it expires, or if it is damaged,
// but not otherwise.
func TestRotation(t *testing.T) {
	c := read(t, "webhook.json")
	key := olm.Key{Kind: "Secret", Namespace: c.csv.Metadata.Namespace, Name: "widget-controller-service-cert"}
	rotateAt := time.Date(2028, 11, 20, 11, 21, 14, 0, time.UTC) // from the status that OLM wrote
	for _, test := range []struct {
		name   string
		now    time.Time
		change func(*certificate)
		want   string
	}{
		{"valid", recorded, nil, ""},
		{"a second before", rotateAt.Add(-time.Second), nil, ""},
		{"in time", rotateAt, nil, "its certificate expires at 2028-11-21T11:21:14Z"},
		{"before it was made", recorded.AddDate(-1, 0, 0), nil, "its certificate is not valid for"},
		{"no clock", time.Time{}, nil, ""},
		{"no CA", recorded, func(c *certificate) { c.ca = nil }, "its CA is missing"},
		{"no key", recorded, func(c *certificate) { c.key = nil }, "it has no private key"},
		{"another CA", recorded, func(c *certificate) { o, _ := newCertificate(fixedKey, recorded, []string{"a"}); c.ca = o.ca }, "its certificate is not valid for"},
		{"not a certificate", recorded, func(c *certificate) { c.cert = []byte("x") }, "its certificate is missing or not in PEM"},
		{"another host", recorded, func(c *certificate) { *c, _ = newCertificate(fixedKey, recorded, []string{"a"}) }, "its certificate is not valid for widget-controller-service.sc-webhook"},
	} {
		cert := readCertificate(c.objects[key])
		if test.change != nil {
			test.change(&cert)
		}
		secret := *c.objects[key]
		if err := cert.write(&secret); err != nil {
			t.Fatal(err)
		}
		s := c.state(test.now)
		s.Find = func(k olm.Key) (*olm.Object, error) {
			if k == key {
				return &secret, nil
			}
			return c.objects[k], nil
		}
		certs, err := NewCertificates(c.csv, s)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		i := certs.Items[1]
		switch {
		case test.want == "" && (i.Rotation != nil || !certs.RotateAt.Equal(rotateAt)):
			t.Errorf("%s: replaced because %v, next at %s", test.name, i.Rotation, certs.RotateAt)
		case test.want != "" && (i.Rotation == nil || !strings.Contains(i.Rotation.Error(), test.want)):
			t.Errorf("%s: replaced because %v, want %s", test.name, i.Rotation, test.want)
		case test.want != "":
			if at, err := readCertificate(&i.Want).check(test.now, (&server{name: "widget-controller"}).hosts("sc-webhook")); err != nil || !at.Equal(test.now.Add(lifetime-rotateBefore)) {
				t.Errorf("%s: the new certificate: %v, next at %s", test.name, err, at)
			}
		}
	}
}

// E14: without a clock, no certificate is created.
func TestNoClock(t *testing.T) {
	c := read(t, "webhook.json")
	c.drop("Secret")
	certs, err := NewCertificates(c.csv, c.state(time.Time{}))
	if err != nil {
		t.Fatal(err)
	}
	if len(certs.Waiting) != 1 || certs.Waiting[0].Kind != "Secret" || slices.ContainsFunc(certs.Items, func(i Item) bool { return i.Want.Kind == "Secret" }) {
		t.Errorf("Waiting is %v, want the Secret; Items is %v, want it not to contain the Secret", certs.Waiting, certs.Items)
	}
}

// D15, E14: the same key and time give the same certificate.
func TestDeterministic(t *testing.T) {
	hosts := []string{"a.b", "a.b.svc"}
	a, err := newCertificate(fixedKey, recorded, hosts)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newCertificate(fixedKey, recorded, hosts)
	if err != nil {
		t.Fatal(err)
	}
	if string(a.ca) != string(b.ca) || string(a.cert) != string(b.cert) || string(a.key) != string(b.key) {
		t.Error("two certificates differ")
	}
}

// E16: invalid webhooks in a CSV.
func TestCheck(t *testing.T) {
	hook := func(edit func(*olm.Webhook)) olm.Webhook {
		path := "/"
		w := olm.Webhook{GenerateName: "w", Type: typeValidating, DeploymentName: "d", WebhookPath: &path}
		if edit != nil {
			edit(&w)
		}
		return w
	}
	rules := func(text string) func(*olm.Webhook) {
		return func(w *olm.Webhook) { w.Rest = olm.Members{"rules": []byte(text)} }
	}
	conversion := func(w *olm.Webhook) { w.Type, w.ConversionCRDs = typeConversion, []string{"xs.example.com"} }
	for _, test := range []struct {
		name   string
		hooks  []olm.Webhook
		all    bool // supports only AllNamespaces
		reason olm.Reason
		want   string
	}{
		{"valid", []olm.Webhook{hook(rules(`[{"apiGroups":["example.com"],"resources":["*"]}]`))}, false, "", ""},
		{"conversion", []olm.Webhook{hook(conversion)}, true, "", ""},
		{"repeated", []olm.Webhook{hook(nil), hook(nil)}, false, reason.InvalidWebhook, `two webhooks named "w"`},
		{"all groups", []olm.Webhook{hook(rules(`[{"apiGroups":["*"]}]`))}, false, reason.InvalidWebhook, "webhook rules cannot include all groups"},
		{"OLM", []olm.Webhook{hook(rules(`[{"apiGroups":["operators.coreos.com"]}]`))}, false, reason.InvalidWebhook, "webhook rules cannot include the OLM group"},
		{"webhooks", []olm.Webhook{hook(rules(`[{"apiGroups":["admissionregistration.k8s.io"],"resources":["*"]}]`))}, false, reason.InvalidWebhook, "webhook rules cannot include MutatingWebhookConfiguration or"},
		{"policies", []olm.Webhook{hook(rules(`[{"apiGroups":["admissionregistration.k8s.io"],"resources":["validatingadmissionpolicies"]}]`))}, false, "", ""},
		{"not rules", []olm.Webhook{hook(rules(`7`))}, false, reason.InvalidWebhook, `webhook "w": /rules`},
		{"type", []olm.Webhook{hook(func(w *olm.Webhook) { w.Type = "X" })}, false, reason.InvalidWebhook, `unknown type "X"`},
		{"deployment", []olm.Webhook{hook(func(w *olm.Webhook) { w.DeploymentName = "e" })}, false, reason.ComponentFailed, `no deployment "e"`},
		{"own namespace", []olm.Webhook{hook(conversion)}, false, reason.ComponentFailed, "CSVs with conversion webhooks must support only AllNamespaces"},
		{"no CRD", []olm.Webhook{hook(func(w *olm.Webhook) { w.Type = typeConversion })}, true, reason.ComponentFailed, "must have at least one CRD"},
		{"other CRD", []olm.Webhook{hook(func(w *olm.Webhook) { conversion(w); w.ConversionCRDs[0] = "ys.example.com" })}, true, reason.ComponentFailed, "csv a.v1 does not own CRD ys.example.com"},
	} {
		csv := &olm.ClusterServiceVersion{Header: olm.Header{Metadata: olm.Metadata{Name: "a.v1"}}}
		csv.Spec.Webhooks = test.hooks
		csv.Spec.Install.Spec.Deployments = []olm.StrategyDeploymentSpec{{Name: "d"}}
		csv.Spec.CRDs.Owned = []olm.CRDDescription{{Name: "xs.example.com"}}
		csv.Spec.InstallModes = []olm.InstallMode{{Type: olm.OwnNamespace, Supported: !test.all}, {Type: olm.AllNamespaces, Supported: true}}
		switch p := Check(csv); {
		case p == nil && test.want != "", p != nil && (p.Reason != test.reason || !strings.Contains(p.Message, test.want)):
			t.Errorf("%s: %v, want %s: %s", test.name, p, test.reason, test.want)
		case p != nil && test.want == "":
			t.Errorf("%s: %v", test.name, p)
		}
	}
}

// E13: the certificate replaces a volume of the CSV with the same name or path.
// Two equal ports are merged unless their targets differ.
func TestMountOver(t *testing.T) {
	csv := &olm.ClusterServiceVersion{}
	csv.Spec.Webhooks = []olm.Webhook{
		{GenerateName: "a", DeploymentName: "d"},
		{GenerateName: "b", DeploymentName: "d", ContainerPort: 443},
		{GenerateName: "c", DeploymentName: "d", ContainerPort: 8443, Rest: olm.Members{"targetPort": []byte(`"https"`)}},
	}
	text := `{"template":{"spec":{"volumes":[{"name":"webhook-cert","emptyDir":{}}],
		"containers":[{"volumeMounts":[{"name":"x","mountPath":"/tmp/k8s-webhook-server/serving-certs"}]},
		              {"volumeMounts":[{"name":"webhook-cert","mountPath":"/mine"}]}]}}}`
	csv.Spec.Install.Spec.Deployments = []olm.StrategyDeploymentSpec{{Name: "d", Spec: []byte(text)}, {Name: "other", Spec: []byte(text)}}
	list, err := servers(csv)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	got, err := json.Marshal(list[0].ports)
	if want := `[{"name":"443","port":443,"protocol":"TCP","targetPort":443},{"name":"8443","port":8443,"protocol":"TCP","targetPort":"https"}]`; err != nil || string(got) != want {
		t.Errorf("ports %s, want %s", got, want)
	}
	var spec map[string]any
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		t.Fatal(err)
	}
	Mount(csv, "d", spec, "")
	got, err = json.Marshal(spec)
	secret := func(cert, key string) string {
		return `"secret":{"items":[{"key":"tls.crt","path":"` + cert + `"},{"key":"tls.key","path":"` + key + `"}],"secretName":"d-service-cert"}`
	}
	want := `{"template":{"spec":{"containers":[` +
		`{"volumeMounts":[{"mountPath":"/tmp/k8s-webhook-server/serving-certs","name":"webhook-cert"},{"mountPath":"/apiserver.local.config/certificates","name":"apiservice-cert"}]},` +
		`{"volumeMounts":[{"mountPath":"/mine","name":"webhook-cert"},{"mountPath":"/apiserver.local.config/certificates","name":"apiservice-cert"}]}],` +
		`"serviceAccountName":"default","volumes":[{"name":"webhook-cert",` + secret("tls.crt", "tls.key") + `},{"name":"apiservice-cert",` + secret("apiserver.crt", "apiserver.key") + `}]}}}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	spec = map[string]any{}
	if Mount(csv, "other", spec, "x"); len(spec) != 0 {
		t.Errorf("a deployment that serves nothing was changed to %v", spec)
	}
}

// E17: a conversion webhook that OLM or this package registered is recognized
// by its CA; others are not.
func TestConvertedBy(t *testing.T) {
	c := read(t, "conversion.json")
	o := c.objects[olm.Key{Group: olm.GroupCRD, Kind: olm.KindCRD, Name: "widgets.g-conversion.example.com"}]
	crd, err := olm.As[olm.CustomResourceDefinition](*o)
	if err != nil {
		t.Fatal(err)
	}
	if got := ConvertedBy(crd); got != "sc-conversion" {
		t.Errorf("converted by %q, want sc-conversion", got)
	}
	csvs := []*olm.ClusterServiceVersion{c.csv}
	if !IsConverted(crd.Metadata.Name, csvs) || IsConverted("x", csvs) {
		t.Error("want true only for the CRD that the CSV converts")
	}
	crd.Spec.Conversion.Rest = olm.Members{"webhook": []byte(`{"clientConfig":{"caBundle":"bWluZQ==","service":{"namespace":"sc-conversion"}}}`)}
	if got := ConvertedBy(crd); got != "" {
		t.Errorf("converted by %q, want none", got)
	}
}
