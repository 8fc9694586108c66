package operatorgroup

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"math/big"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
)

// A Naming determines the names of a group's ClusterRoles, and the labels by
// which they aggregate.
type Naming string

const (
	// Documented follows OLM's documentation. It is the default.
	Documented Naming = ""
	// Running follows OLM v0.45. A ClusterRole for an API serves every group
	// that provides it, so groups with the same API do not compete for its
	// label. Groups with the same name have separate roles.
	Running Naming = "running"
)

const aggregateTo = "olm.opgroup.permissions/aggregate-to-"

// groupRole returns the name of a group's own ClusterRole of a level.
func (n Naming) groupRole(g *olm.OperatorGroup, level string) string {
	m := &g.Metadata
	if n == Documented {
		return m.Name + "-" + level
	}
	const limit = 253 // for the name of an object
	hash := base62(fmt.Appendf(nil, "%s/%s/%s", m.Namespace, m.Name, level))
	name := m.Name[:min(len(m.Name), limit-len("olm.og..-")-len(level)-len(hash))]
	return "olm.og." + name + "." + level + "-" + hash
}

// An apiResource is an API of a CSV, with the names that its roles and their rules need.
type apiResource struct {
	property.GVK
	plural string
	// prefix is the prefix of the names of its roles.
	prefix string
	// crd is the name of its CRD, or "" for an aggregated API.
	crd string
}

// label returns the key and value of the label of the role for api at a level of access. The
// role of g at the same level selects roles by this label.
func (n Naming) label(g *olm.OperatorGroup, api property.GVK, level string) (key, value string) {
	if n == Documented {
		return aggregateTo + level, g.Metadata.Name
	}
	hash := fnv.New64a()
	hash.Write([]byte(apiText(api)))
	return fmt.Sprintf("%s%x-%s", aggregateTo, hash.Sum64(), level), "true"
}

// base62 returns a hash of text as letters and digits.
func base62(text []byte) string {
	sum := sha256.Sum224(text)
	return new(big.Int).SetBytes(sum[:]).Text(62)
}

// generatedName returns base, truncated if the name would be too long, and a
// hash of the content. It is the name that OLM generates, so that installed
// operators keep the names of their roles.
func generatedName(base string, content []byte) string {
	hash := base62(append(bytes.Clone(content), '\n'))
	if room := 63 - len(hash) - 1; len(base)+len(hash) > 63 && room > 0 {
		base = base[:min(room, len(base))]
	}
	return base + "-" + hash
}
