# Everything a newcomer needs, and what CI runs. Each target does its own set-up.

GO ?= go
RUNS ?= 1000

export CGO_ENABLED = 0

.PHONY: build run test soak lint bench golden clean help

help: ## list these targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

build: bin/recount ## build bin/recount, static, for this machine

bin/recount: $(shell find . -name '*.go' -not -name '*_test.go') $(shell find docker report scenarios -type f -not -name '*.go') go.mod go.sum
	$(GO) build -trimpath -o $@ ./cmd/recount

run: build ## run scenario ping-pong in simulation: nothing but Go is needed
	bin/recount run ping-pong

test: build ## run every test, those on containers too: Go and Docker are needed
	$(GO) vet ./...
	$(GO) test -timeout 30m ./...

soak: ## run 1,000 random-fault simulations of each correct election (RUNS=n for more)
	$(GO) test -timeout 60m -count 1 ./harness -run TestCorrectElections -runs $(RUNS) -v

lint: ## lint with the pinned golangci-lint (the first time it gets built)
	$(GO) tool -modfile=tools/go.mod golangci-lint run ./...

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

golden: ## rewrite the golden files from what the code does now
	$(GO) test ./checkers -run Golden -update
	$(GO) test ./report -run Golden -update

clean: ## remove what was built and what runs left behind
	-test ! -x bin/recount || bin/recount clean --all
	rm -rf bin
