package kube_test

import (
	"context"
	"testing"
	"time"
)

// E1 to E3, G1: from a subscription to a running operator.
func TestInstall(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "install", widgets(t, []string{"0.1.1"}, "widget.service.yaml"))
	playDeployments(t)
	start(t, env.Config, content)
	namespace(t, c, "install")
	must(t, c.Create(ctx, operatorGroup("install", "install")))
	must(t, c.Create(ctx, subscription("install", "install")))
	eventually(t, 30*time.Second, func() error { return installed(c, "install", "0.1.1") })
}
