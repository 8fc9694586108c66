# Everything that a change needs, offline once the modules are downloaded.
# "make" builds, lints and tests; "make help" lists the targets.

GO      ?= go
# How long each fuzz target and each benchmark runs.
FUZZTIME  ?= 30s
BENCHTIME ?= 1s
# The size of the tests: small, moderate or large.
SIZE ?= moderate
# How long the tests of one package may take. Those of kube start an API server first,
# and the race detector takes its time.
TESTTIMEOUT ?= 60m
RACETIMEOUT ?= 60m
# How many namespaces fleet has.
FLEET ?= 1000
# The first seed of the cases that namespaces and sources generate.
SEED ?= 1
# Which scenarios sidebyside runs, as a regular expression. Empty: all.
SCENARIOS ?=
# The package that mutate changes, and the commit to compare with. Empty: all lines.
PKG  ?= ./operatorgroup
BASE ?= $(shell git merge-base main HEAD 2>/dev/null)
# Which benchmarks run, as a regular expression.
BENCH     ?= .

# The modules of the repository, the root first. Modules without tests only pin
# tools.
MODULES := $(sort $(patsubst %/,%,$(dir $(shell find . -name go.mod -not -path '*/testdata/*' -not -path './.git/*'))))

.DEFAULT_GOAL := all
.PHONY: help build setup test thorough race fuzz faults namespaces sources fleet sidebyside bench compare cover lint conformance mutate golden fmt tidy man schema apidiff tag release reproduce all

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

all: build lint test ## build, lint and test

build: ## build the command line into bin/
	$(GO) build -trimpath -o bin/olmkit ./cmd/olmkit

setup: ## install or build what the tests need: Chromium, skopeo, an API server and etcd
	@internal/tools/setup.sh

test: ## run setup, then all tests of all modules, with generated cases of a moderate number
	@internal/tools/setup.sh; setup=$$?; \
	GO="$(GO)" OLMKIT_TEST_SIZE=$(SIZE) internal/tools/gotest.sh -timeout $(TESTTIMEOUT); tests=$$?; \
	if [ $$setup -ne 0 ]; then echo "FAIL: internal/tools/setup.sh"; fi; exit $$((setup + tests))

thorough: ## run setup, then all tests of all modules with every case; it takes hours
	@$(MAKE) --no-print-directory test SIZE=large TESTTIMEOUT=12h

race: ## run all tests under the race detector, with few generated cases
	@GO="$(GO)" internal/tools/gotest.sh -race -timeout $(RACETIMEOUT)

fuzz: ## run every fuzz target of all modules for FUZZTIME
	@set -e; for m in $(MODULES); do \
		if [ -z "$$(grep -rl --include='*_test.go' '^func Fuzz' $$m)" ]; then continue; fi; \
		(cd $$m && $(GO) list -f '{{.Dir}} {{join .TestGoFiles " "}} {{join .XTestGoFiles " "}}' ./...) | while read -r dir files; do \
			for f in $$files; do \
				for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$dir/$$f"); do \
					echo "== $$target in $$dir"; \
					(cd "$$dir" && $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) . </dev/null); \
				done; \
			done; \
		done; \
	done

faults: ## kill and disturb the reconciliation loop at length
	OLMKIT_TEST_SIZE=large $(GO) test ./reconcile -run 'Killed|Deleted|Faults|Loops|Stale|Times|Users|Mutated' -timeout 12h -v

namespaces: ## compare plans for 100,000 generated namespaces, from SEED on, with OLM's
	cd compare && OLMKIT_TEST_SIZE=large $(GO) test -run 'TestNamespaces$$' -timeout 12h -v . -namespaceseed $(SEED)

fleet: ## install an operator in FLEET namespaces of a real API server at once
	cd kube && $(GO) test -run ManyNamespaces -v -timeout 60m . -fleet $(FLEET)

sidebyside: setup ## run SCENARIOS with OLM itself, record them, swap both controllers, compare and measure
	cd kube/internal/sidebyside/olm && CGO_ENABLED=0 GOWORK=off $(GO) build -trimpath -o bin/ ./opm $$($(GO) list tool)
	cd kube && $(GO) test -run 'TestRecord|TestSwap|TestKilled|TestBothAtOnce' -v -timeout 12h ./internal/sidebyside -olm $(CURDIR)/kube/internal/sidebyside/olm/bin -scenarios '$(SCENARIOS)'
	cd kube && OLMKIT_TEST_SIZE=large $(GO) test -run 'TestScenarios|TestMeasure' -v -timeout 2h ./internal/sidebyside -olm $(CURDIR)/kube/internal/sidebyside/olm/bin -scenarios '$(SCENARIOS)'

sources: ## compare 100,000 generated problems, from SEED on, with OLM's resolver
	cd compare && OLMKIT_TEST_SIZE=large $(GO) test -run 'TestSources$$' -timeout 12h -v . -sourceseed $(SEED)

bench: ## run the benchmarks that match BENCH
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(BENCHTIME) ./...

compare: ## measure against opm, OLM, crdify and libsolv: a table, compare.json and a chart
	cd compare && $(GO) run ./bench -json ../compare.json -chart ../docs/scale.svg

cover: ## write cover.html and print the coverage of each package
	$(GO) test -coverprofile cover.out -coverpkg ./... ./...
	$(GO) tool cover -html cover.out -o cover.html
	$(GO) tool cover -func cover.out | tail -n 1

lint: ## run gofmt, go vet, staticcheck, and vale on English and spelling
	@test -z "$$(gofmt -l .)" || { echo "not formatted (run make fmt):"; gofmt -l .; exit 1; }
	@cd internal/tools && $(GO) build -o $(CURDIR)/bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	@set -e; for m in $(MODULES); do \
		if [ -z "$$(cd $$m && $(GO) list ./... 2>/dev/null)" ]; then continue; fi; \
		echo "== lint $$m"; (cd $$m && $(GO) vet ./... && $(CURDIR)/bin/staticcheck ./...); \
	done
	@cd internal/tools/prose && $(GO) run .

conformance: ## regenerate the conformance cases, and record OLM's answers
	$(GO) test ./resolver -run 'TestGeneratedCases$$' -generate
	cd compare && $(GO) test -run 'TestCases$$' . -record

mutate: ## mutate the lines of PKG that differ from BASE, and list the mutants that survive
	cd internal/tools/mutate && $(GO) build -o ../../../bin/gremlins github.com/go-gremlins/gremlins/cmd/gremlins
	bin/gremlins unleash $(PKG) --workers 2 --invert-logical --timeout-coefficient 20 $(if $(BASE),--diff $(BASE))

golden: ## rewrite the golden files with the current output
	@set -e; for m in $(MODULES); do \
		for dir in $$(cd $$m && $(GO) list -f '{{.Dir}}' ./... 2>/dev/null); do \
			if grep -qs -e 'flag.Bool("update"' -e 'internal/golden"' $$dir/*_test.go; then (cd $$dir && $(GO) test . -update); fi; \
		done; \
	done

fmt: ## format the code
	gofmt -w .

tidy: ## bring go.mod and go.sum of every module up to date
	@GO="$(GO)" internal/tools/tidy.sh $(MODULES)

man: ## write the man pages into bin/man/
	$(GO) run ./cmd/internal/man bin/man

schema: ## write the JSON Schemas of documents into docs/schema/
	$(GO) run ./cmd/internal/schema docs/schema

apidiff: ## compare the public API, including kube, with the last tag or REF
	internal/tools/apidiff.sh $(REF)

tag: ## make the modules require each other at VERSION, commit, and tag them
	cd internal/tools/release && $(GO) run . tag $(VERSION)

release: ## build the release of the tag VERSION into dist/VERSION/
	internal/tools/release/release.sh $(VERSION) dist/$(VERSION)

reproduce: ## rebuild the release of VERSION from scratch, and compare
	@set -e; tmp=$$(mktemp -d); trap 'rm -rf '$$tmp EXIT; \
	GOCACHE=$$tmp/cache; export GOCACHE; TMPDIR=$$tmp; export TMPDIR; \
	internal/tools/release/release.sh $(VERSION) $$tmp/again; \
	diff dist/$(VERSION)/SHA256SUMS $$tmp/again/SHA256SUMS && echo "the same bytes"
