package platform

import (
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
)

// command sets the commands of the steps of a route.
func (rt *route) command() {
	held := false
	for _, stay := range rt.stays {
		for i := range stay.steps {
			s := &stay.steps[i]
			for _, o := range rt.objects() {
				switch {
				case s.Hold != nil:
					s.Commands = append(s.Commands, o.Hold(s.Hold.Bundle.Version))
				case s.Switch != nil && held && o.V1:
					s.Commands = append(s.Commands, o.Follow(s.Switch.To, map[string]any{"version": rt.versions()}))
				case s.Switch != nil:
					s.Commands = append(s.Commands, o.Follow(s.Switch.To, nil))
				}
			}
			held = s.Hold != nil || held && s.Switch == nil
		}
	}
}

// versions returns the version range of a ClusterExtension, or nil.
func (o *Operator) versions() any {
	if o.Versions == "" {
		return nil
	}
	return o.Versions
}

// along returns the commands that change the channel as a way does, each once the bundle before is installed.
func (rt *route) along(way *graph.Way) (out []string) {
	if way == nil {
		return nil
	}
	for _, leg := range way.Legs {
		var more map[string]any
		if leg.Stop && rt.Reading == graph.Classic {
			more = map[string]any{"installPlanApproval": "Manual"}
		}
		for _, o := range rt.objects() {
			out = append(out, o.Follow(leg.Channel, more))
		}
	}
	return out
}

// keep returns the commands that keep OLM from a downgrade.
func (rt *route) keep(x *graph.Outlook) (out []string) {
	for _, o := range rt.objects() {
		if x.Keep != nil {
			out = append(out, o.Follow(x.Keep.Channel, nil))
		} else {
			out = append(out, o.Hold(x.Downgrade.From.Version))
		}
	}
	return out
}

// objects returns the objects that manage an operator.
func (o *Operator) objects() []kubectl.Operator {
	v1 := o.Reading == graph.V1
	if len(o.Objects) == 0 {
		if v1 {
			return []kubectl.Operator{{V1: true, Name: o.Package}}
		}
		return []kubectl.Operator{{Namespace: "operators", Name: o.Package}}
	}
	out := make([]kubectl.Operator, len(o.Objects))
	for i, x := range o.Objects {
		out[i] = kubectl.Operator{V1: v1, Namespace: x.Namespace, Name: x.Name}
	}
	return out
}
