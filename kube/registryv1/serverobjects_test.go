package registryv1

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/kube/internal/apicheck"
)

const mutableDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: demo, namespace: default}
spec:
  replicas: 1
  minReadySeconds: 1
  progressDeadlineSeconds: 100
  selector: {matchLabels: {app: demo}, matchExpressions: [{key: app, operator: In, values: [demo]}]}
  strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 25%}}
  template:
    metadata: {labels: {app: demo}, annotations: {example.com/a: b}}
    spec:
      serviceAccountName: demo
      hostNetwork: false
      nodeSelector: {kubernetes.io/os: linux}
      priorityClassName: high
      terminationGracePeriodSeconds: 30
      dnsPolicy: ClusterFirst
      restartPolicy: Always
      securityContext: {runAsUser: 1000, runAsNonRoot: true, fsGroup: 1000, supplementalGroups: [1], seccompProfile: {type: RuntimeDefault}}
      tolerations: [{key: a, operator: Equal, value: b, effect: NoExecute, tolerationSeconds: 1}, {operator: Exists}]
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: demo}}}]
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}], matchFields: [{key: metadata.name, operator: In, values: [node]}]}]}
          preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: Exists}]}}]
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {app: demo}}, namespaces: [default]}]
          preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: zone}}]
      volumes:
      - {name: cert, secret: {secretName: cert, defaultMode: 420, items: [{key: a, path: b, mode: 420}]}}
      - {name: config, configMap: {name: config, defaultMode: 420, items: [{key: a, path: b}]}}
      - {name: scratch, emptyDir: {sizeLimit: 1Gi}}
      - {name: host, hostPath: {path: /a, type: Directory}}
      - {name: claim, persistentVolumeClaim: {claimName: claim}}
      - {name: down, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
      - name: all
        projected: {sources: [{serviceAccountToken: {path: token, expirationSeconds: 600}}, {secret: {name: s, items: [{key: a, path: b}]}}, {configMap: {name: c}}, {downwardAPI: {items: [{path: x, resourceFieldRef: {containerName: manager, resource: limits.cpu, divisor: 1m}}]}}]}
      initContainers:
      - {name: init, image: demo, command: [a], volumeMounts: [{name: scratch, mountPath: /s}]}
      containers:
      - name: manager
        image: demo
        imagePullPolicy: Always
        terminationMessagePolicy: File
        command: [a]
        ports: [{name: http, containerPort: 80, protocol: TCP}, {name: host, containerPort: 81, hostPort: 81}]
        env: [{name: A, value: b}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: C, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: D, valueFrom: {configMapKeyRef: {name: s, key: k}}}, {name: E, valueFrom: {resourceFieldRef: {resource: limits.memory}}}, {name: F, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['a']"}}}]
        envFrom: [{prefix: A_, configMapRef: {name: c}}, {secretRef: {name: s}}]
        volumeMounts: [{name: cert, mountPath: /cert, readOnly: true}, {name: scratch, mountPath: /s, subPath: a/b, mountPropagation: None}]
        resources: {limits: {cpu: 1, memory: 1Gi, example.com/gpu: 1}, requests: {cpu: 100m, example.com/gpu: 1}}
        livenessProbe: {httpGet: {path: /, port: http, scheme: HTTP, httpHeaders: [{name: A, value: b}]}, periodSeconds: 1, successThreshold: 1, terminationGracePeriodSeconds: 1}
        readinessProbe: {tcpSocket: {port: 80}, successThreshold: 2, failureThreshold: 1, timeoutSeconds: 1}
        startupProbe: {grpc: {port: 80}, initialDelaySeconds: 1}
        lifecycle: {preStop: {exec: {command: [a]}}, postStart: {sleep: {seconds: 1}}}
        securityContext: {runAsUser: 1000, privileged: false, allowPrivilegeEscalation: false, capabilities: {drop: [ALL], add: [A]}, seccompProfile: {type: Localhost, localhostProfile: a}}
`

// mutableObjects are objects of the kinds that apicheck knows.
var mutableObjects = []string{`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: demo, namespace: default}
rules: [{apiGroups: [""], resources: [pods], verbs: [get], resourceNames: [a]}]
`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: demo}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}, matchExpressions: [{key: a, operator: Exists}]}]}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}, {nonResourceURLs: [/metrics], verbs: [get]}]
`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: demo, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: demo}
subjects: [{kind: ServiceAccount, name: demo}, {kind: User, name: a, apiGroup: rbac.authorization.k8s.io}]
`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: demo}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: demo}
subjects: [{kind: ServiceAccount, name: demo, namespace: default}, {kind: Group, name: a, apiGroup: rbac.authorization.k8s.io}]
`, `
apiVersion: v1
kind: Service
metadata: {name: demo, namespace: default}
spec:
  type: ClusterIP
  sessionAffinity: None
  selector: {app: demo}
  ports: [{name: http, port: 80, targetPort: http, protocol: TCP}, {name: https, port: 443, targetPort: 8443}]
`, `
apiVersion: v1
kind: ConfigMap
metadata: {name: demo, namespace: default}
immutable: true
data: {a: b}
binaryData: {c: ZGF0YQ==}
`, `
apiVersion: v1
kind: Secret
metadata: {name: demo, namespace: default}
type: Opaque
data: {a: ZGF0YQ==}
stringData: {b: c}
`, `
apiVersion: v1
kind: Secret
metadata: {name: demo, namespace: default}
type: kubernetes.io/dockerconfigjson
data: {.dockerconfigjson: e30=}
`, `
apiVersion: v1
kind: ServiceAccount
metadata: {name: demo, namespace: default}
imagePullSecrets: [{name: a}]
automountServiceAccountToken: true
`, `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: demo, namespace: default}
spec: {minAvailable: 50%, unhealthyPodEvictionPolicy: AlwaysAllow, selector: {matchLabels: {app: demo}}}
`, `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: demo}
value: 1000
globalDefault: false
description: text
preemptionPolicy: Never
`}

// objectMutations are values that take the place of others.
var objectMutations = []string{
	`null`, `true`, `false`, `0`, `1`, `-1`, `80`, `70000`, `1.5`, `""`, `"a"`, `"A b"`, `"-a"`, `"1a"`, `"a/b"`, `"../a"`, `"/a"`, `"."`, `"a.b"`, `"150%"`, `"0%"`, `"1Gi"`, `"-1"`, `"1500m"`, `"http"`,
	`"Always"`, `"None"`, `"Recreate"`, `"RollingUpdate"`, `"Exists"`, `"In"`, `"Equal"`, `"Localhost"`, `"NodePort"`, `"ExternalName"`, `"ServiceAccount"`, `"User"`, `"ClusterRole"`, `"kubernetes.io/tls"`, `"UDP"`,
	`"manager"`, `"cert"`, `"metadata.uid"`, `"limits.cpu"`, `"kubernetes.io/basic-auth"`, `2000000000`,
	`[]`, `{}`, `["a"]`, `["a", "b"]`, `[{}]`, `{"a": "b"}`, `{"a b": "c"}`, `{"name": "a"}`, `[{"name": "a"}]`, `{"port": 80}`, `{"cpu": "2"}`, `{"command": ["a"]}`, `{"path": "/a"}`,
}

var objectKeys = []string{
	"name", "kind", "apiGroup", "verbs", "resources", "apiGroups", "nonResourceURLs", "resourceNames", "rules", "roleRef", "subjects", "namespace", "type", "ports", "port", "targetPort", "nodePort",
	"clusterIP", "externalName", "selector", "data", "binaryData", "stringData", "minAvailable", "maxUnavailable", "value", "preemptionPolicy", "hostNetwork", "hostPort", "containerPort", "protocol", "image",
	"command", "env", "envFrom", "valueFrom", "secretKeyRef", "volumes", "volumeMounts", "mountPath", "subPath", "subPathExpr", "emptyDir", "hostPath", "secret", "secretName", "configMap", "restartPolicy", "lifecycle",
	"livenessProbe", "httpGet", "tcpSocket", "exec", "successThreshold", "failureThreshold", "runAsUser", "privileged", "localhostProfile", "limits", "requests", "cpu", "effect", "operator", "key", "values", "value",
	"tolerationSeconds", "weight", "topologyKey", "activeDeadlineSeconds", "replicas", "strategy", "rollingUpdate", "matchLabels", "matchExpressions", "template", "defaultMode", "path", "mode", "items", "prefix", "divisor",
}

// mutatedObjects changes values of objects, and compares the verdicts.
func mutatedObjects(t *testing.T, c client.Client) { // K238
	digit := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "1a", "namespace": "default"},
		"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}}},
	}}
	if ours, theirs := metadataErrors(digit), refusal(t, c, digit); len(ours) > 0 || theirs != nil { // K233
		t.Errorf("a Service whose name starts with a digit:\n  olmkit: %v\n  server: %v", ours, theirs)
	}
	n := testsize.Of(300, 1500, 6000)
	mutatedObject(t, c, mutableDeployment, 4*n)
	for _, text := range mutableObjects {
		mutatedObject(t, c, text, n/4)
	}
}

func mutatedObject(t *testing.T, c client.Client, text string, n int) {
	base := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &base); err != nil {
		t.Fatal(err)
	}
	kind := base["kind"].(string)
	if errs, o := checked(t, base); o == nil || len(errs) > 0 || refusal(t, c, o) != nil {
		t.Fatal(kind, errs, refusal(t, c, o))
	}
	refused := 0
	for seed := range n {
		doc := runtime.DeepCopyJSON(base)
		rest := runtime.DeepCopyJSON(base) // without what is not mutated
		delete(rest, "apiVersion")
		delete(rest, "kind")
		delete(rest, "metadata")
		what := mutateWith(rand.New(rand.NewPCG(uint64(seed), 0)), "", rest, objectMutations, objectKeys)
		for _, k := range []string{"apiVersion", "kind", "metadata"} {
			rest[k] = doc[k]
		}
		ours, o := checked(t, rest)
		if o == nil {
			continue
		}
		theirs := refusal(t, c, o)
		if theirs != nil {
			refused++
		}
		if (len(ours) > 0) != (theirs != nil) {
			t.Errorf("%s: %s:\n  olmkit: %v\n  server: %v", kind, what, ours.ToAggregate(), theirs)
		}
	}
	t.Logf("%s: %d of %d are refused", kind, refused, n)
	if refused < n/20 {
		t.Error("too few are refused")
	}
}

// checked returns the errors of an object and what is rendered from it, or nil if a CSV with it
// cannot be read.
func checked(t *testing.T, doc map[string]any) (field.ErrorList, *unstructured.Unstructured) {
	o := &unstructured.Unstructured{Object: doc}
	if doc["kind"] != "Deployment" {
		return apicheck.Object(o), o
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	var d appsv1.Deployment
	if json.Unmarshal(text, &d) != nil {
		return nil, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&d)
	if err != nil {
		t.Fatal(err)
	}
	sanitize(content)
	return apicheck.Deployment(&d.Spec, field.NewPath("spec")), &unstructured.Unstructured{Object: content}
}
