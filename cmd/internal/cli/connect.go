package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // users with an auth-provider in the kubeconfig
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// client returns a client for the cluster.
func (s *live) client() (*rest.RESTClient, error) {
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 50, 100 // enough for the requests of one command
	config.UserAgent = "olmkit"
	config.WarningHandler = rest.NoWarnings{}
	errorsOnly := runtime.NewScheme() // only errors are decoded; objects stay JSON
	metav1.AddToGroupVersion(errorsOnly, schema.GroupVersion{Version: "v1"})
	config.NegotiatedSerializer = serializer.NewCodecFactory(errorsOnly).WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, &oneLineError{"the user in the kubeconfig: ", err}
	}
	return client, nil
}

// clientConfig returns the merged kubeconfig files with the flags.
func (s *live) clientConfig() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath, rules.WarnIfAllMissing = s.kubeconfig, false
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &s.overrides)
}

// config returns the configuration of the client: that of the kubeconfig or, in a pod without
// one, that of its service account.
func (s *live) config() (*rest.Config, error) {
	if t := s.overrides.Timeout; t != "" {
		if d, err := clientcmd.ParseTimeout(t); err != nil || d < 0 {
			return nil, usagef("--request-timeout %q: write a duration with its unit, such as 30s", t)
		}
	}
	files := s.clientConfig()
	config, err := files.ClientConfig()
	if err == nil {
		return config, s.finish(config)
	}
	raw, rawErr := files.RawConfig()
	var path *os.PathError
	name := s.overrides.CurrentContext
	switch {
	case errors.As(rawErr, &path) && s.kubeconfig != "":
		return nil, fmt.Errorf("the kubeconfig %s: %w; name another file with --kubeconfig", display(s.kubeconfig), path.Err)
	case rawErr != nil:
		return nil, fmt.Errorf("the kubeconfig: %w", rawErr)
	case s.groupsOnly():
		return nil, errGroupsOnly
	case len(raw.Contexts) == 0 && len(raw.Clusters) == 0:
		return nil, fmt.Errorf("found no kubeconfig%s; name one with --kubeconfig, or read files with --filename", s.looked())
	}
	contexts := slices.Sorted(maps.Keys(raw.Contexts))
	if name == "" {
		name = raw.CurrentContext
	}
	known, ok := raw.Contexts[name]
	switch {
	case name == "":
		return nil, fmt.Errorf("the kubeconfig has no current context; choose one with --context: %s", someOf(contexts))
	case !ok:
		return nil, fmt.Errorf("the kubeconfig has no context %q; choose one with --context: %s", name, someOf(contexts))
	case raw.Clusters[known.Cluster] == nil:
		return nil, fmt.Errorf("the kubeconfig has no cluster %q, which context %q names; add it, or choose another context with --context", known.Cluster, name)
	}
	return nil, fmt.Errorf("the kubeconfig: %w", err)
}

var errGroupsOnly = usagef("--as-group needs a user; add --as")

// groupsOnly reports whether the flags name groups without a user.
func (s *live) groupsOnly() bool {
	return len(s.overrides.AuthInfo.ImpersonateGroups) > 0 && s.overrides.AuthInfo.Impersonate == ""
}

// looked returns where kubeconfig files were looked for.
func (s *live) looked() string {
	switch env := os.Getenv(clientcmd.RecommendedConfigPathEnvVar); {
	case s.kubeconfig != "":
		return " in " + display(s.kubeconfig)
	case env != "":
		return " in " + display(env) + " (from KUBECONFIG)"
	}
	return " in " + display(clientcmd.RecommendedHomeFile)
}

// someOf returns names as a list, only the first ones if there are many.
func someOf(names []string) string {
	const most = 10
	if len(names) == 0 {
		return "it has none"
	}
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// finish applies the flags that client-go ignores for a service account.
func (s *live) finish(config *rest.Config) error {
	if config.Impersonate.UserName == "" {
		if s.groupsOnly() {
			return errGroupsOnly
		}
		config.Impersonate.UserName, config.Impersonate.Groups = s.overrides.AuthInfo.Impersonate, s.overrides.AuthInfo.ImpersonateGroups
	}
	if t := s.overrides.Timeout; t != "" {
		var err error
		if config.Timeout, err = clientcmd.ParseTimeout(t); err != nil {
			return err
		}
	}
	return nil
}

// contextNamespace returns the namespace that the context of the kubeconfig names or, in a pod without
// a kubeconfig, that of the pod. It returns "" if there is none, so that kubectl would use namespace
// default, and if the kubeconfig is invalid.
func (s *live) contextNamespace() string {
	files := s.clientConfig()
	name, _, err := files.Namespace()
	if err != nil || name != metav1.NamespaceDefault {
		return name
	}
	raw, err := files.RawConfig()
	if err != nil {
		return ""
	}
	if c := raw.Contexts[cmp.Or(s.overrides.CurrentContext, raw.CurrentContext)]; c != nil {
		return c.Namespace
	}
	return ""
}

// get returns the body of the response to a request, or the error that the API server states.
func get(ctx context.Context, request *rest.Request) ([]byte, error) {
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

// liveError adds to an error of a request what to do about it.
func liveError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if apierrors.IsUnauthorized(err) {
		return fmt.Errorf("the cluster does not accept the credentials of the kubeconfig; log in again: %w", err)
	}
	var request *url.Error
	if !errors.As(err, &request) {
		return err
	}
	server, cause := request.URL, request.Err
	if u, parseErr := url.Parse(server); parseErr == nil {
		server = u.Scheme + "://" + u.Host
	}
	var dial *net.OpError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(cause, &untrusted):
		return fmt.Errorf("the certificate of the cluster at %s is not trusted; check certificate-authority and tls-server-name in the kubeconfig: %w", server, untrusted.Err)
	case errors.Is(cause, http.ErrSchemeMismatch):
		return fmt.Errorf("the cluster at %s does not use TLS; check the server in the kubeconfig: %w", server, cause)
	case errors.As(cause, &dial) && dial.Op == "dial":
		return fmt.Errorf("cannot connect to the cluster at %s; check the network, VPN or proxy, and the server in the kubeconfig: %w", server, dial)
	case request.Timeout():
		return fmt.Errorf("the cluster at %s did not answer in time; raise --request-timeout: %w", server, cause)
	}
	return &oneLineError{"the request to the cluster at " + server + " failed: ", cause}
}

// A oneLineError is an error about credentials, whose message may have paragraphs. Its own message is one line.
type oneLineError struct {
	before string
	err    error
}

func (e *oneLineError) Error() string {
	lines := strings.FieldsFunc(e.err.Error(), func(r rune) bool { return r == '\n' })
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return e.before + strings.Join(lines, "; ")
}

func (e *oneLineError) Unwrap() error { return e.err }

// strangerError returns an error about a server that does not answer as an API server does.
func strangerError(server *url.URL, err error) error {
	return fmt.Errorf("%s://%s does not answer as an API server; check the server in the kubeconfig, with its scheme, port and path: %w", server.Scheme, server.Host, err)
}
