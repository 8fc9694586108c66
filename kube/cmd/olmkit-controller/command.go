package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"github.com/olmkit/olmkit/internal/buildversion"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/kube/content"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// flags holds the values of the command's flags.
type flags struct {
	kubeconfig, globalNamespace, leaseNamespace string
	metrics, health, selector, account          string
	sources                                     sourceFlags
	v1                                          v1Flags
	shard                                       kube.Shard
	concurrency                                 int
	resync, lease, renew, electRetry            time.Duration
	elect, printRBAC, verbose, ignoreOLM        bool
}

func command() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use: "olmkit-controller", Short: "manage the operators of a cluster",
		Version: buildversion.Read().Line("olmkit-controller"),
		Args:    cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	cmd.SetVersionTemplate("{{.Version}}\n")
	fs := cmd.Flags()
	fs.StringVar(&f.kubeconfig, "kubeconfig", "", "path of the kubeconfig file (default: in-cluster configuration, then $KUBECONFIG)")
	fs.StringVar(&f.globalNamespace, "global-namespace", "olm", "namespace whose catalogs are visible in every namespace")
	f.v1.add(fs)
	f.sources.add(fs)
	fs.IntVar(&f.shard.Count, "shard-count", 1, "number of shards that the namespaces are divided into")
	fs.IntVar(&f.shard.Index, "shard-index", 0, "index of this shard, starting at 0")
	fs.StringVar(&f.selector, "namespace-selector", "", "label selector of the namespaces to manage (default: all)")
	fs.BoolVar(&f.elect, "leader-elect", false, "elect a leader among the replicas of a shard; the others stand by")
	fs.StringVar(&f.leaseNamespace, "leader-election-namespace", "", "namespace of the lease (default: the pod's namespace)")
	fs.DurationVar(&f.lease, "leader-election-lease-duration", 15*time.Second, "how long standbys wait before they replace a leader that does not renew its lease")
	fs.DurationVar(&f.renew, "leader-election-renew-deadline", 10*time.Second, "how long a leader tries to renew its lease before it exits; must be shorter than the lease")
	fs.DurationVar(&f.electRetry, "leader-election-retry-period", 2*time.Second, "how often replicas check the lease")
	fs.StringVar(&f.metrics, "metrics-bind-address", ":8080", "address that serves /metrics; 0 to disable")
	fs.StringVar(&f.health, "health-probe-bind-address", ":8081", "address that serves /healthz and /readyz; 0 to disable")
	fs.IntVar(&f.concurrency, "concurrency", 4, "number of namespaces to reconcile at once")
	fs.DurationVar(&f.resync, "resync", 15*time.Minute, "how often to reconcile a namespace in which nothing changes")
	fs.BoolVar(&f.ignoreOLM, "ignore-olm", false, "write although OLM runs in the same cluster; the two undo each other's writes")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "log every reconciliation that makes changes")
	fs.BoolVar(&f.printRBAC, "print-rbac", false, "print manifests of the service account and its permissions, and exit")
	fs.StringVar(&f.account, "service-account", "olmkit", "name of the service account for --print-rbac; its namespace is the global one")
	return cmd
}

func (f *flags) run(cmd *cobra.Command) error {
	if err := f.v1.check(); err != nil {
		return err
	}
	if f.printRBAC {
		text, err := kube.Manifests(f.globalNamespace, f.account)
		if err == nil && f.v1.runs(olmV1) {
			var more []byte
			more, err = f.v1.manifests(f.globalNamespace, f.account)
			text = append(text, more...)
		}
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(text)
		return err
	}
	level := slog.LevelInfo
	if f.verbose {
		level = -1 // V(1), without what libraries log at higher levels
	}
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewJSONHandler(visible.NewWriter(cmd.ErrOrStderr(), nil), &slog.HandlerOptions{Level: level, ReplaceAttr: withoutNamespace})))
	config, err := f.config()
	if err != nil {
		return err
	}
	m, err := f.manager(cmd, config)
	if err != nil {
		return err
	}
	return m.Start(cmd.Context())
}

// withoutNamespace leaves the namespace out of log lines about objects that have none.
func withoutNamespace(_ []string, a slog.Attr) slog.Attr {
	if a.Key == "namespace" && a.Value.String() == "" {
		return slog.Attr{}
	}
	return a
}

func (f *flags) config() (*rest.Config, error) {
	if f.kubeconfig == "" {
		if config, err := rest.InClusterConfig(); err == nil {
			return config, nil
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("cannot find a cluster configuration: %w", err)
	}
	return config, nil
}

// manager returns a manager that runs all controllers when started.
func (f *flags) manager(cmd *cobra.Command, config *rest.Config) (ctrl.Manager, error) {
	if f.selector != "" {
		var err error
		if f.shard.Selector, err = labels.Parse(f.selector); err != nil {
			return nil, fmt.Errorf("--namespace-selector: %w", err)
		}
	}
	sources, err := f.sources.options(f.globalNamespace)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // leave rate limiting to the API server
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, kube.AddToScheme, api.AddToScheme} {
		if err := add(types); err != nil {
			return nil, err
		}
	}
	stop := 30 * time.Second
	m, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: types, Cache: cache.Options{DefaultTransform: kube.Pack()},
		Metrics:                metricsserver.Options{BindAddress: f.metrics},
		HealthProbeBindAddress: f.health,
		LeaderElection:         f.elect, LeaderElectionID: f.shard.Name(), LeaderElectionNamespace: f.leaseNamespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &f.lease, RenewDeadline: &f.renew, RetryPeriod: &f.electRetry,
		GracefulShutdownTimeout: &stop,
	})
	if err != nil {
		return nil, err
	}
	if err := m.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	if f.sources.cacheDir != "" {
		if err := m.Add(sweeper{f.sources.cacheDir, int64(f.sources.cacheLimit) << 20}); err != nil {
			return nil, err
		}
	}
	if f.sources.pullSecrets {
		sources.Sources.Secrets = content.Secrets(m.GetAPIReader())
	}
	if f.v1.runs(olmClassic) {
		if err := f.classic(cmd.Context(), m, sources); err != nil {
			return nil, err
		}
	}
	// A ClusterExtension belongs to no namespace, so the first shard has all of them.
	if f.v1.runs(olmV1) && f.shard.Index == 0 {
		if err := f.v1.setup(m, sources); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// classic adds the controllers of namespaces and of CatalogSources to a manager.
func (f *flags) classic(ctx context.Context, m ctrl.Manager, sources *content.Options) error {
	cluster, err := kube.NewCluster(ctx, m.GetConfig(), kube.ClusterOptions{
		GlobalNamespace: f.globalNamespace, RoleNaming: operatorgroup.Running, Cache: m.GetCache(), Mapper: m.GetRESTMapper(),
	})
	if err != nil {
		return err
	}
	metrics := kube.NewMetrics()
	if err := ctrlmetrics.Registry.Register(metrics); err != nil {
		return err
	}
	store := content.New(sources)
	changed := make(chan event.GenericEvent)
	r := &kube.Reconciler{
		Cluster: cluster, Contents: func() reconcile.Content { return store.View() },
		Options: reconcile.Options{RoleNaming: operatorgroup.Running, IgnoreOLM: f.ignoreOLM}, Metrics: metrics, Catalogs: changed,
		Shard: f.shard, Concurrency: f.concurrency, Resync: f.resync,
	}
	if err := r.SetupWithManager(m); err != nil {
		return err
	}
	return (&content.Reconciler{
		Client: m.GetClient(), Store: store, Owns: r.Writes, Changed: changed, Concurrency: f.sources.atOnce,
	}).SetupWithManager(m)
}
