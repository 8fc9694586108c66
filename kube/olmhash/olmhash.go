// Package olmhash computes the hashes by which OLM detects changes to deployments. As in
// OLM, they are computed from Kubernetes' Go types.
package olmhash

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"math/big"

	appsv1 "k8s.io/api/apps/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Deployment returns the values of the label olm.deployment-spec-hash for the spec of a
// deployment, given as JSON without an API server's defaults. The first is that of OLM
// versions built with Kubernetes 1.34 or later, the second that of older ones, which encode
// a missing creationTimestamp. Use it as reconcile.Options.DeploymentHashes.
func Deployment(spec []byte) ([]string, error) { // E23
	var s appsv1.DeploymentSpec
	if err := utiljson.Unmarshal(spec, &s); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(&s); err != nil { // with a newline, as OLM does
		return nil, err
	}
	return []string{hash(text.Bytes()), hash(withTimestamp(text.Bytes()))}, nil
}

func hash(text []byte) string {
	sum := sha256.Sum224(text)
	return new(big.Int).SetBytes(sum[:]).Text(62)
}

// withTimestamp inserts a null creationTimestamp into the template in an encoded spec. The text
// after which it is inserted occurs only once, because quotation marks in strings are escaped.
func withTimestamp(text []byte) []byte {
	begin := []byte(`"template":{"metadata":{`)
	stamp := `"creationTimestamp":null`
	if !bytes.Contains(text, append(bytes.Clone(begin), '}')) {
		stamp += ","
	}
	return bytes.Replace(text, begin, append(begin, stamp...), 1)
}
