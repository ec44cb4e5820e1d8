// Misc does one thing, which its first argument names, and prints what came of it.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	_ "net/http/pprof"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"syscall"
	"time"
	"unsafe"
	"weak"

	"golang.org/x/sys/unix"
)

func main() {
	switch what := os.Args[1]; what {
	case "spin-time": // waits in a loop for a time to come
		for began := time.Now(); time.Since(began) < 10*time.Millisecond; {
		}
		fmt.Println("10 ms are over")
	case "spin-yield": // waits in a loop for another goroutine's timer
		done := false
		time.AfterFunc(time.Millisecond, func() { done = true })
		for !done {
			runtime.Gosched()
		}
		fmt.Println("done")
	case "spin-forever":
		for {
		}
	case "goexit": // main's goroutine ends, and the program goes on without it
		go func() { time.Sleep(time.Second); fmt.Println("still here") }()
		runtime.Goexit()
	case "old-timers": // of modules that say go 1.22 or less: a channel keeps a tick past Reset
		timer, tick := time.NewTimer(time.Millisecond), time.NewTicker(10*time.Millisecond)
		time.Sleep(5 * time.Millisecond)
		timer.Reset(time.Hour)
		began := time.Now()
		<-timer.C
		fmt.Println(cap(timer.C), time.Since(began))
		<-tick.C
		select {
		case <-timer.C:
		case <-time.After(time.Minute):
		}
		fmt.Println(time.Since(began), timer.Stop(), len(tick.C))
	case "limits": // of the machine: asked for by a raw system call of more than three arguments
		var files syscall.Rlimit
		fmt.Println(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files), files.Cur, files.Max)
	case "threads": // as Prometheus' client and package pprof count them
		for range 8 { // so that there are more, in a node or not
			go syscall.Nanosleep(&syscall.Timespec{Nsec: 1e6}, nil)
		}
		time.Sleep(time.Second)
		n, ok := runtime.ThreadCreateProfile(nil)
		fmt.Println(n, ok, pprof.Lookup("threadcreate").Count())
	case "metrics": // as Prometheus' client and others tell them
		d := metrics.All()
		all := make([]metrics.Sample, len(d))
		for i := range d {
			all[i].Name = d[i].Name
		}
		metrics.Read(all)
		for _, s := range all {
			if s.Value.Kind() == metrics.KindUint64 && s.Value.Uint64() != 0 {
				fmt.Println(s.Name, s.Value.Uint64())
			}
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Println(m.HeapAlloc/m.HeapObjects, m.NumGC)
	case "garbage": // prints what collections that it asks for find, and in which order
		var found []int
		for range 3 {
			for i := range 500 {
				held := &[100]int{i}
				runtime.SetFinalizer(held, func(held *[100]int) { found = append(found, held[0]) })
				runtime.AddCleanup(&[100]int{i}, func(i int) { found = append(found, -i) }, i)
			}
			seen := weak.Make(&[100]int{1})
			before := time.Now()
			runtime.GC()
			fmt.Println(seen.Value() == nil, time.Since(before))
			time.Sleep(time.Second)
			fmt.Println(len(found) > 900, crc32.ChecksumIEEE(fmt.Append(nil, found)))
			found = nil
		}
	case "locked": // has many threads, if it may, and measures who is blocked
		runtime.SetBlockProfileRate(1)
		runtime.SetMutexProfileFraction(1)
		pprof.Lookup("mutex").WriteTo(io.Discard, 1) // at once: how fast the processor counts is not known by now
		fmt.Println(time.Now().UnixMilli())
		for range 5 {
			var all sync.WaitGroup
			var turn sync.Mutex
			for i := range 40 {
				all.Go(func() {
					runtime.LockOSThread()
					if i%2 == 0 {
						defer runtime.UnlockOSThread()
					}
					turn.Lock()
					time.Sleep(time.Millisecond)
					turn.Unlock()
				})
			}
			all.Wait()
			var heap, block, mutex bytes.Buffer
			pprof.WriteHeapProfile(&heap)
			pprof.Lookup("block").WriteTo(&block, 0)
			pprof.Lookup("mutex").WriteTo(&mutex, 1)
			fmt.Printf("%p %d %s\n", new([100]int), heap.Len(), mutex.String()[:14])
		}
	case "pair":
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		fmt.Println(err)
		go func() { time.Sleep(time.Second); syscall.Write(pair[1], []byte("hello")) }()
		one := os.NewFile(uintptr(pair[0]), "one")
		b := make([]byte, 10)
		n, err := one.Read(b)
		fmt.Println(string(b[:n]), err)
	case "sigterm":
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("got", <-c)
		os.Exit(3)
	case "wait":
		select {}
	case "exec":
		fmt.Println(exec.Command("/bin/true").Run())
	case "panic":
		panic("on purpose")
	case "who":
		host, _ := os.Hostname()
		dir, _ := os.Getwd()
		_, env := os.LookupEnv("RECOUNT_VIRTUAL")
		_, proc := os.Stat("/proc/self/status")
		fmt.Println(host, os.Getpid(), os.Getuid(), dir, env, errors.Is(proc, os.ErrNotExist), runtime.NumCPU())
		ifs, err := net.InterfaceAddrs()
		fmt.Println(ifs, err)
		addrs, err := net.LookupHost("n2")
		fmt.Println(addrs, err)
		b := make([]byte, 8)
		rand.Read(b)
		fmt.Printf("%x\n", b)
	case "pipe":
		r, w, err := os.Pipe()
		check(err)
		go func() { time.Sleep(time.Second); fmt.Fprint(w, "through"); w.Close() }()
		b, err := io.ReadAll(r)
		fmt.Println(string(b), err)
		in, err := io.ReadAll(os.Stdin)
		fmt.Println(len(in), err)
	case "unix":
		l, err := net.Listen("unix", "/tmp.sock")
		check(err)
		go func() {
			c, err := l.Accept()
			check(err)
			s, _ := bufio.NewReader(c).ReadString('\n')
			fmt.Fprint(c, "you said ", s)
			c.Close()
		}()
		c, err := net.Dial("unix", "/tmp.sock")
		check(err)
		fmt.Fprintln(c, "hello")
		b, err := io.ReadAll(c)
		fmt.Print(string(b), err, "\n")
		l.Close()
		_, err = net.Dial("unix", "/tmp.sock")
		fmt.Println(err)
	case "unix-shut": // before anybody has accepted it
		l, err := net.Listen("unix", "/tmp.sock")
		check(err)
		c, err := net.Dial("unix", "/tmp.sock")
		check(err)
		fmt.Fprint(c, "ping")
		check(c.(*net.UnixConn).CloseWrite())
		peer, err := l.Accept()
		check(err)
		b, err := io.ReadAll(peer)
		fmt.Println(string(b), err)
	case "http":
		host, _ := os.Hostname()
		http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(5 * time.Millisecond)
			fmt.Fprintf(w, "%s says %s", host, r.URL.Path)
		})
		go http.ListenAndServe(":80", nil)
		time.Sleep(time.Millisecond)
		for _, url := range []string{"http://n1/a", "http://n2/b", "http://localhost/c", "http://n2:81/"} {
			r, err := http.Get(url)
			if err != nil {
				fmt.Println(err)
				continue
			}
			b, err := io.ReadAll(r.Body)
			fmt.Println(string(b), err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, "GET", "http://10.9.0.77/", nil)
		_, err := http.DefaultClient.Do(r)
		fmt.Println(errors.Is(err, context.DeadlineExceeded))
		time.Sleep(time.Minute)
	case "tcp":
		tcp()
	case "ports": // that it is given, one after the other
		first, least, most, times := 0, 1<<16, 0, map[int]int{}
		for range 28232 {
			l, err := net.Listen("tcp4", "127.0.0.1:0")
			check(err)
			port := l.Addr().(*net.TCPAddr).Port
			l.Close()
			if first == 0 {
				first = port
			}
			least, most = min(least, port), max(most, port)
			times[port]++
		}
		fmt.Println(first, least, most, len(times))
	case "clock":
		fmt.Println(time.Now().UTC())
		time.Sleep(time.Second)
		fmt.Println(time.Now().UTC())
	case "of day":
		var std syscall.Timeval
		var x unix.Timeval
		err := syscall.Gettimeofday(&std)
		sec, terr := syscall.Time(nil)
		fmt.Println(std.Sec, std.Usec, err, sec, terr, unix.Gettimeofday(&x), x.Sec)
		for std.Usec < 10 { // a loop sees it come
			check(syscall.Gettimeofday(&std))
		}
		fmt.Println(std.Usec)
	case "numbers": // of the process and what runs it
		group, err := syscall.Getpgid(0)
		fmt.Println("group", syscall.Getpgrp(), group, err)
		session, err := unix.Getsid(0)
		fmt.Println("session", session, err)
		_, err = unix.Getsid(4711)
		fmt.Println("another's", err)
		nice, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
		fmt.Println("priority", nice, err)
		cpu, part := uint32(9), uint32(9)
		_, _, e := syscall.Syscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), uintptr(unsafe.Pointer(&part)), 0)
		fmt.Println("cpu", cpu, part, e)
		_, err = unix.Setitimer(unix.ITIMER_REAL, unix.Itimerval{Value: unix.Timeval{Usec: 1}})
		fmt.Println("timer", err)
	case "measures": // what is of real time
		var b bytes.Buffer
		fmt.Println(trace.Start(&b))
		time.Sleep(10 * time.Millisecond)
		trace.Stop()
		fmt.Println(trace.NewFlightRecorder(trace.FlightRecorderConfig{}).Start())
		fmt.Println(pprof.StartCPUProfile(&b))
		time.Sleep(10 * time.Millisecond)
		pprof.StopCPUProfile()
		runtime.SetCPUProfileRate(100)
		for _, path := range []string{"profile?seconds=1", "trace?seconds=1"} {
			w := httptest.NewRecorder()
			http.DefaultServeMux.ServeHTTP(w, httptest.NewRequest("GET", "/debug/pprof/"+path, nil))
			fmt.Print(w.Code, " ", w.Body)
		}
		fmt.Println(b.Len())
	case "ipv6":
		_, err := net.Listen("tcp", "[::1]:5000")
		fmt.Println(err)
		l, err := net.Listen("tcp", ":5000")
		fmt.Println(l.Addr(), err)
		_, err = net.Listen("tcp", ":5000")
		fmt.Println(err)
		_, err = net.Dial("tcp", "[::1]:5000")
		fmt.Println(err)
	default:
		panic(what)
	}
}

// tcp shows how connections end.
func tcp() {
	l, err := net.Listen("tcp", ":9")
	check(err)
	pair := func() (a, b *net.TCPConn) {
		c, err := net.Dial("tcp", "127.0.0.1:9")
		check(err)
		d, err := l.Accept()
		check(err)
		return c.(*net.TCPConn), d.(*net.TCPConn)
	}
	b := make([]byte, 100)

	a, d := pair() // half-close
	a.Write([]byte("last words"))
	a.CloseWrite()
	got, err := io.ReadAll(d)
	fmt.Println("half-close:", string(got), err)
	d.Write([]byte("answer"))
	d.Close()
	got, err = io.ReadAll(a)
	fmt.Println("half-close:", string(got), err)

	a, d = pair() // a deadline
	began := time.Now()
	a.SetReadDeadline(began.Add(150 * time.Millisecond))
	_, err = a.Read(b)
	fmt.Println("deadline:", errors.Is(err, os.ErrDeadlineExceeded), time.Since(began))

	d.Write([]byte("unread")) // a reset
	time.Sleep(time.Millisecond)
	a.Close()
	time.Sleep(time.Millisecond)
	_, err = d.Read(b)
	fmt.Println("reset:", errors.Is(err, syscall.ECONNRESET))
	_, err = d.Write(b)
	fmt.Println("reset:", errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET))

	a, d = pair() // more than fits into the buffers
	n := 20 << 20
	go func() {
		p := make([]byte, n)
		k, err := a.Write(p)
		fmt.Println("write:", k, err)
		a.Close()
	}()
	time.Sleep(time.Second)
	k, err := io.Copy(io.Discard, d)
	fmt.Println("read:", k, err)

	a, d = pair() // closed while somebody reads
	go func() { time.Sleep(time.Millisecond); a.Close() }()
	_, err = a.Read(b)
	fmt.Println("closed:", errors.Is(err, net.ErrClosed))

	_, err = net.Dial("tcp", "127.0.0.1:10")
	fmt.Println("refused:", errors.Is(err, syscall.ECONNREFUSED))
	_, err = net.DialTimeout("tcp", "10.9.0.77:10", time.Second)
	var timeout net.Error
	fmt.Println("nobody:", errors.As(err, &timeout) && timeout.Timeout())
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
