package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/crdsafety"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/extension/desired"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver/olmv1"
	"github.com/olmkit/olmkit/resolver/platform"
)

// An extensionPlan is what happens to a ClusterExtension until nothing is left to do, as text
// or JSON.
type extensionPlan struct {
	// Extension is the name of the ClusterExtension, and Namespace is where it installs.
	Extension string `json:"extension"`
	Namespace string `json:"namespace"`
	Package   string `json:"package,omitempty"`
	// Installed is the installed bundle, if there is one, and Target the bundle that it
	// should have now.
	Installed *extensionBundle `json:"installed,omitzero"`
	Target    *extensionBundle `json:"target,omitzero"`
	// Revision is the revision that rolls out, if one does.
	Revision string `json:"revision,omitempty"`
	// Impact is the verdict on the upgrade, with --impact or --avoid.
	Impact *upgradeImpact `json:"impact,omitzero"`
	// Versions explains why the extension gets no newer version.
	Versions []olmv1.Note `json:"versions,omitempty"`
	// Refused is why nothing was selected, and Code the code of that reason, if it has one.
	Refused string            `json:"refused,omitempty"`
	Code    olmv1.RefusalCode `json:"code,omitempty"`
	// Fixes are changes with which a bundle can be selected, each verified.
	Fixes []*olmv1.Fix `json:"fixes,omitempty"`
	// Blocked lists what a person has to fix before the rollout can end. The phases then show
	// the rollout as if no check failed and other owners had removed their objects. Ways lead on.
	Blocked []extensionBlock `json:"blocked,omitempty"`
	Ways    []extensionWay   `json:"ways,omitempty"`
	// Lost are the CRDs that are deleted, with all of their custom resources.
	Lost []string `json:"lost,omitempty"`
	// Phases are the changes, in the order in which they are made.
	Phases []extensionPhase `json:"phases,omitempty"`
	// Unchanged is the number of other objects.
	Unchanged int `json:"unchanged"`
	// Waiting lists the objects that are not ready.
	Waiting []extensionWait  `json:"waiting,omitempty"`
	Notes   []reconcile.Note `json:"notes,omitempty"`

	deleting  bool
	occupied  *occupation        // nil unless another extension keeps this one from being installed
	unread    bool               // whether the manifests of Target could not be read
	outlook   *graph.Outlook     // nil if nothing was selected
	stop      *platform.Judgment // the upgrade after the next one that OLM v1 refuses, or nil
	rehearsal *rollout.Rehearsal
}

// An extensionBundle is a bundle of an extension.
type extensionBundle struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Image   string `json:"image,omitempty"`
	Catalog string `json:"catalog,omitempty"`
}

func (b *extensionBundle) String() string {
	if b.Version == "" {
		return b.Name
	}
	return b.Name + " (" + b.Version + ")"
}

// An extensionBlock is a check that a rollout does not pass.
type extensionBlock struct {
	// Check is the check: eligibility, rendering, crd-safety, ownership or dry-run.
	Check string `json:"check"`
	// Code is the code of the problem, if it has one.
	Code   string   `json:"code,omitempty"`
	Object *olm.Key `json:"object,omitzero"`
	// Place is the file and line in the bundle, if there is one.
	Place   string `json:"place,omitempty"`
	Message string `json:"message"`

	path, change string // those of a changed CRD
}

// The checks of an extensionBlock.
const (
	checkEligibility = "eligibility"
	checkRendering   = "rendering"
	checkCRDSafety   = "crd-safety"
	checkOwnership   = "ownership"
	checkDryRun      = "dry-run"
)

// An extensionPhase has the changes of a phase.
type extensionPhase struct {
	// Revision is the revision whose phase it is, and Removed is set if it is removed.
	Revision string            `json:"revision"`
	Removed  bool              `json:"removed,omitzero"`
	Phase    string            `json:"phase"`
	Objects  []extensionObject `json:"objects"`
}

// An extensionObject is a change of an object.
type extensionObject struct {
	// Op is create, change, adopt or delete. An object is adopted if another owner has it or
	// nobody does.
	Op     string  `json:"op"`
	Object olm.Key `json:"object"`
	// Waits is set if the change is made only when everything in Blocked is fixed.
	Waits bool `json:"waits,omitzero"`
	// Fields are the fields that change.
	Fields []extensionField `json:"fields,omitempty"`
}

// An extensionField is the change of a field. Old and New are JSON, and absent for Secrets.
type extensionField struct {
	Op   impact.Op       `json:"op"`
	Path string          `json:"path"`
	Old  json.RawMessage `json:"old,omitzero"`
	New  json.RawMessage `json:"new,omitzero"`
}

// An extensionWait is an object that a rollout waits for.
type extensionWait struct {
	Revision string   `json:"revision"`
	Phase    string   `json:"phase,omitempty"`
	Object   *olm.Key `json:"object,omitzero"`
	Message  string   `json:"message"`
}

// plan returns what happens to a ClusterExtension.
func (x *extensionState) plan(ctx context.Context) (*extensionPlan, error) { // K240
	e, s := x.extension, x.snapshot
	p := &extensionPlan{Extension: e.Name, Namespace: e.Spec.Namespace, Package: x.packageName(), deleting: s.Extension.Deleting}
	installed, rolling := s.Installed()
	if installed != nil {
		p.Installed = &extensionBundle{Name: installed.Bundle.Name, Version: installed.Bundle.Version, Image: installed.Bundle.Image}
	}
	var want *rollout.Revision
	if !p.deleting {
		var err error
		if want, err = x.target(ctx, p, installed, rolling); err != nil {
			return nil, err
		}
	}
	if want != nil {
		if err := x.objects(ctx, nil, (&registryv1.Manifests{Phases: want.Phases}).Objects()); err != nil {
			return nil, err
		}
		if err := x.preflight(ctx, p, want); err != nil {
			return nil, err
		}
	}
	if want == nil && !p.deleting && len(rolling) == 0 && installed == nil {
		p.Notes = x.notes
		p.giveUp()
		return p, nil
	}
	a := &admission{extensionState: x}
	h, err := rollout.RehearseOn(s, want, func(o *unstructured.Unstructured, existing []*unstructured.Unstructured) string {
		return a.rejects(ctx, o, existing)
	})
	if err = cmp.Or(a.err, err); err != nil {
		return nil, err
	}
	p.rehearsal = h
	x.describe(p, h)
	p.Notes = x.notes
	p.giveUp()
	return p, nil
}

// giveUp leaves only the way of an extension that another one keeps from being installed, and what blocks it.
func (p *extensionPlan) giveUp() {
	if p.occupied == nil {
		return
	}
	p.Ways = []extensionWay{p.occupied.extensionWay}
	p.Blocked = slices.DeleteFunc(p.Blocked, func(b extensionBlock) bool { return b.Check != checkOwnership })
	if len(p.Blocked) == 0 {
		p.Blocked = []extensionBlock{p.occupied.block}
	}
}

// reached returns the state of the cluster before it needs a person, from its state before the plan.
func (p *extensionPlan) reached(s *rollout.Snapshot) *rollout.Snapshot {
	if p.rehearsal == nil || p.refused() {
		return s
	}
	return p.rehearsal.Reached
}

// target returns the revision that the extension should have, or nil, with the reason in the
// plan.
func (x *extensionState) target(ctx context.Context, p *extensionPlan, installed *rollout.Revision, rolling []*rollout.Revision) (*rollout.Revision, error) {
	var d *desired.Decision
	if len(rolling) == 0 {
		var err error
		if d, err = x.decide(ctx, installed); err != nil {
			return nil, err
		}
	}
	b, err := desired.Target(installed, rolling, d)
	if err != nil {
		p.Refused = err.Error()
		var refusal *olmv1.Refusal
		var bad *desired.SpecError
		switch {
		case errors.As(err, &refusal):
			p.Code = refusal.Code
			if p.Fixes, err = x.tried(ctx, installed, refusal.Fixes); err != nil {
				return nil, err
			}
			return nil, x.ineligible(ctx, p, refusal)
		case errors.As(err, &bad) && bad.Path == "/spec/source/catalog/version":
			p.Ways, err = x.withoutVersion(ctx, installed)
			return nil, err
		}
		return nil, nil
	}
	p.Target = &extensionBundle{Name: b.Name, Version: b.Version, Image: b.Image}
	if d != nil && d.Selection != nil {
		p.Target.Catalog, p.Versions = d.Selection.Catalog, d.Selection.Notes
		x.selected = p.Target.Catalog
		p.outlook = d.Selection.Outlook
		if o := p.outlook; o != nil && o.Kind == graph.OutlookAtHead && o.Newest == nil { // it has the newest version
			p.Versions = slices.DeleteFunc(slices.Clone(p.Versions), func(n olmv1.Note) bool { return n.Code == olmv1.NoteStays })
		}
		if err := x.stops(ctx, p, installed, d); err != nil {
			return nil, err
		}
	}
	content, err := x.content(ctx, b)
	var problems *registryv1.Error
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &problems):
		p.block(problems)
		return nil, nil
	case err != nil:
		p.unread = true
		x.note("", "the objects of the bundle are unknown: "+err.Error())
		if installed == nil {
			p.occupied = x.second(b.Name)
		}
		return nil, nil
	}
	if installed == nil {
		if p.occupied, err = x.occupied(ctx, content); err != nil {
			return nil, err
		}
	}
	want, err := desired.Want(ctx, x.extension, b, content, x.options)
	if errors.As(err, &problems) {
		p.block(problems)
		if p.Ways, err = configured(ctx, x.extension, b, content, x.options, problems); err != nil || len(p.Ways) == 0 {
			return nil, err
		}
		changed, err := desired.Want(ctx, p.Ways[0].extension, b, content, x.options)
		if err != nil {
			return nil, err
		}
		return nil, x.preflight(ctx, p, changed) // what else keeps it from being installed
	}
	return want, err
}

// stops adds to a plan which upgrade after the next one OLM v1 refuses.
func (x *extensionState) stops(ctx context.Context, p *extensionPlan, installed *rollout.Revision, d *desired.Decision) error {
	if installed == nil || installed.Bundle.Name == d.Selection.Bundle {
		return nil
	}
	w := x.bundles.walk([]*api.ClusterExtension{x.extension}, x.packages(p.Package))
	at, err := w.stop(ctx, d.Request, installed.Bundle.Name, d.Selection)
	if err != nil || at == nil || at.From == installed.Bundle.Name { // the plan shows what blocks the next one
		return err
	}
	p.stop = at
	p.Versions = append(slices.Clip(p.Versions), stopNote(at, p.Extension, installed.Bundle.Name))
	return nil
}

// decide selects the bundle that the extension should have.
func (x *extensionState) decide(ctx context.Context, installed *rollout.Revision) (*desired.Decision, error) {
	var have *api.BundleMetadata
	if installed != nil {
		have = &api.BundleMetadata{Name: installed.Bundle.Name, Version: installed.Bundle.Version}
	}
	d, err := desired.Decide(ctx, x.extension, have, x.catalogs, x.opener, nil)
	if err != nil || d.Request.Selector == nil || !errors.As(d.Err, new(*olmv1.Refusal)) {
		return d, err
	}
	for i := range d.Request.Catalogs { // a refusal names those that the selector leaves out
		if c := &d.Request.Catalogs[i]; c.Graph == nil {
			c.Graph = x.opener[c.Name]
		}
	}
	if _, d.Err = olmv1.Select(ctx, d.Request); ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return d, nil
}

// preflight checks a revision if it is not the latest one.
func (x *extensionState) preflight(ctx context.Context, p *extensionPlan, want *rollout.Revision) error { // K54
	writes, err := rollout.Next(x.ready(), *want)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(writes, func(w rollout.Write) bool { return w.Op == rollout.CreateRevision }) {
		return nil
	}
	results, err := desired.Preflight(ctx, x.extension, want.Phases, x.options.AsUpstream, x.live)
	for _, r := range results {
		for _, f := range r.Findings {
			p.Blocked = append(p.Blocked, extensionBlock{
				Check: checkCRDSafety, Code: f.Validation, Object: &olm.Key{Group: olm.GroupCRD, Kind: olm.KindCRD, Name: r.Name}, Message: unsafeText(f),
				path: strings.TrimPrefix(f.Path, "^"), change: unsafeText(crdsafety.Finding{Version: f.Version, Validation: f.Validation, Old: f.Old, New: f.New, FalseAlarm: f.FalseAlarm}),
			})
		}
	}
	p.Ways = append(p.Ways, unsafeWays(p.Extension, p.Target.Name, results, x.live)...)
	return err
}

// ready returns the snapshot with the finalizer of the extension, which is always added first.
func (x *extensionState) ready() *rollout.Snapshot {
	s := *x.snapshot
	s.Extension.Finalizer = true
	return &s
}

// describe adds the steps of a rehearsal to a plan.
func (x *extensionState) describe(p *extensionPlan, h *rollout.Rehearsal) {
	declared := map[string]*unstructured.Unstructured{} // by the latest revision that has it
	for _, o := range x.snapshot.Named() {
		declared[registryv1.Key(o)] = o
	}
	owners := map[string]bool{string(x.snapshot.Extension.UID): true}
	for _, r := range x.snapshot.Revisions {
		owners[string(r.UID)] = true
	}
	touched := map[string]bool{}
	for i := range h.Steps {
		step := &h.Steps[i]
		if step.Op == rollout.CreateRevision {
			p.Revision = step.Revision
		}
		if step.Object == nil || step.Phase == "" {
			continue
		}
		key := registryv1.Key(step.Object)
		removed := step.Op == rollout.Delete
		o := extensionObject{Object: keyOf(step.Object)}
		o.Waits = i >= h.Unblocked || p.refused() && (removed || step.Revision == p.Revision)
		switch step.Op {
		case rollout.Create:
			o.Op = "create"
		case rollout.Apply:
			o.Op = "change"
			if c := metav1.GetControllerOfNoCopy(step.Before); c == nil || !owners[string(c.UID)] {
				o.Op = "adopt"
			}
			for _, c := range impact.Fields(step.Before, declared[key], step.Object) {
				o.Fields = append(o.Fields, extensionField{c.Op, c.Path, c.Old, c.New})
			}
			if o.Op == "change" && len(o.Fields) == 0 {
				continue
			}
		case rollout.Delete:
			o.Op = "delete"
			if o.Object.Kind == olm.KindCRD && o.Object.Group == olm.GroupCRD && !o.Waits {
				p.Lost = append(p.Lost, o.Object.Name)
			}
		default:
			continue
		}
		touched[key] = true
		n := slices.IndexFunc(p.Phases, func(have extensionPhase) bool {
			return have.Revision == step.Revision && have.Phase == step.Phase && have.Removed == removed
		})
		if n < 0 {
			n = len(p.Phases)
			p.Phases = append(p.Phases, extensionPhase{Revision: step.Revision, Removed: removed, Phase: step.Phase})
		}
		p.Phases[n].Objects = append(p.Phases[n].Objects, o)
	}
	order := func(name string) int {
		return slices.IndexFunc(h.After.Revisions, func(r rollout.Revision) bool { return r.Name == name })
	}
	slices.SortStableFunc(p.Phases, func(a, b extensionPhase) int {
		return cmp.Compare(rank(a, order), rank(b, order))
	})
	for _, o := range h.After.Objects {
		if !touched[registryv1.Key(o)] {
			p.Unchanged++
		}
	}
	if p.Revision == "" {
		if _, rolling := x.snapshot.Installed(); len(rolling) > 0 {
			p.Revision = rolling[len(rolling)-1].Name
		}
	}
	var existing []olm.Key
	for _, w := range h.Waits {
		var key *olm.Key
		if w.Object != nil {
			key = new(keyOf(w.Object))
		}
		switch {
		case w.Collides:
			rival := x.rival(w.Object)
			b := extensionBlock{Check: checkOwnership, Object: key, Message: w.Message + rival}
			if rival == "" {
				existing = append(existing, *key)
			}
			if !slices.ContainsFunc(p.Blocked, func(x extensionBlock) bool { return x.Object != nil && *x.Object == *key && x.Message == b.Message }) {
				p.Blocked = append(p.Blocked, b)
			}
			continue
		case w.Rejected:
			if !slices.ContainsFunc(p.Blocked, func(x extensionBlock) bool { return x.Check == checkDryRun && strings.HasPrefix(x.Message, w.Message) }) {
				p.Blocked = append(p.Blocked, extensionBlock{Check: checkDryRun, Object: key, Message: w.Message + "; until then nothing is applied from phase " + w.Phase + " on"})
			}
			continue
		}
		p.Waiting = append(p.Waiting, extensionWait{w.Revision, w.Phase, key, w.Message})
	}
	p.replace(existing)
}

// rank orders phases: those of older revisions come first, and what is removed comes last.
func rank(p extensionPhase, order func(string) int) int {
	if p.Removed {
		return 1 << 20
	}
	return order(p.Revision)
}

// keyOf returns the key of an object.
func keyOf(o *unstructured.Unstructured) olm.Key {
	gvk := o.GroupVersionKind()
	return olm.Key{Group: gvk.Group, Kind: gvk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// negative reports whether a person has to act.
func (p *extensionPlan) negative() bool {
	return p.Refused != "" || len(p.Blocked) > 0 || p.Impact != nil && p.Impact.Avoid.acts()
}
