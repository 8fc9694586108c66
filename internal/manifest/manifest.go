// Package manifest decodes the manifests in catalogs: the values of
// olm.bundle.object properties.
package manifest

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/internal/yamljson"
)

// Object returns the manifest in the value of an olm.bundle.object as JSON.
func Object(ctx context.Context, value []byte) (jsontext.Value, error) {
	var object struct {
		Data []byte `json:"data"`
	}
	if err := json.Unmarshal(value, &object); err != nil {
		return nil, err
	}
	text, err := yamljson.JSON(ctx, object.Data, nil)
	if err != nil {
		return nil, fmt.Errorf("the manifest is not YAML: %w", err)
	}
	return text, nil
}

// ClusterServiceVersion returns the ClusterServiceVersion in the value of an
// olm.bundle.object as JSON, or nil if the value holds another object. The
// manifest is base64-encoded JSON or YAML.
func ClusterServiceVersion(ctx context.Context, value []byte) (jsontext.Value, error) {
	var object struct {
		Data []byte `json:"data"`
	}
	if err := json.Unmarshal(value, &object); err != nil {
		return nil, err
	}
	if !bytes.Contains(object.Data, []byte("ClusterServiceVersion")) {
		return nil, nil // skip decoding
	}
	text, err := yamljson.JSON(ctx, object.Data, nil)
	if err != nil {
		return nil, fmt.Errorf("the manifest is not YAML: %w", err)
	}
	var it struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(text, &it); err != nil {
		return nil, fmt.Errorf("the manifest is not an object: %w", err)
	}
	if it.Kind != "ClusterServiceVersion" {
		return nil, nil // the text only mentions the kind
	}
	return text, nil
}
