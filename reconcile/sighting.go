package reconcile

import (
	"path"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
)

// A Sighting is evidence that OLM runs in the same cluster. As long as it does, two
// controllers would undo each other's writes, so plans have no changes.
type Sighting struct {
	// Object is a deployment that runs OLM, or an object that OLM changed after olmkit had
	// written it.
	Object olm.Key `json:"object"`
	// Wrote is when OLM was seen to write the object. It is zero for a deployment.
	Wrote time.Time `json:"wrote,omitzero"`
}

// quiet is how long OLM must not have written anything before it counts as stopped, if no
// deployment shows whether it runs.
const quiet = 10 * time.Minute

// ActiveSightings returns the sightings in list that show that OLM runs at time now, in order.
// A write by OLM counts for ten minutes, or forever if now is zero.
func ActiveSightings(list []Sighting, now time.Time) []Sighting { // E34
	var out []Sighting
	for _, s := range list {
		if s.Wrote.IsZero() || now.IsZero() || now.Before(s.Wrote.Add(quiet)) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Sighting) int { return a.Object.Compare(b.Object) })
	return out
}

// IsOLMName reports whether a deployment of OLM's controllers has this name.
func IsOLMName(name string) bool { return name == "olm-operator" || name == "catalog-operator" }

// IsOLM reports whether a deployment is one of OLM's two controllers and has or should have
// replicas, whether or not they are available.
func IsOLM(d *olm.Deployment) bool {
	if !IsOLMName(d.Metadata.Name) {
		return false
	}
	var spec struct {
		Replicas *int64 `json:"replicas"`
		Template struct {
			Spec struct {
				Containers []struct {
					Command []string `json:"command"`
				} `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	}
	if json.Unmarshal(d.Spec, &spec) != nil {
		return false
	}
	for _, c := range spec.Template.Spec.Containers {
		if len(c.Command) == 0 || slices.Contains([]string{"olm", "catalog"}, path.Base(c.Command[0])) {
			return spec.Replicas == nil || *spec.Replicas > 0 || d.Status.Replicas > 0
		}
	}
	return false
}

// noteOLM notes where OLM was seen, and returns when it counts as stopped, or the zero time
// if a deployment has to change.
func noteOLM(p *change.Writer, list []Sighting, paused bool) (due time.Time) {
	consequence := "OLM writes the same objects as olmkit"
	if paused {
		consequence = "nothing is written, because two controllers would undo each other's writes"
	}
	runs := false
	for _, s := range list {
		if s.Wrote.IsZero() {
			runs = true
			p.Note(s.Object, "runs OLM; %s; scale the deployment to 0 replicas, or delete it", consequence).Rule = "E34"
			continue
		}
		end := s.Wrote.Add(quiet)
		if end.After(due) {
			due = end
		}
		p.Note(s.Object, "was changed by OLM at %s, after olmkit had written it; %s; stop OLM, which counts as stopped at %s", s.Wrote.Format(time.RFC3339), consequence, end.Format(time.RFC3339)).Rule = "E34"
	}
	if runs {
		return time.Time{}
	}
	return due
}
