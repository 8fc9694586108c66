package crd

import (
	"fmt"
	"hash/fnv"
	"maps"
	"strings"

	"github.com/olmkit/olmkit/olm"
)

// annotationAlongside begins the annotations of a CRD that name the CSVs with which it was
// installed, as "<namespace>/<name>". OLM does not install a CSV as long as the CRD names only
// versions that it replaces (E37).
const annotationAlongside = "operatorframework.io/installed-alongside-"

// alongside returns a copy of annotations with an installed-alongside annotation added for
// csv, and those of CSVs that no longer exist removed.
func (e *Upgrades) alongside(annotations map[string]string, csv string) map[string]string {
	out := maps.Clone(annotations)
	if out == nil {
		out = map[string]string{}
	}
	exists := map[string]bool{}
	for _, c := range e.CSVs {
		if !olm.IsCopied(c) {
			exists[c.Metadata.Namespace+"/"+c.Metadata.Name] = true
		}
	}
	maps.DeleteFunc(out, func(k, v string) bool { return strings.HasPrefix(k, annotationAlongside) && !exists[v] })
	name := e.Namespace + "/" + csv
	h := fnv.New64a()
	h.Write([]byte(name))
	out[fmt.Sprintf("%s%x", annotationAlongside, h.Sum64())] = name
	return out
}

// isAlongsideOther reports whether a CRD names CSVs of the namespace but not this one.
func (e *Upgrades) isAlongsideOther(annotations map[string]string, csv string) bool {
	other := false
	for k, v := range annotations {
		if ns, name, ok := strings.Cut(v, "/"); ok && strings.HasPrefix(k, annotationAlongside) && ns == e.Namespace {
			if name == csv {
				return false
			}
			other = true
		}
	}
	return other
}
