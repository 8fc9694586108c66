package near

import (
	"slices"
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"etcd", "etcd", 0}, {"ectd", "etcd", 1}, {"etc", "etcd", 1},
		{"Etcd", "etcd", 0}, {"ab", "ba", 1}, {"abc", "cab", 2}, {"kitten", "sitting", 3},
	} {
		if got, back := Distance(tt.a, tt.b), Distance(tt.b, tt.a); got != tt.want || back != got {
			t.Errorf("Distance(%q, %q) = %d, and back %d, want %d", tt.a, tt.b, got, back, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	known := []string{"argocd", "b", "cert-manager", "etcd", "etcd", "etcd-backup", "prometheus", "prometheos"}
	for _, tt := range []struct {
		name string
		max  int
		want []string
	}{
		{"ectd", 4, []string{"etcd"}},
		{"etcd", 4, nil},
		{"argocd-operator", 4, []string{"argocd"}},
		{"argo-cd", 4, []string{"argocd"}},
		{"promethesu", 4, []string{"prometheus", "prometheos"}},
		{"promethesu", 1, []string{"prometheus"}},
		{"certmanger", 4, []string{"cert-manager"}},
		{"a", 4, nil},
		{"kafka", 4, nil},
		{"theo", 4, []string{"prometheos"}},
		{"argocd-for-all", 4, []string{"argocd"}},
		{"Prom", 4, []string{"prometheos", "prometheus"}},
		{"", 4, nil},
	} {
		if got := Names(tt.name, known, tt.max); !slices.Equal(got, tt.want) {
			t.Errorf("Names(%q, %d) = %q, want %q", tt.name, tt.max, got, tt.want)
		}
	}
}

func TestByVersion(t *testing.T) {
	known := []string{"stable", "strimzi-0.22.x", "strimzi-0.51.x", "strimzi-0.53.x", "strimzi-0.9.x", "strimzi-1.0.x", "amq-0.52.x", "v99999999999999999999"}
	for name, want := range map[string][]string{
		"strimzi-0.52.x": {"strimzi-0.53.x", "strimzi-0.51.x", "strimzi-0.22.x", "strimzi-0.9.x", "strimzi-1.0.x"},
		"strimzi-0.8.x":  {"strimzi-0.9.x", "strimzi-0.22.x", "strimzi-0.51.x", "strimzi-0.53.x", "strimzi-1.0.x"},
		"strimzi-1.9.x":  {"strimzi-1.0.x", "strimzi-0.53.x", "strimzi-0.51.x", "strimzi-0.22.x", "strimzi-0.9.x"},
		"strimzi-2.0.x":  {"strimzi-1.0.x", "strimzi-0.53.x", "strimzi-0.51.x", "strimzi-0.22.x", "strimzi-0.9.x"},
		"strimzi-0.5":    {"strimzi-0.53.x", "strimzi-0.51.x"},
		"fast":           nil,
		"v2":             nil,
	} {
		if got := ByVersion(name, known); !slices.Equal(got, want) {
			t.Errorf("ByVersion(%q) is %q, want %q", name, got, want)
		}
	}
}

// TestNewestFirst checks that of names that differ only in their versions, the newest come first.
func TestNewestFirst(t *testing.T) {
	got := Names("stable", []string{"stable-3.9", "stable-3.10", "stable-3.17", "candidate"}, 2)
	if want := []string{"stable-3.17", "stable-3.10"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestNamesByWord(t *testing.T) {
	known := []string{"project-quay", "quay-bridge-operator", "quayio", "strimzi-kafka-operator"}
	for name, want := range map[string][]string{
		"quay":          {"project-quay", "quay-bridge-operator"},
		"quay-operator": {"project-quay", "quay-bridge-operator"},
		"strimzi":       {"strimzi-kafka-operator"},
		"strimzi-kafka": {"strimzi-kafka-operator"},
		"strimzi-redis": nil,
	} {
		if got := Names(name, known, 2); !slices.Equal(got, want) {
			t.Errorf("Names(%q) is %q, want %q", name, got, want)
		}
	}
}

// TestWordOperator: names that have only "operator" in common are not similar, and those that differ only there are.
func TestWordOperator(t *testing.T) {
	known := []string{"etcd", "sn-operator"}
	for name, want := range map[string][]string{"sailoperator": nil, "snoperator": {"sn-operator"}, "etcdoperator": {"etcd"}} {
		if got := Names(name, known, 2); !slices.Equal(got, want) {
			t.Errorf("Names(%q) is %q, want %q", name, got, want)
		}
	}
}

// TestEnding: the ending "-operator" does not allow more edits of the rest of a name.
func TestEnding(t *testing.T) {
	known := []string{"pulp-operator", "quart-operator"}
	for name, want := range map[string][]string{"quay-operator": nil, "pump-operator": {"pulp-operator"}, "quarts-operator": {"quart-operator"}} {
		if got := Names(name, known, 2); !slices.Equal(got, want) {
			t.Errorf("Names(%q) is %q, want %q", name, got, want)
		}
	}
}

// TestCrowded: names of many equally similar ones are only examples.
func TestCrowded(t *testing.T) {
	var known []string
	for _, p := range strings.Fields("acm apigateway ec2 ecr ecs eks iam kms rds") {
		known = append(known, "ack-"+p+"-controller")
	}
	if names, crowded := Similar("ack", known, 2); !crowded || !slices.Equal(names, known[:2]) {
		t.Errorf("Similar(ack) is %q, %t, want two examples of a crowd", names, crowded)
	}
	if _, crowded := Similar("ack", known[1:], 2); crowded {
		t.Error("eight names are a crowd, want them to be suggestions")
	}
	if names, crowded := Similar("ack-kms", known, 2); crowded || !slices.Equal(names, []string{"ack-kms-controller"}) {
		t.Errorf("Similar(ack-kms) is %q, %t, want the only one", names, crowded)
	}
}

// TestGeneralWord checks that names are only examples if many have the word of a name that is too general.
func TestGeneralWord(t *testing.T) {
	known := []string{"kairos-operator", "tempo-operator"}
	for _, n := range []string{"alpha-one", "bravo-two", "delta-three", "echo-four", "golf-five", "hotel-six", "india-seven"} {
		known = append(known, n+"-operator")
	}
	for _, n := range []string{"one", "two", "three", "four", "five", "six", "seven", "eight"} {
		known = append(known, "aws-"+n+"-controller")
	}
	known = append(known, "tf-controller", "aws-operator", "aws-nine-controller")
	for name, want := range map[string]bool{"operator": true, "kairos": false, "alpha": false, "controller": true, "aws": false} {
		if names, crowded := Similar(name, known, 2); crowded != want {
			t.Errorf("Similar(%q) returns %v, crowded %v, want %v", name, names, crowded, want)
		}
	}
	if names := Names("aws", known, 2); !slices.Equal(names, []string{"aws-operator"}) {
		t.Errorf("Names(aws) is %q, want only the one that differs in its ending", names)
	}
}
