package report

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"

	"github.com/olmkit/olmkit/fbc"
)

// The parts of SARIF 2.1.0 that findings need.
type (
	sarifOut struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID       fbc.Code     `json:"id"`
		Short    sarifText    `json:"shortDescription"`
		Full     sarifText    `json:"fullDescription"`
		Help     sarifText    `json:"help"`
		Defaults sarifDefault `json:"defaultConfiguration"`
	}
	sarifDefault struct {
		Level fbc.Severity `json:"level"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct {
		RuleID       fbc.Code          `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        fbc.Severity      `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitzero"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
	}
)

// sarifReport returns the findings as one run, with a rule for every code that
// occurs.
func sarifReport(found fbc.Diagnostics, opts *Options) sarifOut {
	driver := sarifDriver{Name: "olmkit", Version: opts.ToolVersion, InformationURI: "https://github.com/olmkit/olmkit", Rules: []sarifRule{}}
	occurs := map[fbc.Code]bool{}
	for _, d := range found {
		occurs[d.Code] = true
	}
	index := map[fbc.Code]int{}
	for _, e := range fbc.Explanations() {
		if !occurs[e.Code] {
			continue
		}
		index[e.Code] = len(driver.Rules)
		driver.Rules = append(driver.Rules, sarifRule{
			ID: e.Code, Short: sarifText{Text: e.Title}, Full: sarifText{Text: e.Text},
			Help: sarifText{Text: e.Text, Markdown: e.Markdown()}, Defaults: sarifDefault{e.Severity},
		})
	}
	results := []sarifResult{}
	for _, d := range found {
		i, ok := index[d.Code]
		if !ok { // a code of another package
			i = len(driver.Rules)
			index[d.Code] = i
			text := sarifText{Text: string(d.Code)}
			driver.Rules = append(driver.Rules, sarifRule{ID: d.Code, Short: text, Full: text, Help: text, Defaults: sarifDefault{d.Severity}})
		}
		r := sarifResult{RuleID: d.Code, RuleIndex: i, Level: d.Severity, Message: sarifText{Text: d.Text()}, Fingerprints: fingerprint(d)}
		if at := opts.exact(d); at.IsValid() {
			l := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{(&url.URL{Path: at.File}).EscapedPath()}}}
			if at.Line > 0 {
				l.Physical.Region = &sarifRegion{at.Line}
			}
			if d.Schema != "" {
				l.Logical = []sarifLogical{{d.Package + "/" + d.Schema + "/" + d.Name + "#" + d.Path}}
			}
			r.Locations = []sarifLocation{l}
		}
		results = append(results, r)
	}
	return sarifOut{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []sarifRun{{Tool: sarifTool{driver}, Results: results}},
	}
}

// fingerprint identifies a finding to a code scanner after its line has moved.
func fingerprint(d *fbc.Diagnostic) map[string]string {
	h := sha256.New()
	for _, s := range []string{string(d.Code), d.Pos.File, d.Schema, d.Package, d.Name, d.Text()} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return map[string]string{"olmkitFinding/v1": hex.EncodeToString(h.Sum(nil)[:16])}
}
