package sidebyside

import "regexp"

// deliberate lists the intended differences from OLM, as patterns of what diff returns. If
// scenarios is not empty, it is a pattern of the scenarios that have the difference.
var deliberate = []struct{ rule, scenarios, pattern, why string }{
	{"E2", "", `^InstallPlan .* /metadata/generateName: only OLM has "install-"$`, "the name is a hash of the plan, so that it cannot be created twice"},
	{"E30", "", `^InstallPlan .* /metadata/labels(/olm\.managed)?: only olmkit has `, "plans have olm.managed; OLM sets it on none"},
	{"E2", "", `^InstallPlan .* /status/plan/.*\]/status: OLM has ("Present", olmkit "Created"|"Created", olmkit "Present")$`, "the object exists: a step stays Created, but is Present if another writer prevented that status; OLM sees the object again and calls it Present"},
	{"E2", "", `^InstallPlan .* /spec/clusterServiceVersionNames/\d+: `, "names are sorted; OLM's order is random"},
	{"E2", "", `^Subscription .* /status/installPlanGeneration: `, "subscriptions have the generation of their latest plan, also if it was made for others"},
	{"E2", "", `^InstallPlan .* /status/catalogSources/\d+: `, "catalogs are sorted; OLM's order is random"},
	{"E2", "shared_dep", `^Subscription .*/base-.* /status/conditions/\[InstallPlanMissing\]: only OLM has it$`, "the plan was done, and went with the operator that needed the dependency"},
	{"E3", "kinds", `^(Role|RoleBinding|ServiceAccount) .*/(reader|helper)( /metadata/ownerReferences: only olmkit has it|: only OLM has it)$`, "what a bundle contains belongs to its CSV and is deleted with it; OLM leaves these kinds behind"},
	{"E3", "", `^InstallPlan .* /status/plan/.*/manifest/metadata/(labels/olm\.managed|labels|namespace): only (OLM|olmkit) has `, "manifests are complete, and have a namespace if their kind has one"},
	{"E3", "", `/spec/cleanup: only OLM has it$`, "OLM writes the default"},
	{"E3", "own", `^InstallPlan .* /status/plan/\[(BundleSecret|Secret) sec\]: only `, "a Secret is a step as any other; OLM copies it from a Secret with its manifest"},
	{"E4", "", `/conditions/\[ResolutionFailed\]/message: OLM has "(constraints not satisfiable|error using catalogsource)`, "the explanation is that of olmkit"},
	{"E4", "delete_csv_only", `^Subscription .* /status/(conditions/\[InstalledCSVMissing\]|installedCSV): only olmkit has `, "a missing operator is reported; OLM forgets that it was installed"},
	{"E4", "twice", `^Subscription .*/widget /status/conditions/\[ResolutionFailed\]: only OLM has it$`, "a resolution that succeeds removes the condition; OLM resolves only if there is something to update"},
	{"E5", "deprecated", `^Subscription .* /status/conditions/\[.*Deprecated\]/message: `, "messages are the author's alone"},
	{"E6", "opcondition", `^ClusterServiceVersion .* /status/message: OLM has "operator is not upgradeable`, "the message also has the reason"},
	{"E6", "opcondition", `^ClusterServiceVersion .*/widget\.v1\.0\.0 /status/(phase|reason|message): OLM has "(Replacing|BeingReplaced|being replaced)`, "while it blocks its successor, an operator is not being replaced"},
	{"E7", "bad_crd|crd_version_lost", ` widget\.v2\.0\.0|/widget\.v2\.0\.0|PLAN\[widget\.v2\.0\.0\]|^Subscription |/widget\.v1\.0\.0 /status/|^OperatorGroup .*providedAPIs|^ClusterRole olm\.og`, "the CSV of a plan is not created before its CRDs; OLM continues without the CRD"},
	{"E7", "crd_v1beta1", `widget\.v1\.0\.0|^(InstallPlan|Subscription) |^OperatorGroup .*(annotations|status)|^ClusterRole olm\.og`, "the CSV of a plan is not created before its CRDs; OLM continues without the CRD"},
	{"E8", "", `^CatalogSource .* /status/(registryService: only OLM has it|connectionState/address: OLM has .*, olmkit "(ADDRESS/api/v1/all|image .*)")$`, "catalogs are read over HTTP and from images"},
	{"E8", "", `^CatalogSource .* /status/(message: |reason: |connectionState: only olmkit )`, "the status states the error and what to do"},
	{"E8", "catalog_gone|unhealthy|image_source", `^(CatalogSource|Subscription) .*(CatalogSourcesUnhealthy|catalogHealth|lastObservedState|ResolutionFailed)`, "a catalog that cannot be read is reported; OLM notices it with a delay, or not"},
	{"E8", "priority", `/base|base\.v|^(InstallPlan|Subscription) .*base-stable-|^Subscription .*/tool /status/install`, "a changed priority counts at once; OLM does not notice it"},
	{"E8", "image_source", `^(NetworkPolicy|Pod|Service|ServiceAccount) .*: only OLM has it$`, "a catalog needs no pod"},
	{"E8", "bundle_image", `^(ConfigMap|Job|Role|RoleBinding|ServiceAccount) .*: only OLM has it$|/conditions/\[BundleUnpack`, "a bundle is read without a job"},
	{"D14", "unhealthy", `: only olmkit has `, "the last content of a catalog stays in use for --catalog-grace; OLM waits for the catalog"},
	{"D14", "catalog_gone", `gadget|Gadget|^ClusterRole olm\.og`, "after the catalog is gone, nothing is resolved from its last content"},
	{"E12", "provider_deleted", `base|Base|^ClusterRole olm\.og`, "a dependency that somebody deletes is installed again"},
	{"E16", "conversion_own", `only OLM has it$|^ClusterServiceVersion `, "it fails before anything is created"},
	{"E1", "twenty", `^(InstallPlan|Subscription|CustomResourceDefinition) .* /(status|metadata/labels)`, "OLM was still writing it"},
	{"E12", "moved_midway", `widget\.v[23]\.0\.0|/widget-controller |^Subscription `, "the upgrade goes on once the operator is installed; OLM does not resolve again"},
	{"E13", "uninstall", `^ClusterRoleBinding .*:auth-delegator: only OLM has it$`, "OLM leaves the binding behind"},
	{"E31", "uninstall", `^Operator .*: only OLM has it$`, "OLM creates it again for the binding"},
	{"E30", "existing", `/metadata/labels/mine: only olmkit has "yes"$`, "labels of others stay; OLM replaces them"},
	{"E18", "", `^OperatorCondition .* /metadata/labels: only olmkit has it$`, "the owner is also a label"},
	{"E31", "", `^Operator .* /status/components`, "it lists what differs in the other objects, with their conditions"},
	{"E31", "sa_weak", `^Operator .*: only OLM has it$`, "nothing was created that it could list"},
	{"E13", "webhook|rotation|apiservice|hooks_twice", `^ClusterRoleBinding widget-controller-service-system:auth-delegator`, "its name has no namespace: it also lists the service accounts of the other scenarios"},
	{"E15", "conversion", `^(Mutating|Validating)WebhookConfiguration .* /metadata/labels/olm\.webhook-description-hash: OLM has `, "the description has the port of the server in the test"},
	{"E15", "apiservice", `^ClusterServiceVersion .* /status/(phase: OLM has "Installing", olmkit "Failed"|reason: OLM has "InstallWaiting", olmkit "ComponentUnhealthy"|message: )`, "an operator whose API is unavailable has failed; OLM installs it again and waits"},
	{"E21", "", `^InstallPlan .* /status/plan/.*/manifest/(kind|apiVersion): only olmkit has `, "manifests have a kind; OLM omits it"},
	{"E32", "minkube_upgrade", `^ClusterServiceVersion .*/widget\.v1\.0\.0 /status/|/conditions/\[ResolutionFailed\]`, "an operator whose successor cannot run is not being replaced"},
	{"E32", "webhook|hooks_twice|skiprange|opcondition|moved_midway|group_widened", `^Subscription .* /status/conditions/\[ResolutionFailed\]: only OLM has it$`, "an upgrade that makes progress or waits has not failed"},
	{"E1", "", `^Subscription .* /status/(installedCSV: only olmkit has |installedCSV: OLM has .*, olmkit |state: OLM has "UpgradePending", olmkit "AtLatestKnown"|conditions/\[InstallPlanPending\]: only OLM has)`, "OLM had not written it yet"},
	{"E33", "sa_.*", `^(ServiceAccount .*/boss /metadata/labels: only OLM|(InstallPlan|Subscription|OperatorGroup) .* /?(status/)?(message|conditions/\[.*\]/message|namespaces)\b|CustomResourceDefinition .*: only olmkit|ClusterRole olm\.og\..*: only olmkit|ClusterServiceVersion .*requirementStatus)`, "the account is checked when it is used, and needs no label"},
	{"E36", "", `^ClusterServiceVersion .* /status/(message: OLM has "(one or more requirements couldn.t be found|apiServices not installed|install failed: |installing: waiting for deployment |intersecting operatorgroups|csv (created )?in namespace|SingleNamespace InstallModeType)|requirementStatus/)`, "the message also names what is missing or differs"},
	{"E36", "drift", `^(ClusterServiceVersion|Role|ServiceAccount) |^Deployment .*(replicas|Replicas|restored-from)|^Subscription `, "what an operator needs is restored, and replicas are reset; OLM waits for somebody"},
	{"E36", "broken_fixed", `^(ClusterRole widgets\.|ClusterServiceVersion |Deployment )`, "a failed operator whose CSV was corrected is installed again; OLM leaves it failed"},
	{"E37", "", `^CustomResourceDefinition .* /metadata/annotations/operatorframework\.io~1installed-alongside-`, "names stay until the next change; OLM adds and removes them at other times"},
	{"E38", "unsupported_group|all_rival", `^(Role|RoleBinding|ServiceAccount|ClusterRole|ClusterRoleBinding) .*: only OLM has it$`, "what fails gets no permissions"},
	{"E40", "kind_missing", `^(ClusterRole|ClusterRoleBinding|ConfigMap|Role|RoleBinding|ServiceAccount) .*: only olmkit has it$`, "a step that is refused stops no others; OLM executes none of the steps after it"},
	{"E40", "kind_missing|sa_weak", `^InstallPlan .* /status/plan/.*\]/status: OLM has "Unknown", olmkit "(Created|Present)"$`, "these steps are done; OLM does not reach them"},
	{"E40", "kind_missing", `/message: OLM has "Unable to find GVK in discovery: `, "the message has the API server's error, and what to do"},
	{"F3", "no_group|two_groups|two_groups_first|group_deleted", `^(InstallPlan .*: only olmkit|Subscription .* /status/|ClusterServiceVersion .* /(status/(phase|reason|message)|metadata/annotations/olm\.operatorGroup)|OperatorGroup .*/(conditions|annotations))`, "the plan waits for a group, messages say what to do, and the operator recovers; OLM does not notice it"},
	{"F7", "", `^ClusterRole .* /metadata/ownerReferences/\[customresourcedefinition .*\]/kind: OLM has "customresourcedefinition", olmkit "CustomResourceDefinition"$`, "the kind is as the garbage collector knows it"},
	{"F7", "group_widened", `^ClusterRole(Binding)? widget\.v1\.1\.0-widget-sa-.*: only OLM has it$`, "an operator that no longer serves all namespaces loses its permissions there; OLM leaves them"},
	{"F7", "", `^ClusterRole olm\.og\..* /aggregationRule: only `, "roles of a group aggregate what is provided; OLM adds and removes the rule at other times"},
	{"F7", "", `^(Role|RoleBinding) .* /metadata/labels/olm\.owner\.namespace: `, "permissions in a target namespace name the namespace of the operator"},
}

// explain returns the differences of a scenario that are not deliberate, and counts the uses
// of each pattern.
func explain(scenario string, differences []string, used []int) (unexplained []string) {
	for _, d := range differences {
		found := false
		for i, p := range deliberate {
			if (p.scenarios == "" || regexp.MustCompile("^("+p.scenarios+")$").MatchString(scenario)) && regexp.MustCompile(p.pattern).MatchString(d) {
				used[i]++
				found = true
				break
			}
		}
		if !found {
			unexplained = append(unexplained, d)
		}
	}
	return unexplained
}
