package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/internal/visible"
)

// newHelp returns the help command. Cobra's default prints the overview for an
// unknown topic and exits with 0.
func newHelp(group string) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND|TOPIC]",
		Short:   "Show help for a command or topic",
		GroupID: group,
		Long:    "Help shows how to use a command, or describes a topic.",
		Example: `  olmkit help resolve
  olmkit help list bundles
  olmkit help exit-codes`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			at, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var words []string
			for _, c := range at.Commands() {
				if c.Hidden {
					continue
				}
				words = append(words, c.Name()+"\t"+c.Short)
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("no command or topic %q%s", strings.Join(args, " "), hint(args[len(args)-1], subcommands(at)))
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}

// topics returns the help topics, which concern several commands.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "What the exit codes of each command mean", Long: topicExitCodes},
		{Use: "catalogs", Short: "How to name catalogs", Long: topicCatalogs},
		{Use: "operators", Short: "How to name packages, bundles and installed operators", Long: topicOperators},
		{Use: "output", Short: "Formats, colors and widths", Long: topicOutput},
		{Use: "limits", Short: "What --limit and --timeout change", Long: topicLimits()},
	}
}

const topicExitCodes = `Exit codes report whether there is an answer, and whether it is yes:

  0    the answer is yes, or the work is done
  1    the answer is no; it was printed completely
  2    there is no answer: the command line is invalid, the input could not be
       read, or --timeout has passed
  3    the answer is yes, but something could not be checked: platform, status,
       path, impact and eligible only
  130  a signal ended the command

What "no" means:

  resolve, explain     the requests cannot all be satisfied; resolve --strict: an operator
                       is stuck or held back; explain: the running OLM differs from
                       olmkit-controller
  select               no bundle can be selected
  replay               an answer differs from the recorded one
  shrink               the problem has a solution: there is no conflict to keep
  path                 there is no path
  validate             there are errors; warnings alone are not errors
  eligible, manifests  OLM v1 refuses the bundle, whatever is wrong with it
  crd-safety           a CRD cannot be upgraded
  permissions, impact  there is what --fail-on names
  diff                 a version loses its path to the head of its channel
  platform             something needs a person, blocks the platform or leaves an
                       operator behind
  status               an operator is stuck, waits for approval, blocks the platform or
                       will get an upgrade to avoid
  plan, simulate       the subscriptions cannot be resolved, OLM decides otherwise than
                       olmkit-controller, or a ClusterExtension is blocked; plan: an
                       upgrade is to be avoided; simulate: writes were refused
  subset -o images     invalid references were left out
  fmt --check          a file would change
  index --check        the file is stale

All other commands exit with 0 or 2. With --problem, resolve, select, manifests and
crd-safety answer a stream of problems, in which "no" is an answer like any other.
They exit with 0 if every problem was answered. A problem that could not be answered
has an "error" in its output; the others are still answered, and the exit code is 2.
For select, an invalid range, selector or installed version and a catalog that cannot
be read are answers, as in OLM v1.`

const topicCatalogs = `A CATALOG on the command line is one of

  DIR       the directory of a file-based catalog, or a part of it
  FILE      one file of blobs, YAML or JSON
  FILE      an index from "olmkit index", which opens at once; commands that write
            catalogs need the directory instead
  -         blobs on standard input

or a reference to a catalog somewhere else:

  docker://REGISTRY/REPOSITORY:TAG, …@DIGEST     an image in a registry
  oci:DIR[:TAG], oci-archive:FILE[:TAG]          an image in files, as skopeo,
  docker-archive:FILE[:TAG], dir:DIR             podman and buildah write it
  https://HOST/PATH                              a catalog that catalogd serves

You may omit docker:// unless the text is an existing path; a note reports how it was
read. docker-archive:- reads standard input: podman save IMAGE | olmkit list packages
docker-archive:-. An image for several platforms is assumed to have the same catalog
for all: linux/amd64 is read if there is one, else the first. Only the directory that
the label operators.operatorframework.io.index.configs.v1 names is read.

Fetched images are compiled and cached by digest in --cache-dir (default:
~/.cache/olmkit, or olmkit in XDG_CACHE_HOME). Later commands make one request, for
the digest of the tag, and none for a reference by digest. --offline makes none at
all, and takes the digest that a tag had last. --no-cache keeps nothing. "olmkit cache
list" shows the cache, and "olmkit cache prune" deletes from it.

Mirrors, other locations and registries without TLS are configured as for podman and
skopeo: in the file that CONTAINERS_REGISTRIES_CONF names, or in
~/.config/containers/registries.conf or /etc/containers/registries.conf and the
directory registries.conf.d next to it. --mirrors FILE reads
OpenShift's ImageDigestMirrorSets, ImageTagMirrorSets and ImageContentSourcePolicies.

Credentials are those of --authfile, or of REGISTRY_AUTH_FILE, or the first of
XDG_RUNTIME_DIR/containers/auth.json, ~/.config/containers/auth.json and
~/.docker/config.json with an entry for the repository; credential helpers are run.
Proxies are those of HTTPS_PROXY, HTTP_PROXY and NO_PROXY. --ca-file adds certificate
authorities. If a registry is busy (429), the request is retried after the time that
it names.

--sample is the small catalog that is part of olmkit.

Commands that read a cluster (--cluster or --filename) use the catalogs that it serves,
at the digests that it serves now, through its mirrors and with your credentials.
--use-cluster-pull-secrets adds the Secrets that CatalogSources name and OpenShift's
global pull secret. --catalog NAME=PATH replaces the content of one.

--catalog [NAME=]PATH names a catalog too. It is repeatable in commands that read
several catalogs, and has options after the path:

  ,priority=N       catalogs with a higher priority are preferred (default 0)
  ,namespace=NS     the namespace of the catalog. A namespace sees its own catalogs
                    and those of the global namespace, which is the default here
                    (--global-namespace, by default olm, or that of the cluster).
                    The answer names the catalogs that the namespace does not see
  ,label=KEY=VALUE  a label of the catalog, for "olmkit select --selector"
  ,source=DIR       the directory that an index was made from, for data that the
                    index lacks: the manifests that plan and simulate install,
                    and the descriptions that view shows

Without NAME, a catalog has the name of its file, directory or repository. For
"olmkit platform", add the version of the platform: VERSION=[NAME:]PATH.

Problem documents (--problem) contain catalogs as text ("fbc") or name their directory
("dir"), relative to --root; nothing outside --root is read.`

const topicOperators = `All commands name packages, bundles and installed operators in the same way.

--package is PACKAGE, or PACKAGE:CHANNEL in commands that use a channel.

--installed, and FROM and TO of path, are one of

  BUNDLE                the name of a bundle: etcdoperator.v0.9.0
  PACKAGE=VERSION       the bundle of that version: etcd=0.9.0; what is installed may
                        have a version that has left the catalogs
  PACKAGE@VERSION       the same
  PACKAGE=BUNDLE        the bundle of a package, if several have that name
  BUNDLE@VERSION        a bundle in no catalog: etcdoperator.v0.8.0@0.8.0
  PACKAGE=BUNDLE@VERSION  the same, with its package
  VERSION               in commands that name the package (graph, path, select)

The channel of the operator's subscription may follow, as in etcd=0.9.0:stable.
resolve and explain then add that subscription; subset and platform follow that
channel. Other commands have --channel.

With --cluster or --filename, the operators are those of a cluster: what subscriptions,
CSVs and ClusterExtensions record. --filename reads a snapshot of "olmkit snapshot", an
OpenShift must-gather, as a directory or an archive, or YAML and JSON from kubectl.
--package and --installed of resolve and explain then add to what is there.

status, path, select, diff and platform are about all namespaces by default. resolve,
explain, plan, simulate and view are about one: that of --namespace, or else the one
that the context of the kubeconfig names, as in kubectl. If it names none, and with
--filename, it is the only namespace with subscriptions. --all-namespaces gives an
answer for each namespace, in order of the names: text below a heading, JSON as one
document per line. A namespace that cannot be answered has an "error" there, the
others are still answered, and the exit code is 2.`

const topicOutput = `-o, --output selects the format:

  text      for people (default)
  json      for programs: one document per line
  yaml      for programs: documents separated by ---

Some commands have more formats, for example mermaid, dot and svg for graph, markdown
for explain, sarif for validate, and fbc, the part of the catalog itself, for subset.
Commands that print catalogs or problem documents have no text format: catalogs are
yaml (default), json or jsonl; problems are json (default) or yaml. For index and view,
-o names the file to write.

"olmkit version -o json" prints the version of the output for programs. It grows when
a field changes its meaning or is removed, not when one is added.

--color is auto, always or never. By default, output to a terminal has colors unless
NO_COLOR is set or TERM is dumb.

Prose is wrapped to the width of the terminal, or COLUMNS, or else 100 characters. On
a narrow terminal the widest columns of a table are cut; in files and pipes they are
not.`

// topicLimits lists the limits.
func topicLimits() string {
	var b strings.Builder
	b.WriteString(`Limits bound the cost of hostile catalogs and problems. An error names the limit that
was exceeded; --limit NAME=NUMBER raises or lowers it, and is repeatable.
Sizes are in bytes, or with KiB, MiB or GiB.

`)
	for _, l := range limitTable {
		visible.Fprintf(&b, "  %-13s %9s  %s\n", l.name, l.standard(), l.text)
	}
	b.WriteString(`
--timeout DURATION, such as 30s or 2m, ends the command with exit code 2. In a stream
of problems it applies to each, and the next one is still answered.`)
	return b.String()
}
