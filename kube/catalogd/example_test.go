package catalogd_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/olmkit/olmkit/kube/catalogd"
)

const sampleCatalog = `{"schema":"olm.package","name":"etcd","defaultChannel":"stable"}
{"schema":"olm.channel","package":"etcd","name":"stable","entries":[{"name":"etcd.v1.0.0"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.0.0","image":"example.com/etcd:1.0.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.0.0"}}]}
`

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/jsonl")
		io.WriteString(w, sampleCatalog)
	}))
	defer server.Close()

	ctx := context.Background()
	client, err := catalogd.New(server.URL+"/catalogs/sample", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	cat, err := client.Fetch(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for b := range cat.Graph.Bundles() {
		fmt.Println(b.Name(), b.Version())
	}
	again, err := client.Fetch(ctx)
	fmt.Println("the same:", again == cat, err)
	// Output:
	// etcd.v1.0.0 1.0.0
	// the same: true <nil>
}
