// Package olmhash computes the hashes by which OLM recognizes what it wrote, from the Go
// types of Kubernetes.
package olmhash

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"math/big"

	appsv1 "k8s.io/api/apps/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Deployment returns the values that OLM gives the label olm.deployment-spec-hash for the
// spec of a deployment, which is JSON without the defaults of an API server. The first is
// that of OLM with the libraries of Kubernetes 1.34 and later, the second that of older
// ones, which encode a missing creationTimestamp. It is what
// reconcile.Options.DeploymentHashes takes.
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

// withTimestamp returns the encoding of a spec with the creationTimestamp of its template,
// which is null. The beginning of the template occurs once, because quotation marks in
// strings are escaped.
func withTimestamp(text []byte) []byte {
	begin := []byte(`"template":{"metadata":{`)
	stamp := `"creationTimestamp":null`
	if !bytes.Contains(text, append(bytes.Clone(begin), '}')) {
		stamp += ","
	}
	return bytes.Replace(text, begin, append(begin, stamp...), 1)
}
