package record

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"recount/history"
)

// MessagesFile has what the nodes of a run sent each other, in lines of JSON, each a Message, in the order in which their fates were
// known; compressed where the history is. Runs in virtual time and in containers have one. A simulated run needs none: it can be
// made again, the same byte for byte, with somebody listening.
const MessagesFile = "messages.jsonl"

// Message is something that one node sent another: in virtual time a packet with data in it, or that begins or ends a connection, or
// a message that ends in such a packet; in containers the same where they can be read, and all of a second, as Of tells.
type Message struct {
	From    string        `json:"from"`
	To      string        `json:"to"`
	Sent    time.Duration `json:"sent"`
	Arrived time.Duration `json:"arrived"`        // of a lost one when it was, or Sent where nobody knows
	Lost    string        `json:"lost,omitempty"` // why it was
	Late    string        `json:"late,omitempty"` // what has held it up
	Kind    string        `json:"kind,omitempty"` // "" for bytes that nobody has read
	Term    uint64        `json:"term,omitempty"`
	Words   string        `json:"words"` // all of it
	Port    int           `json:"port,omitempty"`
	Bytes   int64         `json:"bytes,omitempty"`
	Again   bool          `json:"again,omitempty"` // all of it was sent before
	Of      *Traffic      `json:"of,omitempty"`    // what this is the sum of; nil for a single message
}

// Traffic is what passed on a link between the Sent and Arrived of a Message, which counts its Bytes as they left.
type Traffic struct {
	Packets        int64         `json:"packets"` // that left
	PacketsArrived int64         `json:"packets_arrived"`
	BytesArrived   int64         `json:"bytes_arrived"`
	Connections    []Connections `json:"connections,omitempty"` // that From has made to To
	Unread         string        `json:"unread,omitempty"`      // why messages are missing that could have been read; "" if none are
}

// Connections are those to one port.
type Connections struct {
	Port   int `json:"port"`
	Open   int `json:"open"`   // at the end of the second
	Opened int `json:"opened"` // in it, as far as they were still open at its end
	Closed int `json:"closed"` // in it, of those that were open when it began
}

// MostMessages is how many are kept of a run.
const MostMessages = 1_000_000

// MessageWriter writes a run's messages into its folder. It is for one goroutine.
type MessageWriter struct {
	buffer *bufio.Writer
	lines  *json.Encoder
	close  []io.Closer
	count  int
	err    error
}

// CreateMessages begins the MessagesFile of a folder.
func CreateMessages(dir string, compress bool) (*MessageWriter, error) {
	name := filepath.Join(dir, MessagesFile)
	if compress {
		name += Compressed
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	w := &MessageWriter{close: []io.Closer{f}, buffer: bufio.NewWriterSize(f, 64<<10)}
	if compress {
		z := gzip.NewWriter(f)
		w.close, w.buffer = []io.Closer{z, f}, bufio.NewWriterSize(z, 64<<10)
	}
	w.lines = json.NewEncoder(w.buffer)
	w.lines.SetEscapeHTML(false)
	return w, nil
}

// Add writes a message, unless there are MostMessages. What goes wrong Close tells.
func (w *MessageWriter) Add(m *Message) {
	if w.count++; w.err == nil && w.count <= MostMessages {
		w.err = w.lines.Encode(m)
	}
}

// Flush has all that was added so far reach the file, for those who look while the run goes on.
func (w *MessageWriter) Flush() {
	if w.err == nil {
		w.err = w.buffer.Flush()
	}
}

// Left is how many messages there was no room for.
func (w *MessageWriter) Left() int { return max(0, w.count-MostMessages) }

// Close ends the file.
func (w *MessageWriter) Close() error {
	w.Flush()
	err := w.err
	for _, c := range w.close {
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		return fmt.Errorf("keep the messages: %w", err)
	}
	return nil
}

// EachMessage calls f with each message that lies in a run's folder, which must not keep the pointer. The error is fs.ErrNotExist,
// wrapped, where none were kept. Of a file that is being written, or was cut short, all whole lines count.
func EachMessage(folder fs.FS, f func(m *Message)) error {
	file, err := folder.Open(MessagesFile)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = folder.Open(MessagesFile + Compressed)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 256<<10)
	if magic, _ := r.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil // nothing of it is there yet
		}
		r = bufio.NewReaderSize(z, 256<<10)
	}
	for n := 1; n <= MostMessages; n++ {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			line, err = rest(r, bytes.Clone(line))
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		m := Message{}
		if err == nil {
			err = json.Unmarshal(bytes.TrimSpace(line), &m)
		}
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", MessagesFile, n, history.Plain(err))
		}
		f(&m)
	}
	return nil
}

// longestLine is how long a message's line may be, in bytes: a server may have connections to each port there is.
const longestLine = 16 << 20

// rest returns a line that did not fit the reader's buffer, of which there is a part.
func rest(r *bufio.Reader, line []byte) ([]byte, error) {
	for len(line) <= longestLine {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
	return nil, fmt.Errorf("it goes on after %d MiB: want one message a line", longestLine>>20)
}
