// Command member is the executable of the test's image: the agent, the anchor, and a node that does what the test tells
// it over TCP and tells what it sees of the network from within.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"recount/docker/agent"
)

var (
	began  = time.Now()
	hogged [][]byte
)

func main() {
	switch os.Args[1] {
	case "agent":
		if err := agent.Run(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "anchor":
		check(agent.Anchor(os.Args[2:]))
	case "release":
		if err := agent.Release(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "idle":
		time.Sleep(math.MaxInt64)
	case "hang": // with what it has started
		check(exec.Command(os.Args[0], "idle").Start())
		time.Sleep(math.MaxInt64)
	case "fail":
		fmt.Println("cannot go on")
		os.Exit(3)
	case "beat":
		beat(os.Args[2])
	case "member":
		member(os.Args[2])
	}
}

// member serves commands on TCP port 7000, one line each, and takes datagrams on UDP port 7000.
func member(data string) {
	fmt.Printf("life %d of %s\n", lives(data), hostname())
	udp, err := net.ListenPacket("udp", ":7000")
	check(err)
	tcp, err := net.Listen("tcp", ":7000")
	check(err)
	var mu sync.Mutex
	var heard []string
	go func() {
		for b := make([]byte, 100); ; {
			n, from, err := udp.ReadFrom(b)
			check(err)
			if bytes.HasPrefix(b[:n], []byte("ping")) { // is sent back
				udp.WriteTo(b[:n], from)
				continue
			}
			mu.Lock()
			heard = append(heard, string(b[:n]))
			mu.Unlock()
		}
	}()
	for {
		conn, err := tcp.Accept()
		check(err)
		go func() {
			defer conn.Close()
			for lines := bufio.NewScanner(conn); lines.Scan(); {
				verb, rest, _ := strings.Cut(lines.Text(), " ")
				answer := "ok"
				switch verb {
				case "ping":
				case "lives":
					answer = strconv.Itoa(lives(""))
				case "stay": // from now on it does not end when it is asked to
					signal.Ignore(syscall.SIGTERM)
				case "dawdle": // when it is asked to end it takes a while, and exits with status 7
					asked := make(chan os.Signal, 1)
					signal.Notify(asked, syscall.SIGTERM)
					go func() {
						<-asked
						time.Sleep(time.Second)
						os.Exit(7)
					}()
				case "clock": // what the wall clock tells, and how long this process has lived by the monotonic one
					now := time.Now()
					answer = fmt.Sprint(now.UnixNano(), " ", int64(now.Sub(began)))
				case "hostile":
					if err := hostile(data, rest); err != nil {
						answer = err.Error()
					}
				case "where": // it began
					dir, err := os.Getwd()
					check(err)
					answer = dir
				case "processes":
					answer = processes()
				case "sockets":
					answer = sockets()
				case "log": // to a file, without a sync
					f, err := os.OpenFile(os.Args[2]+"/log", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
					if err == nil {
						_, err = fmt.Fprintln(f, rest)
						err = errors.Join(err, f.Close())
					}
					answer = fmt.Sprint(err)
				case "rotate":
					answer = fmt.Sprint(os.Rename(os.Args[2]+"/log", os.Args[2]+"/log.1"))
				case "say":
					fmt.Println(rest)
				case "exit":
					code, _ := strconv.Atoi(rest)
					os.Exit(code)
				case "hog": // so many MiB of memory, and keep them
					n, err := strconv.Atoi(rest)
					check(err)
					hogged = append(hogged, bytes.Repeat([]byte{1}, n<<20))
				case "spin": // from now on it wants all the time of a processor
					go func() {
						for {
						}
					}()
				case "spent": // how much of it the process has used
					var u syscall.Rusage
					check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
					answer = strconv.FormatInt(u.Utime.Nano()+u.Stime.Nano(), 10)
				case "beat": // has a child process send datagrams to an address, on and on
					check(exec.Command(os.Args[0], "beat", rest).Start())
				case "tell": // a datagram to an address
					to, text, _ := strings.Cut(rest, " ")
					addr, err := net.ResolveUDPAddr("udp", to)
					check(err)
					if _, err := udp.WriteTo([]byte(text), addr); err != nil {
						answer = err.Error()
					}
				case "join": // a group, with a port: what is sent to it is heard from now on
					addr, err := net.ResolveUDPAddr("udp4", rest)
					check(err)
					group, err := net.ListenMulticastUDP("udp4", nil, addr)
					check(err)
					go func() {
						for b := make([]byte, 100); ; {
							n, _, err := group.ReadFrom(b)
							check(err)
							mu.Lock()
							heard = append(heard, string(b[:n]))
							mu.Unlock()
						}
					}()
				case "tap": // read all packets off the interfaces, as libpcap does
					const all = 0x0300 // ETH_P_ALL, in the network's order
					if _, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW, all); err != nil {
						answer = err.Error()
					}
				case "heard":
					mu.Lock()
					answer = strings.Join(heard, ",")
					mu.Unlock()
				case "beats": // how many datagrams were heard
					mu.Lock()
					answer = strconv.Itoa(len(heard))
					mu.Unlock()
				case "listen": // to an address, and hang up on who comes
					l, err := net.Listen("tcp", rest)
					check(err)
					go func() {
						for {
							c, err := l.Accept()
							check(err)
							c.Close()
						}
					}()
				case "connect": // whether a TCP connection to an address comes about, however busy the machine is
					answer = connect(rest, 20*time.Second)
				case "knock": // the same, where none is expected
					answer = connect(rest, 300*time.Millisecond)
				case "echo": // so many datagrams to an address, how long to wait, and what became of them and of what came back
					words := strings.Fields(rest)
					n, err := strconv.Atoi(words[1])
					check(err)
					wait, err := time.ParseDuration(words[2])
					check(err)
					answer = echo(words[0], n, wait)
				case "write": // a text to a file in the data folder, and whether to sync it
					text, sync, _ := strings.Cut(rest, " ")
					if err := write(data, text, sync == "sync"); err != nil {
						answer = err.Error()
					}
				case "disk":
					answer = onDisk(data, rest)
				case "read":
					b, _ := os.ReadFile(data + "/text")
					answer = string(b)
				case "send": // a line over TCP to an address, and the answer
					addr, text, _ := strings.Cut(rest, " ")
					answer = send(addr, text)
				}
				fmt.Fprintln(conn, answer)
			}
		}()
	}
}

func beat(addr string) {
	conn, err := net.Dial("udp4", addr)
	check(err)
	for {
		conn.Write([]byte("beat"))
		time.Sleep(time.Millisecond)
	}
}

// echo sends datagrams that are sent back, a millisecond apart, and waits a while after the last, or until all are there. It tells how many came, how many once more, how many before an earlier one, the time from the first to the last, and
// of each that came how long it was away, in nanoseconds.
func echo(addr string, n int, wait time.Duration) string {
	conn, err := net.Dial("udp", addr)
	check(err)
	defer conn.Close()
	sent, back := make([]time.Time, n), make([]time.Duration, n)
	got, twice, early, last := 0, 0, 0, 0
	all := time.Duration(0)
	take := func(until time.Time) bool {
		b := make([]byte, 100)
		conn.SetReadDeadline(until)
		k, err := conn.Read(b)
		if err != nil {
			return false
		}
		now := time.Now()
		var i int
		fmt.Sscanf(string(b[:k]), "ping %d", &i)
		if back[i] > 0 {
			twice++
			return true
		}
		got++
		if i < last {
			early++
		}
		last, back[i], all = max(last, i), max(1, now.Sub(sent[i])), now.Sub(sent[0])
		return true
	}
	for i := range n {
		sent[i] = time.Now()
		fmt.Fprintf(conn, "ping %d", i)
		for take(sent[i].Add(time.Millisecond)) {
		}
	}
	for end := time.Now().Add(wait); got < n && take(end); {
	}
	for take(time.Now().Add(50 * time.Millisecond)) { // what comes twice
	}
	answer := fmt.Sprint(got, " ", twice, " ", early, " ", int64(all))
	for _, d := range back {
		if d > 0 {
			answer += fmt.Sprint(" ", int64(d))
		}
	}
	return answer
}

func write(data, text string, sync bool) error {
	f, err := os.Create(data + "/text")
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = f.WriteString(text); err == nil && sync {
		err = f.Sync()
	}
	return err
}

func connect(addr string, within time.Duration) string {
	c, err := net.DialTimeout("tcp", addr, within)
	if err != nil {
		return err.Error()
	}
	c.Close()
	return "ok"
}

func send(addr, text string) string {
	c, err := net.Dial("tcp4", addr)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	fmt.Fprintln(c, text)
	answer, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(answer)
}

var life int

// lives counts how often a node of this data folder has begun to live.
func lives(data string) int {
	if life > 0 || data == "" {
		return life
	}
	b, _ := os.ReadFile(data + "/lives")
	before, _ := strconv.Atoi(string(b))
	life = before + 1
	check(os.WriteFile(data+"/lives", []byte(strconv.Itoa(life)), 0o644))
	return life
}

func hostname() string {
	name, err := os.Hostname()
	check(err)
	return name
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
