package sidebyside

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// recordedPort is the port of servers in the recording, where labels have hashes of it.
const recordedPort = "5443"

// listen starts a server in place of the operator in a namespace, with the certificate that
// was made for it, and returns the port.
func (r *run) listen(ns string, h http.Handler) int {
	r.t.Helper()
	port := "0"
	if r.backend == byOLM {
		port = recordedPort
	}
	listener, err := net.Listen("tcp", "localhost:"+port)
	must(r.t, err)
	srv := &http.Server{Handler: h, TLSConfig: &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return r.certificate(ns) }}}
	go srv.ServeTLS(listener, "", "") // Close ends it
	r.t.Cleanup(func() { srv.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

// lead redirects the service of the operator to a host, because no pods run.
func (r *run) lead(ns, host string) {
	r.t.Helper()
	r.exists("Service", ns, "widget-controller-service")
	r.patch(types.MergePatchType, "Service", ns, "widget-controller-service", obj{"spec": obj{"type": "ExternalName", "externalName": host, "clusterIP": nil, "clusterIPs": nil}})
}

// aggregated serves the discovery of an aggregated API.
func aggregated(group string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"%s/v1","resources":[{"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","verbs":["get","list"]}]}`, group)
	}
}

// convert is a conversion webhook: /spec/size of v1 is /spec/replicas of v2.
func convert(w http.ResponseWriter, req *http.Request) {
	var review struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Request    struct {
			UID               string `json:"uid"`
			DesiredAPIVersion string `json:"desiredAPIVersion"`
			Objects           []obj  `json:"objects"`
		} `json:"request"`
	}
	if err := json.NewDecoder(req.Body).Decode(&review); err != nil || req.URL.Path != "/convert" {
		http.Error(w, fmt.Sprint(req.URL.Path, err), http.StatusBadRequest)
		return
	}
	from, to := "size", "replicas"
	if strings.HasSuffix(review.Request.DesiredAPIVersion, "/v1") {
		from, to = to, from
	}
	for _, o := range review.Request.Objects {
		spec := o["spec"].(obj)
		if v, ok := spec[from]; ok {
			delete(spec, from)
			spec[to] = v
		}
		o["apiVersion"] = review.Request.DesiredAPIVersion
	}
	_ = json.NewEncoder(w).Encode(obj{"apiVersion": review.APIVersion, "kind": review.Kind, "response": obj{ // otherwise the API server reports it
		"uid": review.Request.UID, "convertedObjects": review.Request.Objects, "result": obj{"status": "Success"},
	}})
}

// secret returns the Secret with the serving certificate in a namespace, and its decoded data.
func (r *run) secret(ns string) (name string, data map[string][]byte, err error) {
	secrets, err := r.listAll(context.Background(), kindOf("Secret"))
	if err != nil {
		return "", nil, err
	}
	for _, s := range secrets {
		if s.GetNamespace() != ns || field(s.Object, "type") != "kubernetes.io/tls" {
			continue
		}
		text, _, err := unstructured.NestedStringMap(s.Object, "data")
		if err != nil {
			return "", nil, err
		}
		data := map[string][]byte{}
		for k, v := range text {
			if data[k], err = base64.StdEncoding.DecodeString(v); err != nil {
				return "", nil, err
			}
		}
		return s.GetName(), data, nil
	}
	return "", nil, fmt.Errorf("no certificate in %s", ns)
}

// certificate returns the serving certificate in a namespace.
func (r *run) certificate(ns string) (*tls.Certificate, error) {
	_, data, err := r.secret(ns)
	if err != nil {
		return nil, err
	}
	c, err := tls.X509KeyPair(data["tls.crt"], data["tls.key"])
	return &c, err
}

// expire replaces the serving certificate in a namespace by one that expires in an hour, as if
// it had been made two years ago. It returns its authority.
func (r *run) expire(ns string) (ca []byte) {
	r.t.Helper()
	name, _, err := r.secret(ns)
	must(r.t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(r.t, err)
	host := strings.TrimSuffix(name, "-cert") + "." + ns
	sign := func(c x509.Certificate, parent *x509.Certificate) ([]byte, *x509.Certificate) {
		c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(1), time.Now().AddDate(-2, 0, 0), time.Now().Add(time.Hour)
		c.Subject.Organization = []string{"Red Hat, Inc."}
		if parent == nil {
			parent = &c
		}
		der, err := x509.CreateCertificate(rand.Reader, &c, parent, &key.PublicKey, key)
		must(r.t, err)
		out, err := x509.ParseCertificate(der)
		must(r.t, err)
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), out
	}
	ca, authority := sign(x509.Certificate{Subject: pkix.Name{CommonName: "olm-selfsigned"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil)
	cert, _ := sign(x509.Certificate{Subject: pkix.Name{CommonName: host}, DNSNames: []string{host, host + ".svc"}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, authority)
	der, err := x509.MarshalECPrivateKey(key)
	must(r.t, err)
	r.merge("Secret", ns, name, obj{"data": obj{
		"tls.crt": base64.StdEncoding.EncodeToString(cert), "olmCAKey": base64.StdEncoding.EncodeToString(ca),
		"tls.key": base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})),
	}})
	return ca
}

// trusted returns the authority of the serving certificate in a namespace, if the API server
// trusts it for all webhooks, and if the pods have its hash, so that they were restarted.
func (r *run) trusted(ns string) (ca []byte) {
	_, data, err := r.secret(ns)
	must(r.t, err)
	ca = data["olmCAKey"]
	webhooks := 0
	for _, u := range r.objects() {
		if u.GetKind() == "Deployment" {
			hash, _, _ := unstructured.NestedString(u.Object, "spec", "template", "metadata", "annotations", "olmcahash")
			if hash != fmt.Sprintf("%x", sha256.Sum256(ca)) {
				return nil
			}
		}
		list, _, _ := unstructured.NestedSlice(u.Object, "webhooks")
		for _, w := range list {
			if webhooks++; field(w.(obj), "clientConfig", "caBundle") != base64.StdEncoding.EncodeToString(ca) {
				return nil
			}
		}
	}
	if webhooks == 0 {
		return nil
	}
	return ca
}
