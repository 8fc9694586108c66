package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// ineligible adds all reasons why OLM v1 does not install a bundle that was refused for its
// dependencies.
func (x *extensionState) ineligible(ctx context.Context, p *extensionPlan, r *olmv1.Refusal) error { // K231
	if r.Code != olmv1.RefusedDependency {
		return nil
	}
	chosen, _ := r.Bundle()
	content, err := x.content(ctx, &rollout.Bundle{Name: chosen.Name(), Package: x.packageName(), Image: chosen.Image()})
	var problems *registryv1.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &problems):
		p.block(problems)
		return nil
	}
	properties, err := propertiesOf(ctx, chosen)
	if err != nil {
		return err
	}
	blob := &fbc.Bundle{Meta: fbc.Meta{Package: x.packageName(), Name: chosen.Name(), Pos: chosen.Pos(), Properties: properties}}
	e, err := registryv1.Eligible(ctx, blob, content, registryv1.EligibleOptions{Certificates: x.options.Certificates, AsUpstream: x.options.AsUpstream})
	if err == nil { // the refusal names the dependencies
		p.block(&registryv1.Error{Problems: slices.DeleteFunc(e.Problems, func(x registryv1.Problem) bool { return x.Code == string(r.Code) })})
	}
	return err
}

// block adds the problems of a bundle.
func (p *extensionPlan) block(e *registryv1.Error) {
	for _, x := range e.Problems {
		check := checkRendering
		if x.Stage == registryv1.StageUnsupported {
			check = checkEligibility
		}
		b := extensionBlock{Check: check, Code: x.Code}
		if x.Pos.IsValid() {
			b.Place = x.Pos.String()
			x.Pos = fbc.Pos{}
		}
		b.Message = x.String()
		p.Blocked = append(p.Blocked, b)
	}
}
