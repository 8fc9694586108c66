package sidebyside

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"

	"k8s.io/apimachinery/pkg/types"
)

// aggregate serves an aggregated API in place of the operator in a namespace, with the
// certificate that was made for it, and returns the port.
func (r *run) aggregate(ns, group string) int {
	r.t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	must(r.t, err)
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"%s/v1","resources":[{"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","verbs":["get","list"]}]}`, group)
		}),
		TLSConfig: &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return r.certificate(ns) }},
	}
	go srv.ServeTLS(listener, "", "") // Close ends it
	r.t.Cleanup(func() { srv.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

// certificate returns the serving certificate in a namespace.
func (r *run) certificate(ns string) (*tls.Certificate, error) {
	secrets, err := r.listAll(context.Background(), kindOf("Secret"))
	if err != nil {
		return nil, err
	}
	for _, s := range secrets {
		if s.GetNamespace() != ns || field(s.Object, "type") != "kubernetes.io/tls" {
			continue
		}
		var pair [2][]byte
		for i, key := range []string{"tls.crt", "tls.key"} {
			if pair[i], err = base64.StdEncoding.DecodeString(field(s.Object, "data", key)); err != nil {
				return nil, err
			}
		}
		c, err := tls.X509KeyPair(pair[0], pair[1])
		return &c, err
	}
	return nil, fmt.Errorf("no certificate in %s", ns)
}

// lead redirects the service of the operator to a host, because no pods run.
func (r *run) lead(ns, host string) {
	r.t.Helper()
	r.exists("Service", ns, "widget-controller-service")
	r.patch(types.MergePatchType, "Service", ns, "widget-controller-service", obj{"spec": obj{"type": "ExternalName", "externalName": host, "clusterIP": nil, "clusterIPs": nil}})
}
