// Package report prints the findings of package fbc: as text for people, as
// JSON for programs, as SARIF 2.1.0 for code scanning, and as annotations of
// GitHub workflows.
//
//	_, found, err := fbc.Check(ctx, os.DirFS("catalog"), nil, nil)
//	…
//	err = report.Write(ctx, os.Stdout, report.SARIF, found, &report.Options{Prefix: "catalog"})
//
// All printers keep the order of the findings and print the same bytes for the
// same findings.
package report
