# Everything a newcomer needs, and what CI runs. Each target does its own set-up.

GO ?= go
RUNS ?= 1000
SOAK ?= 5m
CHECKS ?= 100000

export CGO_ENABLED = 0

.PHONY: build run test audit soak soak-docker track-record prove mutate lint bench golden clean virtual-std virtual-same help

help: ## list these targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

build: bin/recount ## build bin/recount, static, for this machine

bin/recount: $(shell find . -name '*.go' -not -name '*_test.go') $(shell find docker harness report scenarios serve targets -type f -not -name '*.go') go.mod go.sum
	$(GO) build -trimpath -o $@ ./cmd/recount

run: build ## run scenario ping-pong in simulation: nothing but Go is needed
	bin/recount run ping-pong

test: build ## run every test, those on containers too: Go and Docker are needed
	$(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) test -timeout 30m ./...

audit: ## look for known holes in what is linked, and for licences that forbid passing it on: vuln.go.dev is asked
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./...
	$(GO) test -count 1 ./cli -run TestLicencesOfDependencies

soak: build ## break no promise of any election in 1,000 simulations of each under each fault: an hour (RUNS=n for more)
	$(GO) test -timeout 60m -count 1 ./harness -run TestCorrectElections -runs $(RUNS) -v
	bin/recount matrix --targets targets --seeds $(RUNS) --keep=false

prove: ## compare deciding with plain porcupine and with oracles on 100,000 random histories of each kind (CHECKS=n for more)
	$(GO) test -timeout 60m -count 1 -v ./checkers ./checkers/linear -run 'Plain|Decide|Oracles' -rapid.checks=$(CHECKS)

mutate: ## flip each decision of the checkers, one at a time: some test must notice
	$(GO) test -timeout 60m -count 1 -v ./tools/mutate -mutants=0

track-record: build ## make published bugs of real systems happen, and soak the systems: on containers, about two hours
	bin/recount track-record
	bin/recount track-record soak

soak-docker: ## break five containers for five minutes, and look for leaks (SOAK=1h for longer)
	$(GO) test -timeout 24h -count 1 ./docker -run TestSoak -soak $(SOAK) -v

virtual-std: ## run the Go library's own tests of what virtual time patches, without simulation: minutes
	RECOUNT_VIRTUAL_STD=all $(GO) test ./virtual/overlay -run TestStandardLibrary -timeout 60m -v

virtual-same: ## make 500 runs of real processes in virtual time under each policy, and compare them event by event (RUNS=n for others)
	RECOUNT_VIRTUAL_RUNS=$${RUNS:-500} $(GO) test ./virtual/overlay -run TestSameSeedSameEvents -timeout 120m

lint: ## lint with the pinned golangci-lint (the first time it gets built)
	$(GO) tool -modfile=tools/lint/go.mod golangci-lint run ./...

bench: ## measure deciding against plain porcupine and its goals, then the speed of each package
	$(GO) test -count 1 -v ./checkers ./checkers/linear -run '^TestGoals' -goals
	$(GO) test -run '^$$' -bench . -benchmem -benchtime 300ms ./...

golden: ## rewrite the golden files from what the code does now
	$(GO) test ./checkers -run Golden -update
	$(GO) test ./report -run Golden -update
	$(GO) test ./harness/bugs -run PageIsWhatWasMeasured -update

clean: ## remove what was built and what runs left behind
	-test ! -x bin/recount || bin/recount clean --all
	rm -rf bin
