package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"recount/internal/hint"
)

// api is as much of a cluster's as a Client asks for: it keeps what it is given, and refuses what it is told to.
type api struct {
	kept    map[string]map[string]any // by path
	refuses map[string]string         // messages by method and resource: "POST jobs"
	loses   string                    // what is done, and not answered
	asked   []string
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/")
	at := r.URL.Path
	resource := parts[len(parts)-1]
	if r.Method != http.MethodPost {
		resource = parts[len(parts)-2]
	}
	a.asked = append(a.asked, r.Method+" "+resource)
	status := func(code int, reason, message string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":%q,"code":%d}`, reason, message, code)
	}
	if message := a.refuses[r.Method+" "+resource]; message != "" {
		status(http.StatusForbidden, "Forbidden", message)
		return
	}
	var body map[string]any
	text, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(text, &body)
	switch r.Method {
	case http.MethodPost:
		meta := body["metadata"].(map[string]any)
		meta["uid"] = "uid-of-" + resource
		if at += "/" + meta["name"].(string); a.kept[at] != nil {
			status(http.StatusConflict, "AlreadyExists", "it is there")
			return
		}
		a.kept[at] = body
	case http.MethodPut:
		a.kept[at] = body
	default:
		if body = a.kept[at]; body == nil {
			status(http.StatusNotFound, "NotFound", "nothing of that name")
			return
		}
		if r.Method == http.MethodDelete {
			delete(a.kept, at)
		}
	}
	if a.loses == r.Method+" "+resource {
		status(http.StatusGatewayTimeout, "Timeout", "no answer in time")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// dialled is a client of a made-up cluster.
func dialled(t *testing.T) (*Client, *api) {
	a := &api{kept: map[string]map[string]any{}, refuses: map[string]string{}}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(file, []byte(fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c",
		"clusters":[{"name":"c","cluster":{"server":%q}}],"contexts":[{"name":"c","context":{"cluster":"c","namespace":"ours"}}]}`, server.URL)), 0o644))
	c, err := Dial(file, "", "")
	require.NoError(t, err)
	return c, a
}

func secret() *corev1.Secret {
	return &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Name: "recount-x"}}
}

func TestTheSecretGoesWithItsJob(t *testing.T) {
	c, a := dialled(t)
	m, err := job().Manifest()
	require.NoError(t, err)
	for range 2 { // a Job that is there goes on
		require.NoError(t, c.Create(t.Context(), m, secret()))
		owners := a.kept["/api/v1/namespaces/ours/secrets/recount-x"]["metadata"].(map[string]any)["ownerReferences"]
		require.Equal(t, "uid-of-jobs", owners.([]any)[0].(map[string]any)["uid"])
	}
	require.Less(t, strings.Index(strings.Join(a.asked, ","), "POST secrets"), strings.Index(strings.Join(a.asked, ","), "POST jobs"), "pods look for it")
	runs, err := c.Runs(t.Context(), m.Name)
	require.NoError(t, err)
	require.True(t, runs)
	a.kept["/apis/batch/v1/namespaces/ours/jobs/recount-x"]["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Complete", "status": "True"}}}
	runs, err = c.Runs(t.Context(), m.Name)
	require.NoError(t, err)
	require.False(t, runs)
	for _, there := range []bool{true, false} {
		stopped, err := c.Stop(t.Context(), m.Name)
		require.NoError(t, err)
		require.Equal(t, there, stopped)
		require.Empty(t, a.kept)
	}
	runs, err = c.Runs(t.Context(), m.Name)
	require.NoError(t, err)
	require.False(t, runs)
}

// A quota is looked at before names are: whoever asks for a Job again that runs is refused, and it keeps its Secret. So does one whose
// making was not answered.
func TestAJobThatRunsKeepsItsSecret(t *testing.T) {
	for _, again := range []bool{true, false} {
		c, a := dialled(t)
		m, err := job().Manifest()
		require.NoError(t, err)
		if again {
			require.NoError(t, c.Create(t.Context(), m, secret()))
			a.refuses["POST jobs"] = "jobs.batch \"recount-x\" is forbidden: exceeded quota: few, requested: count/jobs.batch=1"
		} else {
			a.loses = "POST jobs"
		}
		require.NoError(t, c.Create(t.Context(), m, secret()))
		owners := a.kept["/api/v1/namespaces/ours/secrets/recount-x"]["metadata"].(map[string]any)["ownerReferences"]
		require.Equal(t, "uid-of-jobs", owners.([]any)[0].(map[string]any)["uid"])
	}
	c, a := dialled(t)
	a.refuses["GET jobs"] = "jobs.batch is forbidden: User \"nobody\" cannot get resource"
	m, err := job().Manifest()
	require.NoError(t, err)
	require.ErrorContains(t, c.Create(t.Context(), m, secret()), "refuses to look at Job recount-x")
	require.Empty(t, a.kept)
}

func TestRefusalsOfAClusterHaveAWayOut(t *testing.T) {
	for message, way := range map[string]string{
		"jobs.batch \"recount-x\" is forbidden:\n exceeded quota: few, requested: count/jobs.batch=1": "ask for less",
		"jobs.batch is forbidden: User \"nobody\" cannot create resource":                             "docs/campaigns.md",
	} {
		c, a := dialled(t)
		a.refuses["POST jobs"] = message
		m, err := job().Manifest()
		require.NoError(t, err)
		err = c.Create(t.Context(), m, secret())
		require.ErrorContains(t, err, "refuses to make Job recount-x")
		require.NotContains(t, err.Error(), "\n")
		require.Contains(t, hint.Of(err), way)
		require.Empty(t, a.kept, "no Secret is left without its Job")
	}
	at := func(second int64, message string) corev1.Event {
		return corev1.Event{Message: message, LastTimestamp: metav1.Unix(second, 0)}
	}
	require.Equal(t, `no pod is made: pods "x" is forbidden: exceeded quota`,
		refused([]corev1.Event{at(5, "Error creating: pods \"x\" is forbidden:\n exceeded quota"), at(4, "older")}))
	require.Empty(t, refused(nil))
}

func TestAJobWithoutPodsIsNotWaitedForForEver(t *testing.T) {
	c, a := dialled(t)
	a.kept["/apis/batch/v1/namespaces/ours/jobs/recount-x"] = map[string]any{"kind": "Job", "apiVersion": "batch/v1", "spec": map[string]any{"completions": 8}}
	a.kept["/api/v1/namespaces/ours/events"] = map[string]any{"kind": "EventList", "apiVersion": "v1", "items": []any{map[string]any{"message": "Error creating: exceeded quota"}}}
	_, err := c.Watch(context.Background(), "recount-x", 1, func(Progress) {})
	require.ErrorContains(t, err, "takes no pods of Job recount-x: no pod is made: exceeded quota")
	require.Contains(t, hint.Of(err), "campaign attach")
}
