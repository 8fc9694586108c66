package cli

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

func newStatus(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [PACKAGE...]",
		Short: "Show every operator of a cluster, and which can be upgraded",
		Long: `Status reads a cluster, as kubectl does, and prints one line for each operator:
those of subscriptions, CSVs without a subscription, and ClusterExtensions of
OLM v1. With --filename it reads files in place of the cluster.

MOVES is one of

  latest     the operator is at the head of its channel, or at the latest version
             that the cluster has found
  now        an upgrade is in progress, or will start automatically
  approval   an upgrade waits for the approval of an install plan
  stuck      an administrator has to act; WHY has the reason
  unmanaged  a CSV without a subscription, which is never upgraded
  unknown    the objects do not show it; WHY lists what is missing

The head of a channel, upgrades and deprecations come from the content of the
catalogs that the cluster serves now, which is pulled by digest and cached; with
--offline, only the cache is used. --catalog NAME=CATALOG gives the content of
the catalog of that name. A note reports a catalog that cannot be read; for its
operators, status shows what OLM recorded. The NAMESPACE of a ClusterExtension is
the one it installs into, and its HEAD the newest bundle of its channels and range.

With --impact, WHY includes the verdict of "olmkit impact" on the next upgrade, from
the bundles and the cluster. With --avoid breaks, lines below the table show the
shortest path to the head without an upgrade that breaks something, or what blocks
every path, and how to keep OLM from such an upgrade.

Below the table are tested changes that lead to newer versions, with their
commands, and the full explanation with fixes for each namespace that cannot be
resolved. If the content of its catalogs is unknown, this is the message of the
condition ResolutionFailed instead, with "cluster:" before each line.

Nothing is written. Each kind is listed once, in pages; kinds that you are not
allowed to read are reported and treated as unknown. With --namespace, permissions
in that namespace and in that of its catalogs suffice. --print-rbac prints the
ClusterRole that is needed by all commands that read a cluster or, with
--namespace, the Role for a namespace.

Exit codes: 0 no action is needed, 1 an operator is stuck, waits for approval, blocks
the next version of the platform or will get an upgrade to avoid, 2 the cluster could
not be read, 3 no action is known to be needed, but the state of an operator is
unknown, --avoid could not judge an upgrade, or some objects of operators could not
be read.`,
		Example: `  olmkit status
  olmkit status -n operators -o wide
  olmkit status --impact
  olmkit status --avoid breaks
  olmkit status etcd --context prod --catalog community=./catalog
  olmkit status -f state.yaml -o json`,
	}
	var s clusterState
	var all, printRBAC bool
	f := addFormats(cmd, "wide adds columns", formatWide)
	s.addFlags(cmd)
	verdicts := addAvoid(cmd)
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "show the operators of all namespaces (default unless --namespace is given)")
	cmd.Flags().BoolVar(&printRBAC, "print-rbac", false, "only print the ClusterRole that reads everything or, with --namespace, the Role that suffices for a namespace")
	cmd.MarkFlagsMutuallyExclusive("all-namespaces", "namespace")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if printRBAC {
			_, err := io.WriteString(machine(e.stdout), readRole(s.namespace, s.pullSecrets))
			return err
		}
		s.on = s.on || len(s.files) == 0
		if err := verdicts.check(); err != nil {
			return err
		}
		l := newLoader(e)
		l.whole = verdicts.on() // for the manifests
		d, err := s.status(cmd.Context(), l, args, verdicts)
		if err != nil {
			return err
		}
		d.wide = *f == formatWide
		if d.wide {
			*f = formatText
		}
		if err := (&printer{w: e.stdout, format: *f}).print(d); err != nil {
			return err
		}
		switch {
		case d.Act:
			return errNegative
		case d.partial:
			return errUnchecked
		}
		return nil
	}
	return cmd
}

// formatWide prints a table with more columns.
const formatWide = "wide"

// A statusDocument lists the operators and catalogs of a cluster.
type statusDocument struct {
	// Act is set if a user has to act.
	Act bool `json:"act"`
	// PlatformVersion is the version of the platform, if it is known.
	PlatformVersion string           `json:"platformVersion,omitzero"`
	Operators       []operatorStatus `json:"operators"`
	// Reports explain why namespaces cannot be resolved, by namespace, if the content of their
	// catalogs is known.
	Reports  []*resolver.Report `json:"reports,omitempty"`
	Catalogs []catalogStatus    `json:"catalogs,omitempty"`
	Unread   []unread           `json:"unread,omitempty"`
	Notes    []reconcile.Note   `json:"notes,omitempty"`
	wide     bool
	// namespace is the chosen namespace, or "" for all.
	namespace string
	// partial is true if the state of an operator is unknown, or if a kind of operator object
	// could not be read, so that operators may be missing.
	partial bool
}

// An operatorStatus is an operator, and whether it can be upgraded.
type operatorStatus struct {
	// Object is the object that manages it: a Subscription, a ClusterServiceVersion without
	// a subscription, or a ClusterExtension.
	Object olm.Key `json:"object"`
	// Namespace is where the operator is installed.
	Namespace string `json:"namespace,omitzero"`
	Package   string `json:"package"`
	Installed string `json:"installed,omitzero"`
	Version   string `json:"version,omitzero"`
	Channel   string `json:"channel,omitzero"`
	// Head is the bundle at the head of the channel, if it is known, or for a subscription without
	// a channel the bundle at which its upgrades end.
	Head    string `json:"head,omitzero"`
	Catalog string `json:"catalog,omitzero"`
	Moves   moves  `json:"moves"`
	Why     string `json:"why,omitzero"`
	// HeldBy lists what keeps an upgrade from starting, Remedies what to do about it, and Commands the
	// commands that start it.
	HeldBy   []resolver.Holder `json:"heldBy,omitempty"`
	Remedies []string          `json:"remedies,omitempty"`
	Commands []string          `json:"commands,omitempty"`
	// Fixes are changes with which the subscription gets a bundle that it prefers.
	Fixes []*resolver.Fix `json:"fixes,omitempty"`
	// Ways are changes of a ClusterExtension that lift what blocks its next bundle, or a later one.
	Ways []extensionWay `json:"ways,omitempty"`
	// SelectFixes are changes of a ClusterExtension with which a bundle can be selected, if none can.
	SelectFixes []*olmv1.Fix `json:"selectFixes,omitempty"`
	// Explanation is the message about a failed resolution, if it has several lines.
	Explanation string `json:"explanation,omitzero"`
	// Deprecated lists the messages of deprecations.
	Deprecated []string `json:"deprecated,omitempty"`
	// Blocks is the reason why the operator blocks the next version of the platform, if it does.
	Blocks string `json:"blocks,omitzero"`
	// Outlook is how far the operator can be upgraded in its channel, if the content of its
	// catalog is known.
	Outlook *graph.Outlook `json:"outlook,omitzero"`
	// Impact is the verdict on the next upgrade, with --impact or --avoid. It is absent if there is none.
	Impact *edgeImpact `json:"impact,omitzero"`
	// Avoid shows, with --avoid, how to get to the head without upgrades to avoid. It is absent if
	// none is on the way.
	Avoid *statusAvoid `json:"avoid,omitzero"`

	advice           resolver.Advice // whose commands are among Commands
	approves         string          // the command that approves its install plan
	catalogNamespace string
	current          string // the currentCSV of the subscription
	// awaited is true if OLM has yet to choose the next bundle, and failed if it could not.
	awaited, failed bool
	// unoffered is true if the catalog does not have the channel, or its head, and OLM has not reported it yet.
	unoffered bool
	// outdated is true if the install plan must not be approved.
	outdated bool
	// recreate is the command that installs a deleted operator again, and manual the subscription
	// because of which another bundle in its place waits for approval.
	recreate, manual string
	// unusable is true if the head of the channel cannot be installed.
	unusable    bool
	anyChannel  bool              // whether the subscription names no channel
	labels      map[string]string // what commands do that do not upgrade the operator
	channels    []string          // of a ClusterExtension
	versions    string            // the version range of a ClusterExtension
	known       bool              // whether the content of the catalogs of a ClusterExtension is known
	next        string            // the bundle to which a ClusterExtension would be upgraded, if it is known
	nextCatalog string            // the catalog of next
	upcoming    bool              // whether it will get next, but that has not begun
	malformed   bool              // whether the specification of a ClusterExtension cannot be read
	unprocessed bool              // whether OLM v1 has not processed a ClusterExtension yet
	unexplained bool              // whether the condition of a stuck ClusterExtension has no message
}

// moves states whether an operator can be upgraded.
type moves string

const (
	movesLatest    moves = "latest"
	movesNow       moves = "now"
	movesApproval  moves = "approval"
	movesStuck     moves = "stuck"
	movesUnmanaged moves = "unmanaged"
	movesUnknown   moves = "unknown"
)

// A catalogStatus is a catalog and the content that it serves.
type catalogStatus struct {
	Object olm.Key `json:"object"`
	Image  string  `json:"image,omitzero"`
	// Digest is the digest of the image that is served, if known.
	Digest  string `json:"digest,omitzero"`
	Healthy bool   `json:"healthy"`
	Why     string `json:"why,omitzero"`
}

// status reads the cluster and returns its operators, of one namespace or all, and of some
// packages or all, with verdicts on their next upgrades if those are wanted.
func (s *clusterState) status(ctx context.Context, l *loader, packages []string, verdicts *avoidance) (*statusDocument, error) {
	given, err := sources(nil, s.catalogs, *s.sample, s.global)
	if err != nil {
		return nil, err
	}
	c, err := s.read(ctx, l)
	if err != nil {
		return nil, err
	}
	placed := inferNamespaces(given, c, s.global, s.namespace)
	t, err := s.takeCensus()
	if err != nil {
		return nil, err
	}
	if err := t.mentioned(c, s.namespace); err != nil {
		return nil, err
	}
	chosen := func() ([]operatorStatus, error) {
		list, err := t.operators(ctx)
		return slices.DeleteFunc(list, func(o operatorStatus) bool {
			return s.namespace != "" && o.Namespace != s.namespace || len(packages) > 0 && !slices.Contains(packages, o.Package)
		}), err
	}
	operators, err := chosen()
	if err != nil {
		return nil, err
	}
	if err := t.installs(packages, operators); err != nil {
		return nil, err
	}
	if err := s.readContent(ctx, l, t, given, operators); err != nil {
		return nil, err
	}
	if operators, err = chosen(); err != nil {
		return nil, err
	}
	d := &statusDocument{Operators: append([]operatorStatus{}, operators...), Catalogs: t.catalogs(), PlatformVersion: t.version, Unread: s.missing, Notes: s.inferred, namespace: s.namespace}
	if len(given) > 0 {
		d.Notes = append(d.Notes, placed...)
	}
	d.partial = slices.ContainsFunc(t.missing, func(u unread) bool { return u.Group == olm.Group || u.Group == groupV1 })
	for _, src := range given {
		if err := describe(c, src); err != nil {
			return nil, err
		}
	}
	if err := d.resolve(ctx, t, c, s); err != nil {
		return nil, err
	}
	r := &clusterReader{clusterState: s, loader: l, census: t}
	if err := r.preflight(ctx, verdicts.run(l.env), d.Operators); err != nil {
		return nil, err
	}
	if verdicts.on() {
		if err := verdicts.next(ctx, r, d.Operators); err != nil {
			return nil, err
		}
	}
	for _, o := range d.Operators {
		d.Act = d.Act || o.Moves == movesStuck || o.Moves == movesApproval || o.Blocks != "" || o.Avoid.acts()
		d.partial = d.partial || o.Moves == movesUnknown || verdicts.avoids() && o.Impact != nil && o.Impact.Error != ""
	}
	return d, nil
}

func (d *statusDocument) text(w io.Writer) error {
	t := table{header: []string{"NAMESPACE", "OPERATOR", "VERSION", "CHANNEL", "HEAD", "MOVES", "WHY"}}
	if d.wide {
		t.header = []string{"NAMESPACE", "OPERATOR", "OLM", "MANAGED BY", "INSTALLED", "VERSION", "CHANNEL", "HEAD", "CATALOG", "MOVES", "DEPRECATED", "WHY"}
	}
	for _, o := range d.Operators {
		why, channel := o.why(), cmp.Or(o.Channel, note(o.anyChannel, "(any)"))
		if d.wide {
			olmVersion := "v0"
			if o.Object.Group == groupV1 {
				olmVersion = "v1"
			}
			t.add(o.Namespace, o.Package, olmVersion, o.Object.Kind+" "+o.Object.Name, o.Installed, o.Version, channel, o.Head, o.Catalog, string(o.Moves), note(len(o.Deprecated) > 0, "deprecated"), why)
		} else {
			t.add(o.Namespace, o.Package, o.Version, channel, o.Head, string(o.Moves), why)
		}
	}
	if len(d.Operators) == 0 {
		if err := d.none(w); err != nil {
			return err
		}
	} else if err := t.text(w); err != nil {
		return err
	}
	for _, r := range d.Reports {
		if _, err := visible.Fprintf(w, "\nNamespace %s:\n%s\n", r.Namespace, visible.Block(r.Text(textWidth(w), styleFor(w)))); err != nil {
			return err
		}
	}
	for _, o := range d.Operators { // before the commands that approve it
		if err := o.Avoid.text(w); err != nil {
			return err
		}
	}
	var commands []string
	for i, o := range d.Operators {
		if _, err := io.WriteString(w, d.remediesText(w, i)); err != nil {
			return err
		}
		for _, c := range o.Commands {
			if slices.Contains(commands, c) {
				continue // it helps several operators
			}
			commands = append(commands, c)
			var helped []string
			upgrades := false
			for _, x := range d.Operators {
				if slices.Contains(x.Commands, c) {
					upgrades = upgrades || x.Installed == "" || x.Moves != movesStuck || x.Head != "" && x.Head != x.Installed
					if !slices.Contains(helped, x.Package) {
						helped = append(helped, x.Package)
					}
				}
			}
			label := "to let " + phrase.And(helped) + " run"
			if upgrades {
				label = "to upgrade " + phrase.And(helped)
			}
			if i := slices.Index(o.advice.Commands, c); i >= 0 {
				label = commandLabel(o.advice, i)
			}
			label = cmp.Or(o.labels[c], label)
			if risks := d.risks(c); len(risks) > 0 {
				label += ", although the install plan " + phrase.And(risks)
			}
			if _, err := visible.Fprintf(w, "%s: %s\n", label, c); err != nil {
				return err
			}
		}
		help := resolver.Advice{Package: o.Package, Fixes: o.Fixes}
		if _, err := io.WriteString(w, help.FixesText(textWidth(w), styleFor(w))+o.extensionHelp(w)); err != nil {
			return err
		}
	}
	shown := ""
	for _, o := range d.Operators {
		if o.Explanation == "" || o.Explanation == shown || slices.ContainsFunc(d.Reports, func(r *resolver.Report) bool { return r.Namespace == o.Object.Namespace }) {
			continue
		}
		shown = o.Explanation // subscriptions that fail together have one explanation
		if _, err := visible.Fprintf(w, "\nNamespace %s:\n", o.Object.Namespace); err != nil {
			return err
		}
		// Each line is marked, so that the message cannot pass for a line of this command.
		for line := range strings.SplitSeq(strings.TrimSuffix(shown, "\n"), "\n") {
			if _, err := visible.Fprintf(w, "cluster: %s\n", line); err != nil {
				return err
			}
		}
		if _, err := visible.Fprintf(w, "\n"); err != nil {
			return err
		}
	}
	for _, c := range d.Catalogs {
		if c.Healthy && !d.wide {
			continue
		}
		if _, err := visible.Fprintf(w, "%s: %s\n", c.Object, cmp.Or(c.Why, c.Digest, c.Image, "healthy")); err != nil {
			return err
		}
	}
	return writeClusterNotes(w, d.Notes)
}

// remediesText returns what to do about what holds back an operator, without what the lines about earlier operators
// state.
func (d *statusDocument) remediesText(w io.Writer, i int) string {
	lines := proseWriter(w)
	for _, remedy := range d.Operators[i].Remedies {
		alike := func(o operatorStatus) bool { return slices.Contains(o.Remedies, remedy) }
		if slices.ContainsFunc(d.Operators[:i], alike) {
			continue
		}
		var helped []string
		for _, o := range d.Operators {
			if alike(o) && !slices.Contains(helped, o.Package) {
				helped = append(helped, o.Package)
			}
		}
		lines.Line(nil, visible.Words(phrase.And(helped)+": "+remedy), "", "  ")
	}
	return lines.String()
}

// add adds a command, with a label that states what it does. Without a label, it upgrades the operator.
func (o *operatorStatus) add(label, command string) {
	o.Commands = append(o.Commands, command)
	if label != "" {
		if o.labels == nil {
			o.labels = map[string]string{}
		}
		o.labels[command] = label
	}
}

// risks returns what an approval does to operators that they may not want.
func (d *statusDocument) risks(approval string) (list []string) {
	for i := range d.Operators {
		if o := &d.Operators[i]; o.approves == approval && o.risk() != "" {
			list = append(list, o.risk())
		}
	}
	return list
}

// none prints that nothing was found, and where.
func (d *statusDocument) none(w io.Writer) error {
	text := "No operators"
	if d.namespace != "" {
		text += " in namespace " + d.namespace
	}
	if d.partial {
		text += " among the objects that could be read"
	}
	_, err := visible.Fprintf(w, "%s.\n", text)
	return err
}

// why returns all remarks about an operator on one line.
func (o *operatorStatus) why() string {
	parts := []string{o.Why}
	if o.Blocks != "" {
		parts = append(parts, "blocks the platform: "+o.Blocks)
	}
	if o.Impact != nil {
		parts = append(parts, "upgrade to "+o.Impact.To+": "+o.Impact.verdictText())
	}
	if len(o.Deprecated) > 0 {
		parts = append(parts, "deprecated: "+strings.Join(o.Deprecated, "; "))
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}
