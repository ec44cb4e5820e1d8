package etcd

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"recount/election"
	"recount/targets/systems"
)

// The register is a key, read and written through the JSON gateway. Any server takes both, and asks the leader, but for reads that
// are to be serializable.

var registerKey = base64.StdEncoding.EncodeToString([]byte("recount/register"))

// Get implements election.Storer.
func (s *system) Get(ctx context.Context, _ election.Member, _ []election.Member, dial election.Dial) (value uint64, err error) {
	var answer struct {
		KVs []struct {
			Value []byte `json:"value"`
		} `json:"kvs"`
	}
	body, err := call(ctx, dial, "/v3/kv/range", fmt.Sprintf(`{"key":%q,"serializable":%t}`, registerKey, s.options.Value("reads") == "serializable"))
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.KVs) == 0 {
		return 0, err
	}
	return strconv.ParseUint(string(answer.KVs[0].Value), 10, 64)
}

// Put implements election.Storer.
func (s *system) Put(ctx context.Context, _ election.Member, _ []election.Member, value uint64, dial election.Dial) error {
	text := base64.StdEncoding.EncodeToString(strconv.AppendUint(nil, value, 10))
	_, err := call(ctx, dial, "/v3/kv/put", fmt.Sprintf(`{"key":%q,"value":%q}`, registerKey, text))
	return err
}

// call posts a question. What nobody could be asked is certain not to have been done.
func call(ctx context.Context, dial election.Dial, path, question string) ([]byte, error) {
	status, body, err := systems.Call(ctx, dial, ClientPort, http.MethodPost, path, question)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s answered %d: %s", path, status, body)
		if bytes.Contains(body, []byte("rpc not supported for learner")) { // said before anything is done
			err = fmt.Errorf("%w: %w", election.ErrRefused, err)
		}
	}
	if err != nil {
		return nil, err
	}
	return body, nil
}
