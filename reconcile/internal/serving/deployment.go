package serving

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/olmkit/olmkit/olm"
)

// annotationCAHash holds the hash of the CA, on the Secret and on the pods.
const annotationCAHash = "olmcahash"

// A server is a deployment of an operator that serves webhooks or aggregated
// APIs.
type server struct {
	name     string
	selector map[string]string
	account  string
	ports    []any
}

func (s *server) service() string { return s.name + "-service" }

// secret returns the name that the Secret, the Role for reading it, and its
// RoleBinding share.
func (s *server) secret() string { return s.service() + "-cert" }

// hosts returns the host names of the service.
func (s *server) hosts(namespace string) []string {
	name := s.service() + "." + namespace
	return []string{name, name + ".svc", name + ".svc.cluster.local"}
}

// servers returns the deployments of a CSV that serve something, in order.
func servers(csv *olm.ClusterServiceVersion) ([]*server, error) {
	var list []*server
	for _, spec := range csv.Spec.Install.Spec.Deployments {
		if !isServer(csv, spec.Name) {
			continue
		}
		var d struct {
			Selector struct {
				MatchLabels map[string]string `json:"matchLabels"`
			} `json:"selector"`
			Template struct {
				Spec struct {
					ServiceAccountName string `json:"serviceAccountName"`
				} `json:"spec"`
			} `json:"template"`
		}
		if len(spec.Spec) > 0 {
			if err := olm.Unmarshal(spec.Spec, &d); err != nil {
				return nil, err
			}
		}
		s := &server{name: spec.Name, selector: d.Selector.MatchLabels, account: cmp.Or(d.Template.Spec.ServiceAccountName, "default")}
		if err := s.addPorts(csv); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func isServer(csv *olm.ClusterServiceVersion, deployment string) bool {
	return slices.ContainsFunc(csv.Spec.APIServices.Owned, func(d olm.APIServiceDescription) bool { return d.DeploymentName == deployment }) ||
		slices.ContainsFunc(csv.Spec.Webhooks, func(w olm.Webhook) bool { return w.DeploymentName == deployment })
}

func (s *server) addPorts(csv *olm.ClusterServiceVersion) error {
	type port struct {
		number int32
		target string
	}
	var seen []port
	add := func(number int32, target any, text string) {
		if p := (port{number, text}); !slices.Contains(seen, p) {
			seen = append(seen, p)
			s.ports = append(s.ports, map[string]any{"name": strconv.Itoa(int(number)), "port": number, "protocol": "TCP", "targetPort": target})
		}
	}
	for _, d := range csv.Spec.APIServices.Owned {
		if n := orHTTPS(d.ContainerPort); d.DeploymentName == s.name {
			add(n, n, strconv.Itoa(int(n)))
		}
	}
	for _, w := range csv.Spec.Webhooks {
		if w.DeploymentName != s.name {
			continue
		}
		d, err := describe(w)
		if err != nil {
			return err
		}
		if len(d.TargetPort) == 0 || string(d.TargetPort) == "null" {
			add(d.port(), d.port(), strconv.Itoa(int(d.port())))
		} else {
			add(d.port(), d.TargetPort, string(d.TargetPort))
		}
	}
	return nil
}

// Mount adds the certificate as volumes, and the hash of its CA as an
// annotation, to the spec of a deployment, so that pods restart when the CA
// changes. It does not change a deployment that serves nothing. An empty hash
// leaves out the annotation.
func Mount(csv *olm.ClusterServiceVersion, deployment string, spec map[string]any, caHash string) {
	if !isServer(csv, deployment) {
		return
	}
	template := object(spec, "template")
	if caHash != "" {
		object(object(template, "metadata"), "annotations")[annotationCAHash] = caHash
	}
	pod := object(template, "spec")
	if name, _ := pod["serviceAccountName"].(string); name == "" {
		pod["serviceAccountName"] = "default"
	}
	secret := (&server{name: deployment}).secret()
	mount(pod, secret, "apiservice-cert", "/apiserver.local.config/certificates", "apiserver.crt", "apiserver.key")
	mount(pod, secret, "webhook-cert", "/tmp/k8s-webhook-server/serving-certs", "tls.crt", "tls.key")
}

// mount adds a volume to a pod and mounts it in all containers, replacing
// volumes with its name and mounts at its path.
func mount(pod map[string]any, secret, name, path, cert, key string) {
	item := func(key, path string) any { return map[string]any{"key": key, "path": path} }
	volume := map[string]any{"name": name, "secret": map[string]any{
		"secretName": secret, "items": []any{item(keyCert, cert), item(keyKey, key)},
	}}
	named := func(x any) bool { m, _ := x.(map[string]any); return m["name"] == name }
	volumes, _ := pod["volumes"].([]any)
	if i := slices.IndexFunc(volumes, named); i >= 0 {
		volumes[i] = volume
	} else {
		pod["volumes"] = append(volumes, volume)
	}
	containers, _ := pod["containers"].([]any)
	for _, c := range containers {
		c, ok := c.(map[string]any)
		if !ok {
			continue
		}
		mounts, _ := c["volumeMounts"].([]any)
		want := map[string]any{"name": name, "mountPath": path}
		at := slices.IndexFunc(mounts, func(x any) bool { m, _ := x.(map[string]any); return named(x) || m["mountPath"] == path })
		switch {
		case at < 0:
			c["volumeMounts"] = append(mounts, want)
		case !named(mounts[at]):
			mounts[at] = want
		}
	}
}

// object returns the object that is a member of another one, adding it if
// missing.
func object(m map[string]any, name string) map[string]any {
	child, ok := m[name].(map[string]any)
	if !ok {
		child = map[string]any{}
		m[name] = child
	}
	return child
}

// HashIn returns the hash of the CA in the spec of a deployment, or "".
func HashIn(d *olm.Deployment) string {
	var spec struct {
		Template struct {
			Metadata struct {
				Annotations map[string]string `json:"annotations"`
			} `json:"metadata"`
		} `json:"template"`
	}
	if olm.Unmarshal(d.Spec, &spec) != nil {
		return ""
	}
	return spec.Template.Metadata.Annotations[annotationCAHash]
}

// hyphenated replaces the dots in a name with hyphens, as OLM does in
// references to services.
func hyphenated(name string) string { return strings.ReplaceAll(name, ".", "-") }
