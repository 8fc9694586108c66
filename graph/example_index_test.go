package graph_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/olmkit/olmkit/graph"
)

// An index can check whether the files that it was made from have changed.
func ExampleReadIndex() {
	ctx := context.Background()
	files := fstest.MapFS{"etcd/catalog.yaml": {Data: []byte(indexed)}}
	cat, err := graph.Load(ctx, files, nil)
	if err != nil {
		log.Fatal(err)
	}
	source, err := graph.HashSource(ctx, files)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := graph.WriteIndex(ctx, &file, cat, source); err != nil {
		log.Fatal(err)
	}

	opened, err := graph.ReadIndex(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		log.Fatal(err)
	}
	pkg, _ := opened.Package("etcd")
	ch, _ := pkg.DefaultChannel()
	head, _ := ch.Head()
	fmt.Println(head.Name())

	files["etcd/catalog.yaml"].Data = append(files["etcd/catalog.yaml"].Data, "# changed\n"...)
	now, err := graph.HashSource(ctx, files)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("stale:", now != opened.SourceHash())
	// Output:
	// etcd.v2
	// stale: true
}
