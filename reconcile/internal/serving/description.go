package serving

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/olmkit/olmkit/olm"
)

// A description is the description of a webhook in a CSV, in OLM's format. Its
// JSON text must be identical to OLM's, because a label contains its hash. So
// the order of the fields matters, and it must be encoded with encoding/json.
type description struct {
	GenerateName            string          `json:"generateName"`
	Type                    string          `json:"type"`
	DeploymentName          string          `json:"deploymentName,omitempty"`
	ContainerPort           int32           `json:"containerPort,omitzero"`
	TargetPort              json.RawMessage `json:"targetPort,omitzero"`
	Rules                   []rule          `json:"rules,omitempty"`
	FailurePolicy           *string         `json:"failurePolicy,omitzero"`
	MatchPolicy             *string         `json:"matchPolicy,omitzero"`
	ObjectSelector          *selector       `json:"objectSelector,omitzero"`
	SideEffects             *string         `json:"sideEffects"`
	TimeoutSeconds          *int32          `json:"timeoutSeconds,omitzero"`
	AdmissionReviewVersions []string        `json:"admissionReviewVersions"`
	ReinvocationPolicy      *string         `json:"reinvocationPolicy,omitzero"`
	WebhookPath             *string         `json:"webhookPath,omitzero"`
	ConversionCRDs          []string        `json:"conversionCRDs,omitempty"`
}

type rule struct {
	Operations  []string `json:"operations,omitempty"`
	APIGroups   []string `json:"apiGroups,omitempty"`
	APIVersions []string `json:"apiVersions,omitempty"`
	Resources   []string `json:"resources,omitempty"`
	Scope       *string  `json:"scope,omitzero"`
}

type selector struct {
	MatchLabels      map[string]string `json:"matchLabels,omitempty"`
	MatchExpressions []expression      `json:"matchExpressions,omitempty"`
}

type expression struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// describe decodes a description.
func describe(w olm.Webhook) (d description, err error) {
	if err := w.Rest.Decode(&d); err != nil {
		return d, err
	}
	d.GenerateName, d.Type, d.DeploymentName, d.ContainerPort = w.GenerateName, w.Type, w.DeploymentName, w.ContainerPort
	d.WebhookPath, d.ConversionCRDs = w.WebhookPath, w.ConversionCRDs
	return d, nil
}

// hash returns OLM's hash of a description.
func (d description) hash() (string, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("webhook %q: %w", d.GenerateName, err)
	}
	sum := sha256.Sum224(append(text, '\n'))
	return new(big.Int).SetBytes(sum[:]).Text(62), nil
}

// port returns the port of the service.
func (d description) port() int32 { return orHTTPS(d.ContainerPort) }

func orHTTPS(port int32) int32 {
	if port > 0 {
		return port
	}
	return 443
}

// pointer returns the value that p points to, or a default.
func pointer[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}
