package overlay

// patch is one change of a file of the standard library.
type patch struct {
	file  string // below GOROOT/src; $GOARCH stands for the architecture
	in    string // the text that opens the function, type or variable that the change is in
	match string // what is replaced: a regular expression that matches there once
	with  string // $0 is the match
	why   string
}

// entry is the beginning of a function: a patch that matches it adds to the front of its body.
const entry = `\A(func [^\n]*\{)`

// first puts statements at the front of a function.
func first(file, in, statements, why string) patch {
	return patch{file, in, entry, "$1\n\t" + statements, why}
}

// patches are all changes of files that the standard library has. What is new is in std/. Each is a line or two, and
// does nothing in a process that is not a node.
var patches = []patch{
	// Beginning and end.
	first("runtime/rand.go", "func randinit(", "virtualInit()", "a process finds out that it is a node"),
	first("runtime/proc.go", "func main() {", "defer virtualExit()", "a node's trace is whole when it ends"),
	{"runtime/runtime1.go", "func goenvs_unix(", `(?m)^\t\tenvs\[i\] = .*\n\t\}$`, "$0\n\tvirtualHideEnv()", "the program does not see what makes it a node"},
	{"runtime/proc.go", "func main() {", `(?m)^\t\tdoInit\(m\.inittasks\)$`, "\t\tif !virtual.on {\n\t\t\tdoInit(m.inittasks)\n\t\t}", "init functions run in the bubble"},
	{"runtime/proc.go", "func main() {", `fn := main_main`, "fn := virtualMain", "main runs in the bubble"},

	first("internal/coverage/cfile/hooks.go", "func InitHook(", "return", "the counters of a program that was built with -cover are read in its memory: nothing is written, nor missed"),

	// The bubble.
	{"runtime/synctest.go", "func synctestRun(", `debug\.asynctimerchan\.Load\(\) != 0`, "async := debug.asynctimerchan.Load(); async != 0 && !(virtual.on && async == 1)", "a module that says go 1.22 or less has timers of before Go 1.23; to the runtime they are as those of AfterFunc, which a bubble can have"},
	{"runtime/synctest.go", "func synctestRun(", `(?m)^\tgp\.bubble = bubble$`, "$0\n\tvirtualAttach(gp)", "the program's bubble is known"},
	{"runtime/synctest.go", "func synctestRun(", `(?m)^\t\tgopark\(synctestidle_c, .*$`, "$0\n\t\tfor virtualCollect(gp) {\n\t\t$0\n\t\t}", "garbage is collected while all is quiet, and who waited for that goes on before time does"},
	{"runtime/synctest.go", "func synctestRun(", `(?m)^\t\tnext := bubble\.timers\.wakeTime\(\)$`, "$0\n\t\tif virtual.on && bubble == virtual.bubble && !bubble.done {\n\t\t\tunlock(&bubble.mu)\n\t\t\tnext = virtualStep(gp, next)\n\t\t\tlock(&bubble.mu)\n\t\t}", "an idle node asks its controller how to go on"},
	{"runtime/synctest.go", "func synctestRun(", `(?m)^\t\tbubble\.now = next$`, "$0\n\t\tif virtual.on {\n\t\t\tvirtualLog('T', gp, uint64(virtualtop))\n\t\t}", "the log of events"},
	{"runtime/runtime2.go", "func (w waitReason) isIdleInSynctest() bool {", `return isIdleInSynctest\[w\]`, "$0 || virtualIdle(w)", "who waits for a lock or a socket is idle too, for nobody outside of the bubble can wake it"},

	// Scheduling: one queue, a seeded choice, nothing at once.
	{"runtime/runtime2.go", "type g struct {", `(?m)^\tbubble +\*synctestBubble.*$`, "$0\n\tvirtualid   uint64\n\tvirtualprio int64", "goroutines have numbers and priorities"},
	{"runtime/proc.go", "func newproc1(", `newg\.bubble = callergp\.bubble`, "$0\n\t\tvirtualBorn(newg, callergp)", "goroutines have numbers and priorities"},
	{"runtime/proc.go", "func newproc1(", `(?m)^\tnewg\.goid = .*$`, "$0\n\tif virtualIn(newg) {\n\t\tnewg.goid = virtualID(newg)\n\t}", "the runtime's own goroutines take numbers at real times, and stacks in logs have them"},
	first("runtime/proc.go", "func runqput(", "if virtualPut(gp, next) {\n\t\treturn\n\t}", "a goroutine can run"),
	first("runtime/proc.go", "func globrunqput(", "if virtualPut(gp, false) {\n\t\treturn\n\t}", "a goroutine has yielded"),
	{"runtime/proc.go", "func findRunnable(", `(?m)^\t// Poll network\.$`, "\tif virtual.on {\n\t\tif gp := virtualPick(); gp != nil {\n\t\t\treturn gp, false, false\n\t\t}\n\t}\n\n$0", "the program's goroutines go after the runtime's"},
	{"runtime/proc.go", "func findRunnable(", `(lock\(&sched\.lock\)\n\tif )(sched\.gcwaiting\.Load\(\) \|\| pp\.runSafePointFn != 0 \{)`, "${1}virtualsched.n != 0 || $2", "the P is not given up while goroutines can run"},
	first("runtime/proc.go", "func retake(", "if virtual.on {\n\t\treturn 0\n\t}", "no preemption by real time"),
	first("runtime/select.go", "func selectgo(", "virtualSpin()", "who looks at channels in a loop lets others go on"),
	first("runtime/chan.go", "func chanrecv(", "virtualSpin()", "as for a select"),
	first("runtime/chan.go", "func chansend(", "virtualSpin()", "as for a select"),
	{"runtime/proc.go", "func park_m(", `casgstatus\(gp, _Grunning, _Gwaiting\)`, "if virtualIn(gp) {\n\t\tvirtualLog('P', gp, uint64(gp.waitreason))\n\t}\n\t$0", "the log of events"},
	{"runtime/debug.go", "func NumCPU(", `(?m)^\treturn int\(.*\)$`, "\tif virtual.on {\n\t\treturn int(virtual.h.CPUs)\n\t}\n$0", "the machine is not seen"},
	first("runtime/debug.go", "func GOMAXPROCS(", "if virtualIn(getg()) {\n\t\treturn int(virtual.h.CPUs)\n\t}", "one P, whatever the program wants"),
	first("runtime/proc.go", "func LockOSThread() {", "if virtualIn(getg()) {\n\t\treturn\n\t}", "how many threads are made for those that are locked is chance, and each is on the heap; no thread is unlike another here"),
	first("runtime/proc.go", "func UnlockOSThread() {", "if virtualIn(getg()) {\n\t\treturn\n\t}", "as for who locks"),
	{"runtime/proc.go", "func sysmon() {", `(?m)^\t\tusleep\(delay\)$`, "\t\tif virtual.on {\n\t\t\tdelay = 1e6\n\t\t}\n$0", "what the monitor looks after is not real in a node: to wake it a hundred times a second is for nothing"},

	{"runtime/proc.go", "func findRunnable(", `if (fingStatus\.Load\(\)&\(fingWait\|fingWake\) == fingWait\|fingWake)`, "if !virtualsched.collecting && $1", "how far a collection has come when finalizers begin is chance, and with it their order"},
	{"runtime/proc.go", "func findRunnable(", `if (gcCleanups\.needsWake\(\))`, "if !virtualsched.collecting && $1", "as for finalizers"},

	// Randomness.
	{"runtime/rand.go", "func randinit(", `globalRand\.state\.Init\(\*seed\)`, "if virtual.on {\n\t\tvirtualSeed(seed[:])\n\t}\n\t$0", "hash keys and the place of the heap follow from the seed"},
	first("runtime/rand.go", "func rand() uint64 {", "if virtualIn(getg()) {\n\t\treturn virtualMix(&virtual.program)\n\t}", "math/rand and the seeds of maps follow from the seed"),
	{"runtime/select.go", "func selectgo(", `cheaprandn\(uint32\(norder \+ 1\)\)`, "virtualRandn(uint32(norder + 1))", "a select's choice follows from the seed"},
	{"runtime/time.go", "func (t *timer) maybeAdd()", `t\.rand = cheaprand\(\)`, "t.rand = virtualRandn(1<<32 - 1)", "the order of timers of one instant follows from the seed"},
	{"runtime/iface.go", "func typeAssert(", `cheaprand\(\)&1023 != 0`, "virtual.on || $0", "one assertion in a thousand, by chance, puts what it found into a cache on the heap: addresses and so the order of maps would follow from that"},
	{"runtime/iface.go", "func interfaceSwitch(", `cheaprand\(\)&1023 != 0`, "virtual.on || $0", "as for assertions"},
	first("runtime/vgetrandom_linux.go", "func vgetrandom(", "if virtualFill(p) {\n\t\treturn len(p), true\n\t}", "crypto/rand follows from the seed"),
	{"runtime/alg.go", "func alginit(", `cpu\.X86\.HasAES &&`, "!virtual.on && $0", "hashes are the same on all machines"},
	{"runtime/alg.go", "func alginit(", `GOARCH == "arm64" && cpu\.ARM64\.HasAES`, "!virtual.on && $0", "hashes are the same on all machines"},

	// Time.
	{"runtime/time.go", "func time_runtimeNow(", entry, "$1\n\tif virtualIn(getg()) {\n\t\treturn virtualNow()\n\t}", "a node's wall clock, and a monotonic one with it"},
	first("runtime/time.go", "func time_runtimeNano(", "if virtualIn(getg()) {\n\t\tvirtualRead()\n\t}", "who reads the clock in a loop sees it move"),
	{"runtime/sema.go", "func internal_sync_nanotime(", `return nanotime\(\)`, "if gp := getg(); virtualIn(gp) {\n\t\treturn gp.bubble.now\n\t}\n\t$0", "a mutex starves by virtual time"},
	{"runtime/traceback.go", "func printArgs(", `print\(hex\(x\)\)`, "if virtual.on && !isLive(off, slotIdx) {\n\t\t\tx = 0\n\t\t}\n\t\t$0", "what has been left where an argument no longer is may be an address that is chance, and stacks in logs have it"},
	{"runtime/netpoll.go", "func (c *pollCache) alloc()", `persistentalloc\((n\*pdSize, \w+), &memstats\.other_sys\)`, "virtualLasting($1)", "where the kernel puts memory is chance, and stacks in logs have the addresses of descriptors"},
	{"runtime/iface.go", "func getitab(", `persistentalloc\((unsafe\.Sizeof.*, 0), &memstats\.other_sys\)`, "virtualLasting($1)", "as for descriptors: interfaces are arguments, too"},
	{"runtime/netpoll.go", "func poll_runtime_pollSetDeadline(", `d \+= nanotime\(\)`, "d += virtualDeadline(pd)", "deadlines of sockets are in virtual time"},

	first("runtime/runtime.go", "func ticksPerSecond() int64 {", "if virtual.on {\n\t\treturn 1e9\n\t}", "it is measured in real time, and who asks early waits in virtual time until some of that has passed"),

	// Descriptors and signals.
	first("runtime/netpoll.go", "func poll_runtime_pollServerInit(", "if virtual.on {\n\t\treturn\n\t}", "nothing real is waited for"),
	first("runtime/netpoll_epoll.go", "func netpollopen(", "if virtual.on {\n\t\treturn virtualPollOpen(fd, pd)\n\t}", "simulated sockets are waited for"),
	first("runtime/netpoll_epoll.go", "func netpollclose(", "if virtual.on {\n\t\treturn virtualPollClose(fd)\n\t}", "simulated sockets are waited for"),
	{"runtime/sigqueue.go", "func signal_recv(", `(?m)^\t\t// Wait for updates to be available from signal sender\.\n\tReceive:\n`, "\t\tif virtual.on {\n\t\t\tvirtualReceive()\n\t\t}\n$0", "signals come from the controller"},
	{"runtime/sigqueue.go", "func signal_recv(", `(?m)^(\tReceive:\n\t\tfor )\{$`, "${1}!virtual.on {", "signals come from the controller"},
	{"runtime/sigqueue.go", "func signal_enable(", `(?m)^\tsigenable\(s\)$`, "\tif !virtual.on {\n\t\tsigenable(s)\n\t}", "signals come from the controller"},
	{"runtime/sigqueue.go", "func signal_disable(", `(?m)^\tsigdisable\(s\)$`, "\tif !virtual.on {\n\t\tsigdisable(s)\n\t}", "signals come from the controller"},
	{"runtime/sigqueue.go", "func signal_ignore(", `(?m)^\tsigignore\(s\)$`, "\tif !virtual.on {\n\t\tsigignore(s)\n\t}", "signals come from the controller"},
	first("runtime/sigqueue.go", "func signalWaitUntilIdle(", "if virtual.on {\n\t\treturn\n\t}", "signals come from the controller"),

	// Memory.
	first("runtime/mgc.go", "func GC() {", "if virtualIn(getg()) {\n\t\tvirtualGC()\n\t\treturn\n\t}", "collections only while all is quiet"),
	{"runtime/mgcsweep.go", "func bgsweep(", `for sweepone\(\) != \^uintptr\(0\)`, "for !virtual.on && sweepone() != ^uintptr(0)", "who collects sweeps all: what a second one would is chance, and so whether its stack grows"},
	first("runtime/mgcpacer.go", "func setGCPercent(", "if virtualIn(getg()) {\n\t\treturn 100\n\t}", "collections only where the program's own doing puts them"),
	first("runtime/mgcpacer.go", "func setMemoryLimit(", "if virtualIn(getg()) {\n\t\treturn 1<<63 - 1\n\t}", "collections only where the program's own doing puts them"),
	first("runtime/mgcwork.go", "func getempty(", "if virtual.on && work.empty == 0 {\n\t\tvirtualWorkbufs()\n\t}", "how much the collector has to remember depends on real time: it must not take pages of the heap"),
	first("runtime/mheap.go", "func (h *mheap) initSpan(", "virtualSpan(base, base+npages*pageSize)", "no memory is used twice: what the collector frees depends on chance"),
	first("runtime/mgcscavenge.go", "func (s *scavengerState) wake()", "if virtual.on {\n\t\treturn\n\t}", "the scavenger allocates at real times"),
	first("runtime/stack.go", "func gcComputeStartingStackSize(", "if virtual.on {\n\t\tstartingStackSize = virtualStackSize\n\t\treturn\n\t}", "how large stacks begin depends on what collections find"),
	{"runtime/mfinal.go", "func runFinalizers()", `(?m)^(\t+)reflectcall\(.*\)$`, "${1}virtualFinalizers(true)\n$0\n${1}virtualFinalizers(false)", "finalizers use the program's channels"},
	{"runtime/mcleanup.go", "func runCleanups()", `(?m)^(\t+)(c\.call\(c\.fn, c\.arg\)|cleanup\(\))$`, "${1}virtualFinalizers(true)\n$0\n${1}virtualFinalizers(false)", "cleanups use the program's channels"},

	// What it measures of itself.
	first("runtime/mstats.go", "func ReadMemStats(", "if virtualIn(getg()) {\n\t\tvirtualMemStats(m)\n\t\treturn\n\t}", "servers tell what memory they have"),
	first("runtime/mstats.go", "func readGCStats(", "if virtualIn(getg()) {\n\t\tvirtualGCStats(pauses)\n\t\treturn\n\t}", "servers tell how long collections took"),
	{"runtime/metrics.go", "func readMetricsLocked(", `(?m)^\t\tdata\.compute\(.*\)$`, "$0\n\t\tif virtual.on {\n\t\t\tvirtualMetric(sample.name, &sample.value)\n\t\t}", "servers tell of memory, collections and the scheduler"},
	first("runtime/mprof.go", "func threadCreateProfileInternal(", "if virtualIn(getg()) {\n\t\treturn virtualThreads(size, copyFn)\n\t}", "how many threads there are is a matter of real time, and Prometheus' client tells it"),
	first("expvar/expvar.go", "func memstats(", "if virtualOn() {\n\t\treturn virtualMeasured().stats\n\t}", "numbers of memory are constants, and are made once"),
	{"expvar/expvar.go", "func (f Func) String()", `json\.Marshal\(f\(\)\)`, "virtualMarshal(f(), json.Marshal)", "numbers of memory are constants, and so is their text"},
	first("runtime/trace.go", "func StartTrace(", "if virtualIn(getg()) {\n\t\treturn virtualRefuse(\"to trace its execution\")\n\t}", "who advances traces does so in real time, outside of the bubble"),
	first("runtime/cpuprof.go", "func SetCPUProfileRate(", "if virtualIn(getg()) {\n\t\treturn\n\t}", "a profile is of real time"),
	first("runtime/mprof.go", "func memProfileInternal(", "if virtualIn(getg()) {\n\t\treturn 0, true\n\t}", "a profile of the heap would tell of what the runtime allocated before the program began, which is chance"),
	first("runtime/mprof.go", "func SetBlockProfileRate(", "if virtualIn(getg()) {\n\t\treturn\n\t}", "how long goroutines were blocked is real time, and such a profile would be of another length each time: it is empty"),
	first("runtime/mprof.go", "func SetMutexProfileFraction(", "if virtualIn(getg()) {\n\t\treturn 0\n\t}", "as for who is blocked"),
	first("runtime/pprof/pprof.go", "func StartCPUProfile(", "if err := virtualProfile(); err != nil {\n\t\treturn err\n\t}", "a profile is of real time: who reads it would wait for that"),

	// System calls.
	{"syscall/syscall_linux.go", "func Syscall(", entry, "$1\n\tif virtualTakes(trap) {\n\t\treturn virtualCall(trap, a1, a2, a3, 0, 0, 0)\n\t}", "a node's kernel is simulated"},
	{"syscall/syscall_linux.go", "func Syscall6(", entry, "$1\n\tif virtualTakes(trap) {\n\t\treturn virtualCall(trap, a1, a2, a3, a4, a5, a6)\n\t}", "a node's kernel is simulated"},
	{"syscall/syscall_linux.go", "func RawSyscall6(", entry, "$1\n\treturn virtualRoute(trap, a1, a2, a3, a4, a5, a6)\n}\n\n//go:uintptrkeepalive\n//go:nosplit\nfunc virtualRaw(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, err Errno) {", "a node's kernel is simulated; RawSyscall comes here, too"},
	{"internal/syscall/unix/fcntl_unix.go", "func Fcntl(", `val, errno := fcntl\(.*`, "r, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(fd), uintptr(cmd), uintptr(arg))\n\tval := int32(r)", "it asks the runtime, which knows of no simulated descriptors"},
	{"syscall/asm_linux_amd64.s", "TEXT ·gettimeofday(SB)", `TEXT ·gettimeofday`, "TEXT ·virtualRealTimeofday", "it asks the kernel's memory, and no system call is made"},
	{"syscall/syscall_linux_amd64.go", "//go:noescape\nfunc gettimeofday(", `(?m)^func gettimeofday`, "func virtualRealTimeofday", "it asks the kernel's memory, and no system call is made"},
	first("syscall/exec_unix.go", "func forkExec(", "if virtualOn {\n\t\treturn 0, virtualRefuse(\"to start \"+argv0, EPERM)\n\t}", "a process that is started would live in real time"),
	first("syscall/exec_unix.go", "func Exec(", "if virtualOn {\n\t\treturn virtualRefuse(\"to become \"+argv0, EPERM)\n\t}", "a process that is started would live in real time"),
	first("syscall/zsyscall_linux_$GOARCH.go", "func Getpid(", "if virtualOn {\n\t\treturn 1\n\t}", "numbers of processes are chance; some seed from them"),
	first("syscall/zsyscall_linux_$GOARCH.go", "func Getppid(", "if virtualOn {\n\t\treturn 0\n\t}", "numbers of processes are chance"),
	first("syscall/zsyscall_linux_$GOARCH.go", "func Gettid(", "if virtualOn {\n\t\treturn 1\n\t}", "numbers of threads are chance"),
	first("syscall/zsyscall_linux_$GOARCH.go", "func Getuid(", "if virtualOn {\n\t\treturn 0\n\t}", "who runs it is not seen"),
	first("syscall/zsyscall_linux_$GOARCH.go", "func Geteuid(", "if virtualOn {\n\t\treturn 0\n\t}", "who runs it is not seen"),
	first("syscall/zsyscall_linux_$GOARCH.go", "func Getgid(", "if virtualOn {\n\t\treturn 0\n\t}", "who runs it is not seen"),
	first("syscall/zsyscall_linux_$GOARCH.go", "func Getegid(", "if virtualOn {\n\t\treturn 0\n\t}", "who runs it is not seen"),
}
