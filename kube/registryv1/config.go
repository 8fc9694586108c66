package registryv1

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/olmkit/olmkit/internal/yamljson"
)

// english prints the texts of package kind.
var english = message.NewPrinter(language.English)

// A configuration is a valid spec.config.inline.
type configuration struct {
	watchNamespace string // "" if it is not set
	deployment     *v1alpha1.SubscriptionConfig
}

// ValidateConfig checks the configuration, given as YAML or JSON, of an installation in
// namespace. A nil config is an empty configuration. If namespace is empty, watchNamespace is
// not compared with it. The error is an [*Error] whose problems are sorted by field. Each
// names its field and what is allowed. If upstream is set, the problems are those that
// operator-controller reports.
func (b *Bundle) ValidateConfig(ctx context.Context, namespace string, config []byte, upstream bool) error {
	_, problems := b.config(ctx, namespace, config, upstream)
	if upstream {
		return asUpstream(problems)
	}
	return failure(problems)
}

func configProblem(code string, subject, format string, args ...any) Problem {
	text := fmt.Sprintf(format, args...)
	return Problem{Stage: StageConfig, Code: code, Subject: subject, Message: text, peerMessage: text}
}

// config validates and decodes a configuration, which may be absent (K22).
func (b *Bundle) config(ctx context.Context, namespace string, text []byte, upstream bool) (out configuration, problems []Problem) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	doc, err := yamljson.JSON(ctx, text, nil)
	var value any
	if err == nil {
		err = json.Unmarshal(doc, &value)
	}
	if err != nil {
		return out, []Problem{configProblem("type", "", "the configuration is not valid: %v", err)}
	}
	fields, _ := value.(map[string]any)
	e := evaluator{formats(namespace, upstream)}
	switch invalid := e.check(b.schema(), value, nil); {
	case invalid != nil && upstream:
		return out, peerViolations(invalid)
	case invalid != nil:
		return out, b.violations(invalid)
	}
	out.watchNamespace, _ = fields[watchNamespace].(string)
	raw, ok := fields["deploymentConfig"]
	if !ok {
		return out, nil
	}
	if doc, err = json.Marshal(raw); err == nil {
		err = json.Unmarshal(doc, &out.deployment)
	}
	if err != nil {
		p := configProblem("decode", "deploymentConfig", "deploymentConfig: %v", err)
		p.peerMessage = fmt.Sprintf("invalid deploymentConfig: failed to unmarshal deploymentConfig: %v", err)
		return out, []Problem{p}
	}
	if !upstream {
		d := out.deployment
		problems = append(repeated("env", d.Env, func(e *corev1.EnvVar) string { return e.Name }),
			repeated("volumes", d.Volumes, func(v *corev1.Volume) string { return v.Name })...)
	}
	return out, problems
}

// formats returns the formats of the schema (K26). Operator-controller does not check those
// of quantities and integers (K202).
func formats(namespace string, upstream bool) map[string]format {
	watch := func(valid func(string) bool, text string) format {
		return func(v any) error {
			if s, ok := v.(string); ok && namespace != "" && !valid(s) {
				return fmt.Errorf(text, s, namespace)
			}
			return nil
		}
	}
	out := map[string]format{
		ownNamespaceFormat: watch(func(s string) bool { return s == namespace },
			"invalid value %q: must be %q (the namespace where the operator is installed) because this operator only supports OwnNamespace install mode"),
		singleNamespaceFormat: watch(func(s string) bool { return s != namespace },
			"invalid value %q: must be different from %q (the install namespace) because this operator uses SingleNamespace install mode to watch a different namespace"),
		"date-time": func(v any) error {
			if s, ok := v.(string); ok {
				if _, err := time.Parse(time.RFC3339, s); err != nil {
					return errors.New(`must be a date and time, such as "2026-01-31T12:00:00Z"`)
				}
			}
			return nil
		},
	}
	if upstream {
		return out
	}
	integer := func(least, most float64) format {
		return func(v any) error {
			if n, ok := v.(float64); ok && (n < least || n > most) {
				return fmt.Errorf("must be between %.0f and %.0f", least, most)
			}
			return nil
		}
	}
	out["int32"] = integer(math.MinInt32, math.MaxInt32)
	out["int64"] = integer(math.MinInt64, math.MaxInt64)
	out["quantity"] = func(v any) error {
		if s, ok := v.(string); ok {
			if _, err := resource.ParseQuantity(s); err != nil {
				return errors.New(`must be a quantity, such as "500m" or "1Gi"`)
			}
		}
		return nil
	}
	return out
}

// peerViolations returns the problems that operator-controller reports: one for each unit of
// the schema library's basic output, which omits violations below a reference (K28).
func peerViolations(invalid *violation) (out []Problem) {
	var units []*violation
	for _, v := range invalid.members() {
		units = append(units, v.list()...)
	}
	for _, unit := range units {
		field := peerField(unit.at)
		text := unit.kind.LocalizedString(english)
		switch k := unit.kind.(type) {
		case *kind.Required:
			out = append(out, configProblem("missing", k.Missing[0], "required field %q is missing", k.Missing[0]))
		case *kind.AdditionalProperties:
			name := slices.Min(k.Properties)
			out = append(out, configProblem("unknown", name, "unknown field %q", name))
		case *kind.Type:
			if k.Got == "null" {
				out = append(out, configProblem("missing", field, "required field %q is missing", field))
			} else {
				out = append(out, configProblem("type", field, "invalid type for field %q: %v", field, text))
			}
		case *kind.Format:
			out = append(out, configProblem("format", field, "invalid format for field %q: %v", field, text))
		case *kind.AnyOf:
			out = append(out, configProblem("anyOf", field, "invalid value for field %q", field))
		case *kind.MinLength:
			out = append(out, configProblem("minLength", field, "field %q must have minimum length of %d (len=%d)", field, k.Want, k.Got))
		case *kind.MaxLength:
			out = append(out, configProblem("maxLength", field, "field %q must have maximum length of %d (len=%d)", field, k.Want, k.Got))
		case *kind.Pattern:
			out = append(out, configProblem("pattern", field, "field %q must match pattern %q", field, k.Want))
		default:
			out = append(out, configProblem("ref", "", "%v", text))
		}
	}
	slices.SortStableFunc(out, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Message, b.Message))
	})
	return out
}

// peerField returns a path in a problem that operator-controller reports.
func peerField(at []string) string {
	names := make([]string, len(at))
	for i, name := range at {
		names[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	return strings.Join(names, ".")
}

// violations returns every violation of the schema, sorted by field (K202).
func (b *Bundle) violations(v *violation) (out []Problem) {
	path := v.at
	field := strings.Join(path, ".")
	switch k := v.kind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			field := strings.Join(append(slices.Clip(path), name), ".")
			out = append(out, configProblem("missing", field, "%s is required%s", field, b.hint(field)))
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			field := strings.Join(append(slices.Clip(path), name), ".")
			out = append(out, configProblem("unknown", field, "%s is not a field%s", field, b.hint(field)))
		}
	case *kind.Type:
		out = append(out, configProblem("type", field, "%s is of type %s; it must be of type %s%s", orAll(field), k.Got, strings.Join(k.Want, " or "), b.typeHint(field)))
	case *kind.Format:
		if field == watchNamespace {
			out = append(out, configProblem("format", field, "%s is %q%s", field, k.Got, b.hint(field)))
			break
		}
		out = append(out, configProblem("format", field, "%s is invalid: %v", field, k.Err))
	case *kind.MinLength:
		out = append(out, configProblem("minLength", field, "%s has %d characters; it must have at least %d", field, k.Got, k.Want))
	case *kind.MaxLength:
		out = append(out, configProblem("maxLength", field, "%s has %d characters; it must have at most %d", field, k.Got, k.Want))
	case *kind.Pattern:
		out = append(out, configProblem("pattern", field, "%s is %q; it must consist of lower-case letters, digits and hyphens, and start and end with a letter or digit", field, k.Got))
	case *kind.AnyOf, *kind.OneOf:
		out = b.alternatives(v, field)
	default:
		for _, cause := range v.causes {
			out = append(out, b.violations(cause)...)
		}
		if len(v.causes) == 0 {
			out = append(out, configProblem("value", field, "%s: %s", orAll(field), v.kind.LocalizedString(english)))
		}
	}
	return sortProblems(out)
}

// alternatives returns the violations of the alternatives that accept the type of the value.
// If there are none, it returns one violation that lists the types that are accepted.
func (b *Bundle) alternatives(v *violation, field string) (out []Problem) {
	var want []string
	got := ""
	for _, cause := range v.causes {
		if k, ok := cause.kind.(*kind.Type); ok {
			want, got = append(want, k.Want...), k.Got
		} else {
			out = append(out, b.violations(cause)...)
		}
	}
	if len(out) > 0 {
		return out
	}
	return []Problem{configProblem("type", field, "%s is of type %s; it must be of type %s%s", field, got, strings.Join(want, " or "), b.typeHint(field))}
}

func orAll(field string) string {
	if field == "" {
		return "it"
	}
	return field
}

// typeHint is hint for a value of the wrong type. Only the configuration itself and watchNamespace
// have one, because the fields that hint lists are those next to the value.
func (b *Bundle) typeHint(field string) string {
	if field != "" && field != watchNamespace {
		return ""
	}
	return b.hint(field)
}

// hint returns the end of a message about a field, which states what this bundle allows
// there.
func (b *Bundle) hint(field string) string {
	top, _, nested := strings.Cut(field, ".")
	switch {
	case field == watchNamespace:
		own, single := b.supports(v1alpha1.InstallModeTypeOwnNamespace), b.supports(v1alpha1.InstallModeTypeSingleNamespace)
		or := ""
		if b.supports(v1alpha1.InstallModeTypeAllNamespaces) {
			or = ", or leave it out to watch all namespaces"
		}
		switch {
		case own && single:
			return "; set it to any namespace" + or + ", because the bundle supports OwnNamespace and SingleNamespace"
		case own:
			return "; set it to the install namespace" + or + ", because the bundle supports OwnNamespace and not SingleNamespace"
		case single:
			return "; set it to a namespace other than the install namespace" + or + ", because the bundle supports SingleNamespace and not OwnNamespace"
		}
		return "; the bundle supports neither OwnNamespace nor SingleNamespace and always watches all namespaces"
	case !nested:
		names := []string{"deploymentConfig"}
		if watch, _ := b.watchSchema(); watch != nil {
			names = append(names, watchNamespace)
		}
		return "; this bundle can be configured with " + strings.Join(names, " and ")
	case top == "deploymentConfig" && strings.Count(field, ".") == 1:
		var names []string
		for name := range deploymentSchema()["properties"].(map[string]any) {
			names = append(names, name)
		}
		slices.Sort(names)
		return "; its fields are " + strings.Join(names, ", ")
	}
	return ""
}

// repeated checks K203: the items of a list have different names.
func repeated[T any](list string, items []T, name func(*T) string) (out []Problem) {
	seen := map[string]bool{}
	for i := range items {
		name := name(&items[i])
		if seen[name] {
			field := fmt.Sprintf("deploymentConfig.%s.%d.name", list, i)
			out = append(out, configProblem("repeated", field, "%s: %q is already the name of another entry; rename one", field, name))
		}
		seen[name] = true
	}
	return out
}
