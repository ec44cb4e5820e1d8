// Command ledger is an election through a lease, and what the leader is there for: a row that it updates. Neither speaks HTTP.
//
//	ledger store :9000                 the one server that has the lease and the row, on a TCP port
//	ledger candidate NAME STORE TTL    asks the store for the lease, again and again
//	ledger status                      what the candidate in this container says of itself
//	ledger sql STORE STATEMENT         has the store execute one statement, and prints its answer
//
// The store reads one statement a line: "take NAME TTL" takes the lease or renews it, and answers who has it and in which term;
// "update row set value=V, token=T where token<=T" answers how many rows it changed, as without the condition.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// statusAt is where a candidate tells of itself, to nobody but its own container.
const statusAt = "127.0.0.1:9001"

func main() {
	args := append(os.Args[1:], "", "", "", "")
	var err error
	switch args[0] {
	case "store":
		err = newStore("/data/state").serve(args[1])
	case "candidate":
		err = campaign(args[1], args[2], args[3])
	case "status":
		err = show(statusAt, "status")
	case "sql":
		err = show(args[1], args[2])
	default:
		err = fmt.Errorf("unknown word %q", args[0])
	}
	if err != nil {
		log.Fatal(err)
	}
}

// state is what outlives the store's process.
type state struct {
	Holder string
	Term   uint64
	Until  time.Time
	Value  int64
	Token  uint64
}

type store struct {
	file string
	mu   sync.Mutex
	state
}

func newStore(file string) *store {
	s := &store{file: file}
	if b, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(b, &s.state); err != nil {
			log.Fatal(err)
		}
	}
	return s
}

// keep makes the state last, or ends the process.
func (s *store) keep() {
	b, err := json.Marshal(s.state)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.file), 0o755)
	}
	var f *os.File
	if err == nil {
		f, err = os.Create(s.file + ".new")
	}
	if err == nil {
		_, err = f.Write(b)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(s.file+".new", s.file)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func (s *store) serve(at string) error { return answer(at, s.execute) }

var (
	take   = regexp.MustCompile(`^take (\w+) (\w+)$`)
	update = regexp.MustCompile(`^update row set value=(\d+), token=(\d+)( where token<=(\d+))?$`)
)

// execute executes one statement.
func (s *store) execute(statement string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := take.FindStringSubmatch(statement); m != nil {
		ttl, err := time.ParseDuration(m[2])
		if err != nil {
			return "error: " + err.Error()
		}
		now := time.Now()
		if now.After(s.Until) {
			s.Holder, s.Term = m[1], s.Term+1
		}
		if s.Holder == m[1] {
			s.Until = now.Add(ttl)
			s.keep()
		}
		return fmt.Sprintf("%s %d", s.Holder, s.Term)
	}
	if m := update.FindStringSubmatch(statement); m != nil {
		value, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return "error: " + err.Error()
		}
		token, err := strconv.ParseUint(m[2], 10, 64)
		if err != nil {
			return "error: " + err.Error()
		}
		changed := 0
		if m[3] == "" || s.Token <= token {
			changed, s.Value, s.Token = 1, value, token
			s.keep()
		}
		fmt.Printf("update value=%d token=%d rows=%d\n", value, token, changed)
		return fmt.Sprintf("rows: %d", changed)
	}
	return "error: no such statement"
}

// campaign takes the lease and keeps it, and tells who is known to have it until when.
func campaign(name, store, lease string) error {
	ttl, err := time.ParseDuration(lease)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var holder string
	var term uint64
	var until time.Time // by the monotonic clock
	go func() {
		for {
			asked := time.Now()
			if said, err := ask(store, fmt.Sprintf("take %s %s", name, lease), ttl/4); err == nil {
				mu.Lock()
				if _, err := fmt.Sscan(said, &holder, &term); err == nil {
					until = asked.Add(ttl)
				}
				mu.Unlock()
			}
			time.Sleep(ttl / 4)
		}
	}()
	return answer(statusAt, func(string) string {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case time.Now().After(until):
			return fmt.Sprintf("role=follower term=%d leader=nobody", term)
		case holder == name:
			return fmt.Sprintf("role=leader term=%d leader=%s", term, name)
		}
		return fmt.Sprintf("role=follower term=%d leader=%s", term, holder)
	})
}

// answer serves questions of one line each.
func answer(at string, to func(line string) string) error {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return err
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			for lines := bufio.NewScanner(conn); lines.Scan(); {
				if _, err := fmt.Fprintln(conn, to(lines.Text())); err != nil {
					return
				}
			}
		}()
	}
}

// ask asks one question.
func ask(at, line string, within time.Duration) (string, error) {
	conn, err := net.DialTimeout("tcp", at, within)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(within)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintln(conn, line); err != nil {
		return "", err
	}
	said, err := bufio.NewReader(conn).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return said, err
}

func show(at, line string) error {
	said, err := ask(at, line, 5*time.Second)
	if err == nil {
		fmt.Print(said)
	}
	return err
}
