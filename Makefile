# Everything a newcomer needs, and what CI runs. Each target does its own set-up.

GO ?= go
RUNS ?= 1000
SOAK ?= 5m
CHECKS ?= 100000
TIMEOUT ?= 80m
SEED ?= $(shell date +%s)

export CGO_ENABLED = 0

.PHONY: build run test elsewhere test-long examples audit soak hunts soak-docker track-record surroundings arm64 prove mutate planted fuzz lint bench golden clean virtual-std virtual-same help

help: ## list these targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

build: bin/recount ## build bin/recount, static, for this machine

bin/recount: $(shell find . -name '*.go' -not -name '*_test.go') $(shell find docker harness report scenarios serve targets -type f -not -name '*.go') go.mod go.sum
	$(GO) build -trimpath -o $@ ./cmd/recount

run: build ## run scenario ping-pong in simulation: nothing but Go is needed
	bin/recount run ping-pong

test: build ## run the tests, on containers too, but for those that take long: Go and Docker are needed
	$(GO) vet ./...
	$(GO) test -timeout $(TIMEOUT) ./...

elsewhere: ## build for macOS, where all that is simulated and judged runs, too
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/recount

test-long: build ## run every test: every scenario, system and example on containers, about half an hour
	RECOUNT_LONG=1 $(GO) test -timeout 180m ./...

audit: ## look for known holes in what is linked, and for licences that forbid passing it on: vuln.go.dev is asked
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./...
	$(GO) test -count 1 ./cli -run TestLicencesOfDependencies

examples: ## run the tests of the examples, those that take minutes too: Docker and Debian's package tools are needed
	RECOUNT_LONG=1 $(GO) test -timeout 90m ./examples/...

soak: build ## break no promise of any election in 1,000 simulations of each under each fault: an hour (RUNS=n for more)
	$(GO) test -timeout 60m -count 1 ./harness -run TestCorrectElections -runs $(RUNS) -v
	bin/recount matrix --targets targets --seeds $(RUNS) --keep=false

hunts: ## hunt every simulated election, as it is, for 1,000 runs: nothing that is promised may break (RUNS=n for more, SEED=n for the same again)
	$(GO) test -timeout 10h -count 1 ./harness/hunt -run TestNothingIsFound -v -runs $(RUNS) -seed $(SEED)

surroundings: build ## run with an engine that restarts, hangs or drops packets, a full disk, little memory: as root, two minutes
	RECOUNT_SURROUNDINGS=1 $(GO) test -count 1 -v ./cli -run 'TestAnEngine|TestAResultsFolder|TestSixtyFour|TestTwoHundred'

arm64: ## test clocks, and try every fault on containers, on an emulated arm64: as root, with qemu and more of Debian's packages, half an hour
	tools/arm64/machine.sh bin/arm64

prove: ## compare deciding with plain porcupine and with oracles on 100,000 random histories of each kind, 40 minutes of processor (CHECKS=n for more, SEED=n for the same again)
	$(GO) test -timeout 120m -count 1 -v ./checkers ./checkers/linear -run 'Plain|Oracles' -rapid.checks=$(CHECKS) -rapid.seed=$(SEED)

.PHONY: campaign-kills campaign-many campaign-s3 campaign-cluster
campaign-kills: ## kill one of three processes that make a campaign, 50 times: what they find is what one finds
	$(GO) test -timeout 60m -count 1 -v ./harness/campaign -run TestWorkersThatAreKilled -kills 50

campaign-many: ## sum up 100,000 shards' results from a folder in ten seconds of a processor
	$(GO) test -timeout 20m -count 1 -v ./harness/campaign -run TestManyResults -many 100000

bin/versitygw: tools/s3/go.mod
	cd tools/s3 && $(GO) build -trimpath -o ../../bin/versitygw github.com/versity/versitygw/cmd/versitygw

campaign-s3: bin/versitygw ## test campaigns' stores on a real server of S3, built from its module
	rm -rf bin/s3 && mkdir -p bin/s3/data/recount bin/s3/meta
	bin/versitygw --port 127.0.0.1:7071 --access me --secret secretsecret --quiet posix --sidecar $(CURDIR)/bin/s3/meta $(CURDIR)/bin/s3/data & server=$$!; \
	until curl -so /dev/null http://127.0.0.1:7071 || ! kill -0 $$server; do sleep 0.2; done; \
	AWS_ACCESS_KEY_ID=me AWS_SECRET_ACCESS_KEY=secretsecret RECOUNT_TEST_STORE='s3://recount?endpoint=http://127.0.0.1:7071' \
		$(GO) test -count 1 -v ./harness/campaign/store; status=$$?; \
	AWS_ACCESS_KEY_ID=me AWS_SECRET_ACCESS_KEY=secretsecret RECOUNT_TEST_STORE='s3://recount?endpoint=http://127.0.0.1:7071' \
		$(GO) test -count 1 -v ./harness/campaign -run ManyResults -many 100000 || status=$$?; kill $$server; exit $$status

campaign-cluster: bin/versitygw ## test campaigns on a real Kubernetes in containers: Docker and Debian's package tools are needed, and 15 minutes the first time
	tools/kubernetes/node.sh recount/kubernetes:1.34.4
	$(GO) test -timeout 60m -count 1 -v ./cli -run TestCampaignOnACluster -kubernetes recount/kubernetes:1.34.4 -s3 $(CURDIR)/bin/versitygw

mutate: ## flip each decision of the checkers, one at a time: some test must notice; half an hour of processor
	$(GO) test -timeout 180m -count 1 -v ./tools/mutate -mutants=0

planted: ## hunt the bugs that are planted in harness/hunt/testdata/planted, a minute of processor time each (HALF=held for those held back, MATRIX=6 for matrices of so many seeds instead)
	$(GO) run ./tools/planted -half $(or $(HALF),open) $(if $(MATRIX),-matrix $(MATRIX))

track-record: build ## make published bugs of real systems happen, and soak the systems: on containers, about two hours
	bin/recount track-record --docs docs
	bin/recount track-record soak --docs docs

soak-docker: ## break five containers for five minutes, and look for leaks (SOAK=1h for longer)
	$(GO) test -timeout 24h -count 1 ./docker -run TestSoak -soak $(SOAK) -v

virtual-std: ## run the Go library's own tests of what virtual time patches, without simulation: minutes
	RECOUNT_VIRTUAL_STD=all $(GO) test ./virtual/overlay -run TestStandardLibrary -timeout 60m -v

virtual-same: ## make 500 runs of small nodes in virtual time under each policy, and of each real system by each of five seeds, and compare all that they did (RUNS=n for others, SYSTEMS="etcd 3.6.16, dragonboat" for some)
	RECOUNT_VIRTUAL_RUNS=$${RUNS:-500} $(GO) test ./virtual/overlay -run TestSameSeedSameEvents -timeout 120m
	RECOUNT_VIRTUAL_RUNS=$${RUNS:-500} RECOUNT_VIRTUAL_SYSTEMS="$$SYSTEMS" $(GO) test ./harness -run TestSameSeedSameRun -v -timeout 24h

# (A worker that is busy when time is over is told as a failure by "go test", without an input that is kept.)
FUZZ ?= 10m
READERS = targets/specfile/draft:FuzzDraft history:FuzzParse history:FuzzScanner history:FuzzCompressed history/edn:FuzzRead history/jepsen:FuzzEDN history/jepsen:FuzzLog
fuzz: ## mangle histories of each kind, and answers of servers, for ten minutes each: no reader may crash over them (FUZZ=1m for less)
	set -e; for one in $(READERS); do \
		$(GO) test ./$${one%:*} -run '^$$' -fuzz "^$${one#*:}$$" -fuzztime $(FUZZ) -fuzzminimizetime 1x; done

lint: ## lint with the pinned golangci-lint (the first time it gets built)
	$(GO) mod tidy -diff
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
