package yamljson

import (
	"bytes"
	"fmt"
	"testing"
)

// synthetic returns a bundle as opm renders it, with n CRDs that have the same description.
func synthetic(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`image: quay.io/example/etcd-operator@sha256:66a37fd61a06a43969854ee6d3e21087a98b93838e284a6086b13917f96b0d9b
name: etcd-operator.v0.9.4
package: etcd
properties:
- type: olm.gvk
  value:
    group: etcd.database.coreos.com
    kind: EtcdCluster
    version: v1beta2
- type: olm.package
  value:
    packageName: etcd
    version: 0.9.4
- type: olm.csv.metadata
  value:
    annotations:
      alm-examples: |-
        [
          {
            "apiVersion": "etcd.database.coreos.com/v1beta2",
            "kind": "EtcdCluster",
            "metadata": {
              "name": "example",
              "labels": {"app": "etcd", "path": "C:\\data"}
            },
            "spec": {"size": 3, "version": "3.2.13"}
          }
        ]
      capabilities: Full Lifecycle
      createdAt: "2019-02-28 01:03:00"
    apiServiceDefinitions: {}
    crdDescriptions:
      owned:
`)
	for i := range n {
		fmt.Fprintf(&b, `      - description: Represents a cluster of etcd nodes, number %d, with a description
          that is long enough to be folded.
        displayName: etcd Cluster
        kind: EtcdCluster%d
        name: etcdclusters%d.etcd.database.coreos.com
        resources:
        - kind: Service
          version: v1
        specDescriptors:
        - description: 'The desired number of member Pods: an odd one'
          displayName: Size
          path: size
          x-descriptors:
          - urn:alm:descriptor:com.tectonic.ui:podCount
        version: v1beta2
`, i, i, i)
	}
	b.WriteString(`    description: |
      The etcd Operator creates and maintains highly-available etcd clusters on Kubernetes, allowing engineers to easily deploy and manage etcd clusters for their applications.

      ### Supported Features

      * **High availability**: "multiple instances" of etcd are networked together and secured.
      * **Automated updates**: deploy a new etcd version without worrying about disruption.
    displayName: etcd
    installModes:
    - supported: true
      type: OwnNamespace
    - supported: false
      type: AllNamespaces
    keywords:
    - etcd
    - key value
    links:
    - name: Blog
      url: https://coreos.com/etcd
    provider:
      name: CNCF
- type: olm.maxOpenShiftVersion
  value: "4.8"
relatedImages:
- image: quay.io/example/etcd@sha256:3816b6daf9b66d6ced6f0f966314e2d4f894982c6b1493061502f8c2bf86ac84
  name: ""
schema: olm.bundle
`)
	return b.Bytes()
}

func BenchmarkConvert(b *testing.B) {
	benchmarkDocs(b, [][]byte{synthetic(20)})
}

func BenchmarkCatalogs(b *testing.B) {
	benchmarkDocs(b, catalogDocs(b))
}

func benchmarkDocs(b *testing.B, docs [][]byte) {
	size := 0
	for _, doc := range docs {
		size += len(doc)
	}
	for _, c := range []struct {
		name string
		opts *Options
	}{{"full", nil}, {"skipping", &Options{SkipValue: unwanted}}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				for _, doc := range docs {
					out, ok := Convert(buf[:0], doc, c.opts)
					if !ok {
						b.Fatalf("fell back: %.100q", doc)
					}
					buf = out
				}
			}
		})
	}
	b.Run("slow", func(b *testing.B) {
		if size > 10<<20 {
			docs, size = docs[:len(docs)/10], 0
			for _, doc := range docs {
				size += len(doc)
			}
		}
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			for _, doc := range docs {
				if _, err := Slow(b.Context(), doc, nil); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
