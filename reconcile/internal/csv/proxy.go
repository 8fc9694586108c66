package csv

import (
	"encoding/json"
	"slices"

	"github.com/olmkit/olmkit/olm"
)

// proxyKey is the key of the object with OpenShift's cluster-wide proxy.
var proxyKey = olm.Key{Group: "config.openshift.io", Kind: "Proxy", Name: "cluster"}

// proxyEnv returns the environment variables of the cluster's proxy that have a value. If the
// config of the subscription sets any of HTTP_PROXY, HTTPS_PROXY and NO_PROXY, it returns
// none: then the config decides about all of them (E35).
func (p *planner) proxyEnv(config *olm.SubscriptionConfig) (env []map[string]any, err error) {
	o := p.Object(proxyKey)
	if o == nil {
		return nil, nil
	}
	var status struct {
		HTTP  string `json:"httpProxy"`
		HTTPS string `json:"httpsProxy"`
		None  string `json:"noProxy"`
	}
	if text, ok := o.Get("status"); ok { // where OpenShift repeats what is valid in the spec
		if err := olm.Unmarshal(text, &status); err != nil {
			return nil, err
		}
	}
	for _, v := range [][2]string{{"HTTP_PROXY", status.HTTP}, {"HTTPS_PROXY", status.HTTPS}, {"NO_PROXY", status.None}} {
		if config != nil && slices.ContainsFunc(config.Env, func(text json.RawMessage) bool { return envName(text) == v[0] }) {
			return nil, nil
		}
		if v[1] != "" {
			env = append(env, map[string]any{"name": v[0], "value": v[1]})
		}
	}
	return env, nil
}

// envName returns the name of an environment variable, or "" if it is malformed.
func envName(text json.RawMessage) string {
	var v struct {
		Name string `json:"name"`
	}
	if olm.Unmarshal(text, &v) != nil {
		return ""
	}
	return v.Name
}
