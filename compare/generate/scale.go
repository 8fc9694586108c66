package generate

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
)

// Scale writes a catalog of many packages, each with one channel, in which each bundle replaces the one before. Every
// bundle provides an API, and every third package requires that of the package before it. The catalog is JSON with one
// blob per line.
func Scale(w io.Writer, packages, bundles int) error {
	out := bufio.NewWriterSize(w, 1<<20)
	for p := range packages {
		pkg := fmt.Sprintf("package-%05d", p)
		fmt.Fprintf(out, `{"schema":"olm.package","name":%q,"defaultChannel":"stable"}`+"\n", pkg)
		fmt.Fprintf(out, `{"schema":"olm.channel","package":%q,"name":"stable","entries":[`, pkg)
		for b := range bundles {
			switch {
			case b == 0:
				fmt.Fprintf(out, `{"name":"%s.v1.0.0"}`, pkg)
			default:
				fmt.Fprintf(out, `,{"name":"%s.v1.%d.0","replaces":"%s.v1.%d.0"}`, pkg, b, pkg, b-1)
			}
		}
		out.WriteString("]}\n")
		for b := range bundles {
			fmt.Fprintf(out, `{"schema":"olm.bundle","package":%q,"name":"%s.v1.%d.0","image":"quay.io/generated/%s@sha256:%x","properties":[`, pkg, pkg, b, pkg, sha256.Sum256(fmt.Append(nil, p*bundles+b)))
			fmt.Fprintf(out, `{"type":"olm.package","value":{"packageName":%q,"version":"1.%d.0"}}`, pkg, b)
			fmt.Fprintf(out, `,{"type":"olm.gvk","value":{"group":"%s.example.com","kind":"Thing","version":"v1"}}`, pkg)
			if p%3 == 2 {
				fmt.Fprintf(out, `,{"type":"olm.gvk.required","value":{"group":"package-%05d.example.com","kind":"Thing","version":"v1"}}`, p-1)
			}
			out.WriteString("]}\n")
		}
	}
	return out.Flush()
}
