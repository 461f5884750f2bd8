# The targets of this repository. "make" alone lists them.

FUZZTIME ?= 10s

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: test
test: ## run the tests of all modules
	go test work

.PHONY: long
long: ## run the long form of the tests of all modules
	EXECUTOR_LONG=1 go test -timeout 1h work

.PHONY: race
race: ## run them with the race detector, in random order
	CGO_ENABLED=1 go test -race -shuffle=on -exec "$(CURDIR)/scripts/raced" -timeout 1h work

.PHONY: ci
ci: ## run all that must hold before a merge
	.ci/run

.PHONY: zips
zips: ## use the zip of each published module as others do: run its tests, go get, go install
	go run ./tests/zips

.PHONY: api
api: ## write what the public packages export to api/
	go run ./tests/api

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (10s)
	scripts/fuzz $(FUZZTIME)

.PHONY: oracle
oracle: ## compare 20,000 programs that nobody has drawn before with the JDK's executors
	go test -count=1 -v -run SameAsJDK -timeout 1h ./tests/oracle -oracle.programs 20000 -oracle.seed 0

.PHONY: nightly
nightly: ## run what takes longer than a merge may: the long tests with -race, other systems, fuzzing, tests from the zips, the JDK, mutants, a release, soaks
	scripts/nightly
	$(MAKE) fuzz FUZZTIME=10m
	$(MAKE) zips oracle vulns rehearsal mutants
	$(MAKE) soak SOAK=60m

SOAK ?= 10m
OCCURRENCES ?= 100000

.PHONY: soak
soak: ## record and judge histories in real time for SOAK (10m), under -race; then durable jobs among faults, and beside an open transaction; then executord
	EXECUTOR_SOAK=$(SOAK) EXECUTOR_SOAK_OCCURRENCES=$(OCCURRENCES) go test -p 1 -race -v -run 'Soak|OpenTransaction' -timeout 0 ./tests/history ./durable/internal/faults
	EXECUTORD_SOAK=$(SOAK) go test -v -run RunSoak -timeout 0 ./cmd/executord

.PHONY: mutants
mutants: ## break the code on purpose, in one place at a time, and print which test notices
	go run ./tests/mutants

.PHONY: images
images: ## take the pictures of docs/images from the real pages
	go test ./tests/browser -count=1 -run TestImages -images

QUICK ?=

.PHONY: bench
bench: ## measure us, the rivals and the JDK side by side; QUICK=1 takes two minutes
	go run ./bench $(if $(QUICK),-quick)

.PHONY: compare
compare: ## hold the benchmarks against another revision: make compare BASE=rev
	scripts/compare $(BASE)

.PHONY: cover
cover: ## show what the core's tests cover, function by function
	go test -coverpkg=./... -coverprofile=cover.out ./...
	go tool cover -func=cover.out

.PHONY: lint
lint: ## check format, vet, staticcheck, workflows
	scripts/lint

.PHONY: tidy
tidy: ## make go.mod and go.sum of all modules say what the code needs
	scripts/tidy

.PHONY: vulns
vulns: ## look for known vulnerabilities in the dependencies
	scripts/vulnerabilities -required

VERSION ?=
DRY ?=

.PHONY: release
release: ## make a release of all modules and push it: VERSION=v0.1.0; with DRY=1 list what would be pushed
	go run ./tests/release $(if $(DRY),-n) $(VERSION)

.PHONY: rehearsal
rehearsal: ## make a release that goes nowhere, and build executord for all systems, twice
	go test -count=1 -v -timeout 2h -run '^TestRelease$$' ./tests/release -release.long

.PHONY: dist
dist: ## build executord of a published VERSION=v0.1.0 into dist/, with its image, checksums, licenses and a bill of materials
	go run ./tests/release -files $(VERSION)

.PHONY: packages
packages: ## build a .deb and a .rpm of executord from this tree into dist/, for amd64 and arm64: VERSION=v0.1.0
	go run ./tests/packages -build -version $(or $(VERSION),v0.0.0-dev) linux/amd64 linux/arm64

.PHONY: image
image: ## build an image with executord alone, by docker
	docker build -f packaging/Dockerfile -t executord .

.PHONY: man
man: ## make the page for man(1) from the manual: dist/executord.1
	mkdir -p dist
	go run ./tests/packages -version $(or $(VERSION),v0.0.0-dev) man dist/executord.1

.PHONY: run-example
run-example: ## run executord on the example crontab, until interrupted
	go build -o executord ./cmd/executord
	exec ./executord run examples/jobs.crontab
