// Command static is a program that the tests skew: it tells its clocks, and watches that they keep their promises.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 {
		return
	}
	fmt.Println(0, 0) // here it is
	began := time.Now()
	var ticks, last atomic.Int64
	for range 3 { // time that has passed since a time that was read before is never negative
		go func() {
			for {
				seen := last.Load()
				now := int64(time.Since(began))
				if now < seen {
					fmt.Printf("the monotonic clock went back by %v\n", time.Duration(seen-now))
					os.Exit(1)
				}
				last.CompareAndSwap(seen, now)
				time.Sleep(50 * time.Microsecond)
			}
		}()
	}
	go func() {
		for range time.Tick(time.Millisecond) {
			ticks.Add(1)
		}
	}()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var how string
		var ms int
		if n, _ := fmt.Sscan(lines.Text(), &how, &ms); n == 2 {
			wait(how, time.Duration(ms)*time.Millisecond)
			fmt.Println(0, 0)
			continue
		}
		switch lines.Text() {
		case "read":
			now := time.Now()
			fmt.Println(now.UnixNano(), int64(now.Sub(began)))
		case "ticks":
			fmt.Println(ticks.Load(), 0)
		case "cost": // nanoseconds a reading, in thousandths
			const n = 1_000_000
			began := time.Now()
			for range n {
				_ = time.Now()
			}
			fmt.Println(time.Since(began).Nanoseconds()*1000/n, 0)
		case "exec": // go on as another program
			if err := syscall.Exec(os.Args[0], os.Args, os.Environ()); err != nil {
				fmt.Println(err)
			}
		case "child": // have children come and go
			if err := exec.Command(os.Args[0], "nothing").Run(); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			fmt.Println(0, 0)
		}
	}
}

// wait waits in each way that there is.
func wait(how string, d time.Duration) {
	switch how {
	case "sleep":
		time.Sleep(d)
	case "condition":
		ctx, cancel := context.WithTimeout(context.Background(), d)
		<-ctx.Done()
		cancel()
	case "timer":
		<-time.NewTimer(d).C
	}
}
