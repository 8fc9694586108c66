// Package celrule evaluates the rules of CRD schemas, their
// x-kubernetes-validations, on objects at rest (E7).
//
//	rules := celrule.Compile(ctx, schema)   // an openAPIV3Schema, decoded
//	for _, f := range rules.Check(ctx, object, &budget) {
//		fmt.Println(f.Path, f.Message)      // /spec minReplicas must not exceed maxReplicas
//	}
//
// As in an API server, self is the part of the object at which the schema has
// the rule, with the fields that the schema knows, under names that CEL can
// read (a-b is a__dash__b). Integers are int, numbers double, and texts of the
// formats date-time, date, duration and byte are times, durations and bytes. A
// null has no rules.
//
// # What is not done
//
// Rules with oldSelf compare a change with the state before it; an object at
// rest has none, and such rules are left out. Beside CEL's own functions and
// its libraries of texts and sets there are none of those that the API server
// adds (quantity, url, ip, …), and rules within allOf, anyOf, oneOf and not are
// not read. A rule that cannot be evaluated for such a reason, or because it
// costs too much, makes a [Fault] that says so and is marked as Unchecked.
//
// The API server compares lists whose x-kubernetes-list-type is set or map
// without regard to their order; here == regards it.
package celrule
