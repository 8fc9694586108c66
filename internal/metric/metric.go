// Package metric has the names of OLM's metrics, for the packages that measure and publish
// them.
package metric

// The metrics of OLM.
const (
	CatalogSources      = "catalog_source_count"
	CatalogSourceReady  = "catalogsource_ready"
	CSVAbnormal         = "csv_abnormal"
	CSVs                = "csv_count"
	CSVSucceeded        = "csv_succeeded"
	CSVUpgrades         = "csv_upgrade_count"
	InstallPlans        = "install_plan_count"
	InstallPlanWarnings = "installplan_warnings_total"
	ResolutionDuration  = "olm_resolution_duration_seconds"
	Subscriptions       = "subscription_count"
	SubscriptionSyncs   = "subscription_sync_total"
)
