// Package rollout decides how the objects of an OLM v1 extension reach a cluster. It is the
// counterpart of package reconcile for OLM v1.
//
// A [Revision] is a ClusterObjectSet or a Secret: the objects of one version of an extension, in
// phases. [Decide] takes the revisions of one extension and the objects on the cluster, and
// returns the writes that are due. [Next] returns the writes that begin a revision, whose
// objects are in Secrets. [Snapshot.Installed] returns which revision is installed. All are
// pure: they contact no cluster and read no clock, and equal input gives equal plans.
//
// A caller reads the cluster, decides, makes the writes in order, and starts again whenever
// something changes. It may be killed between any two writes, and others may write at the
// same time, provided that each write is made only on the condition that [Write] documents.
// Package rollout keeps these invariants:
//
//   - Every object that is created names a revision that exists as its controller.
//   - No phase starts before all objects of the earlier phases are ready.
//   - No object of a revision that is active in the snapshot is deleted.
//
// Values are safe for concurrent use as long as nobody modifies them.
package rollout
