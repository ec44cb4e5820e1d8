// Ping talks to the other nodes by UDP and TCP, and writes to a file, with random pauses, and prints what it sees in the order of a map.
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

func main() {
	me, err := os.Hostname()
	check(err)
	udp, err := net.ListenPacket("udp", ":700")
	check(err)
	tcp, err := net.Listen("tcp", ":7000")
	check(err)
	seen := make(chan string)
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := udp.ReadFrom(b)
			check(err)
			if string(b[:n]) == "ping" {
				time.Sleep(time.Duration(rand.Intn(3000)) * time.Microsecond)
				_, err := udp.WriteTo([]byte("pong"), from)
				check(err)
			}
			seen <- fmt.Sprintf("udp %v %s", from, b[:n])
		}
	}()
	go func() {
		for {
			c, err := tcp.Accept()
			check(err)
			go func() {
				defer c.Close()
				for r := bufio.NewReader(c); ; {
					s, err := r.ReadString('\n')
					if err != nil {
						seen <- fmt.Sprintf("tcp from %v %v", c.RemoteAddr(), err)
						return
					}
					time.Sleep(time.Duration(rand.Intn(2000)) * time.Microsecond)
					fmt.Fprintf(c, "echo %s", s)
				}
			}()
		}
	}()
	for _, other := range []string{"n1", "n2", "n3"} {
		if other == me {
			continue
		}
		addr, err := net.ResolveUDPAddr("udp", other+":700")
		check(err)
		go func() {
			for {
				time.Sleep(time.Duration(rand.Intn(50)) * time.Millisecond)
				_, err := udp.WriteTo([]byte("ping"), addr)
				check(err)
			}
		}()
		go dial(other, seen)
	}
	var mu sync.Mutex
	counts := map[string]int{}
	shared := map[*int]string{}
	for i := range 3 {
		go func() {
			for {
				mu.Lock()
				if rand.Intn(10) == 0 {
					time.Sleep(time.Millisecond) // others contend meanwhile
				}
				shared[new(int)] = strings.Repeat("x", i)
				if len(shared) > 50 {
					for k := range shared {
						delete(shared, k)
						break
					}
				}
				mu.Unlock()
				time.Sleep(time.Duration(rand.Intn(10)) * time.Millisecond)
			}
		}()
	}
	log, err := os.Create("/log")
	check(err)
	for i := range 3 {
		go func() {
			for {
				fmt.Fprintln(log, i) // which waits while another syncs
				if rand.Intn(3) == 0 {
					check(log.Sync())
				}
				time.Sleep(time.Duration(rand.Intn(3000)) * time.Microsecond)
			}
		}()
	}
	tick := time.NewTicker(time.Second)
	for n := 0; ; n++ {
		select {
		case s := <-seen:
			counts[s]++
		case <-tick.C:
			order := ""
			for k, v := range counts {
				if order += fmt.Sprint(k, "=", v, ";"); len(order) > 80 {
					break
				}
			}
			mu.Lock()
			for _, v := range shared {
				order += fmt.Sprint(len(v))
			}
			mu.Unlock()
			fmt.Printf("%s %v %d %q\n", me, time.Now().UnixMicro(), n, order)
		}
	}
}

func dial(other string, seen chan<- string) {
	for {
		c, err := net.DialTimeout("tcp", other+":7000", 2*time.Second)
		if err != nil {
			seen <- "dial: " + err.Error()
			time.Sleep(100 * time.Millisecond)
			continue
		}
		r := bufio.NewReader(c)
		for range rand.Intn(20) {
			fmt.Fprintf(c, "hello %d\n", rand.Intn(1000))
			c.SetReadDeadline(time.Now().Add(time.Second))
			s, err := r.ReadString('\n')
			if err != nil {
				seen <- "tcp: " + err.Error()
				break
			}
			seen <- "tcp " + s
			time.Sleep(time.Duration(rand.Intn(20)) * time.Millisecond)
		}
		c.Close()
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
