package draw_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/graph/draw"
)

func ExampleDrawing_Mermaid() {
	const catalog = `
{"schema":"olm.package","name":"etcd","defaultChannel":"stable"}
{"schema":"olm.channel","package":"etcd","name":"stable","entries":[{"name":"etcd.v1.0.0"},{"name":"etcd.v1.1.0","replaces":"etcd.v1.0.0"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.0.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.1.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.1.0"}}]}`
	cat, err := graph.LoadReader(context.Background(), strings.NewReader(catalog), "catalog.json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, _ := cat.Package("etcd")
	fmt.Print(draw.New(p, nil).Mermaid())
	// Output:
	// flowchart BT
	//   subgraph c0["channel stable; default channel"]
	//     n0_0["1.1.0<br/>head"]:::head
	//     n0_1["1.0.0"]
	//   end
	//   n0_1 -->|replaces| n0_0
	//   classDef head fill:#0f766e,color:#fff
	//   classDef installed fill:#ede9fe,stroke:#7c3aed,stroke-width:3px
	//   classDef deprecated fill:#fee2e2,stroke:#b91c1c
	//   classDef skipped fill:#e2e8f0,stroke-dasharray:4
	//   classDef virtual fill:#fff,stroke-dasharray:2
	//   classDef range fill:#fff,stroke:#2563eb
}
