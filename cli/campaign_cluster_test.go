package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/campaign"
	"recount/harness/campaign/store"
)

var (
	kubernetes = flag.String("kubernetes", "", "image of a Kubernetes node, for TestCampaignOnACluster: make campaign-cluster makes it")
	s3server   = flag.String("s3", "", "a versitygw, for TestCampaignOnACluster")
)

// eight has eight indexes of one chain each, when an index is to have so many runs.
const (
	eight = `
name: NAME
targets: [{target: raft, property: sticky-leader}]
faults: [isolate, cut-link]
nodes: 3
time: 10s
runs: 640
shard: 20
seed: SEED
`
	eightRuns = "80"
)

// onCluster is a cluster in containers, and a store that its pods reach.
type onCluster struct {
	t       *testing.T
	dir     string // with the executable, and the results
	node    string // container of the control plane, and the network that all nodes are in
	address string // of the machine, as containers reach it
	store   string
}

// TestCampaignOnACluster has a real Kubernetes make campaigns: etcd, API server, controllers, scheduler, and one or two kubelets with
// containerd, each node a container.
func TestCampaignOnACluster(t *testing.T) {
	if *kubernetes == "" {
		t.Skip("-kubernetes names no image: make campaign-cluster")
	}
	c := newCluster(t)

	t.Run("eight indexes are made, and find what one process finds", func(t *testing.T) {
		c := c.in(t)
		file := c.file("plain", 1)
		c.recount(1, "campaign", "run", "one/"+file, "--results", "one")
		out := c.recount(1, c.onCluster(file)...)
		require.Contains(t, out, "8 indexes")
		require.Equal(t, findings(t, c.dir+"/one", "plain"), findings(t, c.dir+"/results", "plain"))
		out = c.recount(1, "campaign", "attach", "plain") // it is done: nothing is made again
		require.Contains(t, out, "All 640 runs were made")
		c.recount(0, "campaign", "stop", "plain")
	})

	t.Run("a pod that is killed is made again", func(t *testing.T) {
		c := c.in(t)
		file := c.file("killed", 2)
		c.recount(1, "campaign", "run", "one/"+file, "--results", "one")
		run := c.begin(c.onCluster(file)...)
		c.await("a worker", func() bool { return c.kill() })
		require.Contains(t, run(1), "All 640 runs were made")
		require.Equal(t, findings(t, c.dir+"/one", "killed"), findings(t, c.dir+"/results", "killed"))
		c.recount(0, "campaign", "stop", "killed")
	})

	t.Run("an index that always fails is told, and the others are made", func(t *testing.T) {
		c := c.in(t)
		file := c.file("broken", 3)
		run := c.begin(append(c.onCluster(file), "--retries", "1")...)
		c.spoil("broken", 3) // the third waits for the first two
		out := run(255)
		require.Contains(t, out, "1 of 8 indexes failed again and again: 3; pod recount-broken-")
		require.Contains(t, out, "is no result", "the pod's own words")
		s, err := campaign.Find(c.dir+"/results", "broken")
		require.NoError(t, err)
		require.Equal(t, 560, s.Runs)
		c.recount(0, "campaign", "stop", "broken")
	})

	t.Run("a node that is lost takes nothing with it", func(t *testing.T) {
		c := c.in(t)
		file := c.file("lost", 4)
		c.recount(1, "campaign", "run", "one/"+file, "--results", "one")
		second := c.join("n2")
		run := c.begin(c.onCluster(file)...)
		c.await("a worker on the second node", func() bool { return strings.Contains(c.processes(second), "campaign work") })
		c.docker("kill", second)
		require.Contains(t, run(1), "All 640 runs were made")
		require.Equal(t, findings(t, c.dir+"/one", "lost"), findings(t, c.dir+"/results", "lost"))
	})

	t.Run("an image that cannot be had is told, and the cluster's refusal", func(t *testing.T) {
		c := c.in(t)
		file := c.file("nowhere", 5)
		out := c.recount(255, append(c.onCluster(file), "--image", "registry.invalid/nothing:1")...)
		require.Contains(t, out, "do not start")
		require.Contains(t, out, "hint: look at --image")
		c.recount(0, "campaign", "stop", "nowhere")
		text, err := os.ReadFile(c.dir + "/kubeconfig")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(c.dir+"/nobody", bytes.Replace(text, []byte("token: recount"), []byte("token: nobody"), 1), 0o644))
		out = c.recount(255, append(c.onCluster(c.file("refused", 6)), "--kubeconfig", "nobody")...)
		require.Contains(t, out, "refuses to")
	})

	t.Run("a server that is built here is hunted in virtual time by pods that have no Go", func(t *testing.T) {
		c := c.in(t)
		text := "name: virtual\ntargets: [hashicorp-raft]\non: virtual\nfaults: [isolate]\nnodes: 3\ntime: 30s\nruns: 4\nshard: 1\nseed: 1\n"
		for _, dir := range []string{c.dir, c.dir + "/one"} {
			require.NoError(t, os.MkdirAll(dir, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "virtual.yaml"), []byte(text), 0o644))
		}
		c.recount(0, "campaign", "run", "one/virtual.yaml", "--results", "one")
		c.recount(0, append(c.onCluster("virtual.yaml"), "--index-runs", "4")...)
		var targets [2][]campaign.Looked
		for i, results := range []string{"/one", "/results"} {
			s, err := campaign.Find(c.dir+results, "virtual")
			require.NoError(t, err)
			require.Equal(t, 4, s.Runs)
			targets[i] = s.Targets
		}
		require.Equal(t, targets[0], targets[1])
		c.recount(0, "campaign", "stop", "virtual")
	})

	t.Run("the rights that docs/campaigns.md names are enough, and needed", func(t *testing.T) {
		c := c.in(t)
		text, err := os.ReadFile("../docs/campaigns.md")
		require.NoError(t, err)
		_, role, found := strings.Cut(string(text), "```yaml\napiVersion: rbac")
		require.True(t, found)
		role, _, _ = strings.Cut(role, "```")
		config, err := os.ReadFile(c.dir + "/kubeconfig")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(c.dir+"/nightly", bytes.Replace(config, []byte("token: recount"), []byte("token: recount, as: nightly"), 1), 0o644))
		c.post("/api/v1/namespaces", "apiVersion: v1\nkind: Namespace\nmetadata: {name: recount}")
		c.await("the namespace's service account", func() bool {
			return bytes.Contains(c.get("/api/v1/namespaces/recount/serviceaccounts/default"), []byte(`"uid"`))
		})
		file := c.file("least", 7)
		c.recount(1, "campaign", "run", "one/"+file, "--results", "one")
		run := append(c.onCluster(file), "--kubeconfig", "nightly", "--namespace", "recount")
		out := c.recount(255, run...)
		require.Contains(t, out, "refuses to make Secret")
		require.Contains(t, out, "hint: docs/campaigns.md has the rights")
		c.post("/apis/rbac.authorization.k8s.io/v1/namespaces/recount/roles", "apiVersion: rbac"+role)
		c.post("/apis/rbac.authorization.k8s.io/v1/namespaces/recount/rolebindings", `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: nightly}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: recount-campaign}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: nightly}]`)
		require.Contains(t, c.recount(1, run...), "All 640 runs were made")
		require.Equal(t, findings(t, c.dir+"/one", "least"), findings(t, c.dir+"/results", "least"))
		c.recount(0, "campaign", "stop", "least")
	})
}

func newCluster(t *testing.T) *onCluster {
	c := &onCluster{t: t, dir: t.TempDir(), node: fmt.Sprintf("recount-kubernetes-%d", os.Getpid())}
	build := exec.Command("go", "build", "-trimpath", "-o", c.dir+"/recount", "../cmd/recount")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, os.WriteFile(c.dir+"/Dockerfile", []byte("FROM scratch\nCOPY recount /recount\nENTRYPOINT [\"/recount\"]\n"), 0o644))
	c.docker("build", "-q", "-t", "recount/campaign:test", c.dir)
	c.docker("save", "-o", c.dir+"/image.tar", "recount/campaign:test")
	c.docker("network", "create", c.node)
	t.Cleanup(func() { _ = exec.Command("docker", "network", "rm", c.node).Run() })
	c.address = strings.TrimSpace(c.docker("network", "inspect", "-f", "{{(index .IPAM.Config 0).Gateway}}", c.node))
	c.serve()
	c.start(c.node, "n1", "")
	ip := c.ip(c.node)
	config := c.docker("exec", c.node, "/bin/busybox", "cat", "/etc/kubernetes/kubeconfig")
	require.NoError(t, os.WriteFile(c.dir+"/kubeconfig", []byte(strings.Replace(config, "127.0.0.1", ip, 1)), 0o644))
	c.ready("n1")
	return c
}

// in is the cluster for a part of the test.
func (c *onCluster) in(t *testing.T) *onCluster {
	own := *c
	own.t = t
	return &own
}

// serve starts the store's server.
func (c *onCluster) serve() {
	data := c.dir + "/s3/recount"
	require.NoError(c.t, os.MkdirAll(data, 0o755))
	require.NoError(c.t, os.MkdirAll(c.dir+"/meta", 0o755))
	port := 20000 + os.Getpid()%20000
	address := fmt.Sprintf("%s:%d", c.address, port)
	server := exec.Command(*s3server, "--port", address, "--access", "me", "--secret", "secretsecret", "--quiet", "posix", "--sidecar", c.dir+"/meta", c.dir+"/s3")
	require.NoError(c.t, server.Start())
	c.t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	c.store = "s3://recount?endpoint=http://" + address
}

// start starts a node.
func (c *onCluster) start(container, node, join string) {
	c.docker("run", "-d", "--name", container, "--hostname", container, "--network", c.node, "--cap-add", "ALL", "--cap-drop", "SYS_RESOURCE",
		"--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined", "--device-cgroup-rule", "a *:* rwm",
		"--device", "/dev/kmsg", "--cgroupns=private", "-v", "/data", "-e", "NODE="+node, "-e", "JOIN="+join, *kubernetes)
	c.t.Cleanup(func() { _ = exec.Command("docker", "rm", "-f", "-v", container).Run() })
	image, err := os.Open(c.dir + "/image.tar")
	require.NoError(c.t, err)
	defer image.Close()
	c.await("containerd of "+node, func() bool {
		return exec.Command("docker", "exec", container, "ctr", "version").Run() == nil
	})
	load := exec.Command("docker", "exec", "-i", container, "ctr", "-n", "k8s.io", "images", "import", "-")
	load.Stdin = image
	out, err := load.CombinedOutput()
	require.NoError(c.t, err, string(out))
}

// join starts another node of the cluster.
func (c *onCluster) join(node string) string {
	container := c.node + "-" + node
	c.start(container, node, c.ip(c.node))
	c.ready(node)
	return container
}

// ready waits until a node takes pods.
func (c *onCluster) ready(node string) {
	c.await("node "+node, func() bool {
		var n struct {
			Spec   struct{ Taints []any }
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if json.Unmarshal(c.get("/api/v1/nodes/"+node), &n) != nil || len(n.Spec.Taints) > 0 {
			return false
		}
		for _, cond := range n.Status.Conditions {
			if cond.Type == "Ready" && cond.Status == "True" {
				return true
			}
		}
		return false
	})
	if node == "n1" {
		c.await("its service account", func() bool {
			return bytes.Contains(c.get("/api/v1/namespaces/default/serviceaccounts/default"), []byte(`"uid"`))
		})
	}
}

// get is what the API server has at a path; what it does not answer is nothing.
func (c *onCluster) get(path string) []byte {
	out, _ := exec.Command("curl", "-sk", "-m", "5", "-H", "Authorization: Bearer recount", "https://"+c.ip(c.node)+":6443"+path).Output()
	return out
}

// post gives the API server something to make, written in YAML.
func (c *onCluster) post(path, object string) {
	out, err := exec.Command("curl", "-sk", "--fail-with-body", "-m", "30", "-H", "Authorization: Bearer recount", "-H", "Content-Type: application/yaml",
		"--data-binary", object, "https://"+c.ip(c.node)+":6443"+path).CombinedOutput()
	require.NoError(c.t, err, string(out))
}

func (c *onCluster) ip(container string) string {
	return strings.TrimSpace(c.docker("inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", container))
}

// processes are the command lines of a node.
func (c *onCluster) processes(container string) string {
	return c.docker("exec", container, "/bin/busybox", "ps", "-o", "pid,args")
}

// kill kills a pod's process, if there is one.
func (c *onCluster) kill() bool {
	for _, line := range strings.Split(c.processes(c.node), "\n") {
		if strings.Contains(line, "recount campaign work") {
			return exec.Command("docker", "exec", c.node, "/bin/busybox", "kill", "-9", strings.Fields(line)[0]).Run() == nil
		}
	}
	return false
}

// await waits for what takes a while on a busy machine.
func (c *onCluster) await(what string, is func() bool) {
	for begun := time.Now(); !is(); time.Sleep(200 * time.Millisecond) {
		if time.Since(begun) > 5*time.Minute {
			c.t.Fatalf("no %s in five minutes", what)
		}
	}
}

func (c *onCluster) docker(args ...string) string {
	out, err := exec.Command("docker", args...).CombinedOutput()
	require.NoError(c.t, err, "docker %v: %s", args, out)
	return string(out)
}

// file writes a campaign of eight indexes, once for the cluster and once for one process.
func (c *onCluster) file(name string, seed int) string {
	text := strings.NewReplacer("NAME", name, "SEED", fmt.Sprint(seed)).Replace(eight)
	require.NoError(c.t, os.MkdirAll(c.dir+"/one", 0o755))
	for _, dir := range []string{c.dir, c.dir + "/one"} {
		require.NoError(c.t, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o644))
	}
	return name + ".yaml"
}

// onCluster is the command that has the cluster make a file.
func (c *onCluster) onCluster(file string) []string {
	return []string{"campaign", "run", file, "--on-cluster", "--store", c.store, "--kubeconfig", "kubeconfig", "--image",
		"docker.io/recount/campaign:test", "--pull", "IfNotPresent", "--host-network", "--parallelism", "2", "--index-runs", eightRuns, "--cpu", "50m"}
}

// begin starts recount; what it returns waits for its end and returns what it said.
func (c *onCluster) begin(args ...string) func(status int) string {
	cmd := exec.Command(c.dir+"/recount", args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, &out, &out
	cmd.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=me", "AWS_SECRET_ACCESS_KEY=secretsecret")
	require.NoError(c.t, cmd.Start())
	return func(status int) string {
		_ = cmd.Wait()
		require.Equal(c.t, status, cmd.ProcessState.ExitCode(), "%v: %s", args, out.String())
		return out.String()
	}
}

func (c *onCluster) recount(status int, args ...string) string { return c.begin(args...)(status) }

// spoil has an index fail whenever it is made: in its place lies a result that cannot be read.
func (c *onCluster) spoil(name string, index int) {
	c.t.Setenv("AWS_ACCESS_KEY_ID", "me")
	c.t.Setenv("AWS_SECRET_ACCESS_KEY", "secretsecret")
	s, err := store.Open(c.t.Context(), c.store)
	require.NoError(c.t, err)
	defer s.Close()
	c.await("plan of "+name, func() bool {
		for key, err := range s.List(c.t.Context(), "plans/") {
			require.NoError(c.t, err)
			plan, err := campaign.ReadPlan(c.t.Context(), s, key)
			require.NoError(c.t, err)
			if plan.Campaign.Name == name {
				chains, err := plan.Chains(index)
				require.NoError(c.t, err)
				shard := chains[0].Shards[0]
				require.NoError(c.t, s.Put(c.t.Context(), "results/"+shard.Subject+"/"+shard.ID(), []byte("no result")))
				return true
			}
		}
		return false
	})
}

// findings are what a campaign has found, without when.
func findings(t *testing.T, results, name string) string {
	s, err := campaign.Find(results, name)
	require.NoError(t, err)
	require.NotEmpty(t, s.Findings)
	var b strings.Builder
	for _, f := range s.Findings {
		fmt.Fprintln(&b, f.State, f.Signature, f.Runs, f.Of, f.Run)
	}
	for _, l := range s.Targets {
		fmt.Fprintln(&b, l.Runs, l.Keys, l.Chance, l.Unshrunk, l.Aims)
	}
	return b.String()
}
