package cli

import (
	"testing"

	"k8s.io/client-go/rest"
)

// TestServiceAccountFlags checks that flags apply to the configuration of a service account, which client-go does not
// merge with them, and that the user of a kubeconfig is left alone.
func TestServiceAccountFlags(t *testing.T) {
	var s live
	s.overrides.AuthInfo.ImpersonateGroups = []string{"admins"}
	if err := s.finish(&rest.Config{}); err == nil {
		t.Error("groups without a user are accepted")
	}
	of := &rest.Config{Impersonate: rest.ImpersonationConfig{UserName: "eve"}}
	if err := s.finish(of); err != nil || of.Impersonate.UserName != "eve" {
		t.Errorf("%v, user %q", err, of.Impersonate.UserName)
	}
	s.overrides.AuthInfo.Impersonate, s.overrides.Timeout = "alice", "30s"
	pod := &rest.Config{}
	if err := s.finish(pod); err != nil || pod.Impersonate.UserName != "alice" || len(pod.Impersonate.Groups) != 1 || pod.Timeout.Seconds() != 30 {
		t.Errorf("%v: %v, %v", err, pod.Impersonate, pod.Timeout)
	}
}
