package kube

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/client-go/transport"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// writer returns the client that makes a change. A change that may use only the
// permissions of the operator group's service account is made as that account.
// The group must still exist, because it names the account.
func (c *Cluster) writer(ctx context.Context, change reconcile.Change) (client.Client, error) {
	if !change.IsBounded() {
		return c.client, nil
	}
	namespace := change.For.Namespace
	groups, err := c.source.list(ctx, kindOperatorGroup, selection{namespace: namespace})
	if err != nil {
		return nil, classify(err)
	}
	if len(groups) != 1 {
		return nil, fmt.Errorf("%s: namespace %q now has %d operator groups: %w", change.Key(), namespace, len(groups), reconcile.ErrConflict)
	}
	g, ok := groups[0].value.(*olm.OperatorGroup)
	switch {
	case !ok || groups[0].err != nil:
		return nil, fmt.Errorf("%s: operator group %q cannot be decoded: %w", change.Key(), groups[0].name, reconcile.ErrConflict)
	case g.Spec.ServiceAccountName != "":
		return c.as(namespace, g.Spec.ServiceAccountName)
	}
	return c.client, nil
}

// maxAccounts is the number of service account clients to keep. They are cheap:
// all share one HTTP client's connections.
const maxAccounts = 1000

// as returns a client that impersonates a service account. The API server
// decides what it may do.
func (c *Cluster) as(namespace, account string) (client.Client, error) {
	user := "system:serviceaccount:" + namespace + ":" + account
	c.mu.Lock()
	defer c.mu.Unlock()
	if cl, ok := c.accounts[user]; ok {
		return cl, nil
	}
	httpClient := *c.opts.HTTPClient
	next := httpClient.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	httpClient.Transport = transport.NewImpersonatingRoundTripper(transport.ImpersonationConfig{UserName: user}, next)
	cl, err := client.New(c.config, client.Options{HTTPClient: &httpClient, Mapper: c.opts.Mapper, FieldOwner: FieldOwner})
	if err != nil {
		return nil, fmt.Errorf("acting as %s: %w", user, err)
	}
	if len(c.accounts) >= maxAccounts {
		clear(c.accounts)
	}
	c.accounts[user] = cl
	return cl, nil
}
