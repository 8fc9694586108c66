// Command jsontypes prints what is wrong with the JSON of types. TestJSONOfTypes adds
// the file with their list, all.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const module = "github.com/olmkit/olmkit"

func main() {
	for _, t := range all {
		for _, fill := range []string{"zero", "empty", "full"} {
			v := reflect.New(t)
			set(v.Elem(), fill, map[reflect.Type]bool{})
			if fault := check(v.Interface()); fault != "" {
				fmt.Printf("%v, %s: %s\n", t, fill, fault)
				break
			}
		}
	}
}

// set makes the lists of a value empty, or sets everything in it, with one element in
// each list. A type within itself, and one of another module, stay as they are.
func set(v reflect.Value, fill string, within map[reflect.Type]bool) {
	t := v.Type()
	if fill == "zero" || !v.CanSet() || within[t] || t.PkgPath() != "" && t != reflect.TypeFor[json.RawMessage]() && !strings.HasPrefix(t.PkgPath(), module+"/") {
		return
	}
	within[t] = true
	defer delete(within, t)
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			set(v.Field(i), fill, within)
		}
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte("{}"))
			return
		}
		v.Set(reflect.MakeSlice(t, 0, 0))
		if fill == "full" {
			one := reflect.MakeSlice(t, 1, 1)
			if set(one.Index(0), fill, within); !isNil(one.Index(0)) {
				v.Set(one)
			}
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
	case reflect.Pointer:
		if fill == "full" && !within[t.Elem()] {
			v.Set(reflect.New(t.Elem()))
			set(v.Elem(), fill, within)
		}
	case reflect.String:
		if fill == "full" {
			v.SetString("x")
		}
	}
}

func isNil(v reflect.Value) bool {
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil()
}

// check returns what is wrong with the JSON of a value, or "".
func check(v any) string {
	one, err := json.Marshal(v)
	two, err2 := jsonv2.Marshal(v, jsonv2.Deterministic(true))
	if err != nil || err2 != nil {
		if err != nil && err2 != nil {
			return "" // it has no JSON
		}
		return fmt.Sprintf("%v; its second version: %v", err, err2)
	}
	x, y := jsontext.Value(one), jsontext.Value(two)
	if err := x.Canonicalize(); err != nil {
		return err.Error()
	}
	if err := y.Canonicalize(); err != nil {
		return err.Error()
	}
	switch {
	case !bytes.Equal(x, y):
		return fmt.Sprintf("two versions of encoding/json write\n\t%s\n\t%s", x, y)
	case bytes.Contains(x, []byte("null")):
		return fmt.Sprintf("null in %s", x)
	}
	return ""
}
