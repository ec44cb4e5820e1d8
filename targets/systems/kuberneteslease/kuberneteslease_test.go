package kuberneteslease

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/targets/systems/systemtest"
)

// Two candidates and two servers.
func leaseMembers() []election.Member {
	var all []election.Member
	for i, name := range []string{"n1", "n2", "s1", "s2"} {
		all = append(all, election.Member{
			ID: election.ID(i + 1), Name: name, Server: name[0] == 's', Addr: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}),
		})
	}
	return all
}

func TestKubernetesLeaseOverEtcd(t *testing.T) {
	all := leaseMembers()
	s := systemtest.System(t, "kubernetes-lease", nil)
	require.Equal(t, election.Image{Recipe: "etcd", Version: "3.6.16"}, s.(election.Service).ServerImage(election.Member{}))
	require.Empty(t, s.Container(all[2], all).Beside)
	require.Contains(t, s.Container(all[0], all).Command, "-endpoints=http://10.0.0.3:2379,http://10.0.0.4:2379")

	older := systemtest.System(t, "kubernetes-lease", map[string]string{"server-version": "3.5.35"})
	require.Equal(t, election.Image{Recipe: "etcd", Version: "3.5.35"}, older.(election.Service).ServerImage(election.Member{}))
}

func TestKubernetesLeaseOverAPIServers(t *testing.T) {
	all := leaseMembers()
	s := systemtest.System(t, "kubernetes-lease", map[string]string{"server": "apiserver"})
	require.Equal(t, election.Image{Recipe: "kubernetes-candidate", Version: "0.34.1"}, s.Image())
	require.Equal(t, election.Image{Recipe: "kube-apiserver", Version: "1.34.4"}, s.(election.Service).ServerImage(election.Member{}))

	server := s.Container(all[3], all)
	require.Equal(t, []string{"/usr/bin/server", "/usr/bin/etcd"}, server.Command[:2])
	require.Contains(t, server.Command, "--initial-cluster=n3=http://10.0.0.3:2380,n4=http://10.0.0.4:2380")
	require.Len(t, server.Beside, 1)
	beside := server.Beside[0]
	require.Equal(t, []string{"/usr/bin/server", "keep", "kube-apiserver"}, beside.Command[:3])
	require.Contains(t, beside.Command, "--etcd-servers=http://10.0.0.4:2379", "it keeps its objects in its own etcd")
	require.Contains(t, beside.Command, "--token-auth-file=/data/tokens.csv")
	require.Contains(t, beside.Files["/data/tokens.csv"], apiServerToken+",")

	candidate := s.Container(all[0], all).Command
	require.Contains(t, candidate, "-apiservers=10.0.0.3:6443,10.0.0.4:6443")
	require.Contains(t, candidate, "-token="+apiServerToken)
}

// A server answers once its kube-apiserver does, to the one user whom it knows.
func TestAPIServerObserve(t *testing.T) {
	known := "Bearer " + apiServerToken
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/version" || r.Header.Get("Authorization") != known {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = w.Write([]byte(`{"major": "1", "minor": "34"}`))
	}))
	defer server.Close()
	all := leaseMembers()
	ports := map[int]bool{}
	o := systemtest.System(t, "kubernetes-lease", map[string]string{"server": "apiserver"}).Observer(all[2], all,
		func(ctx context.Context, port int) (net.Conn, error) {
			ports[port] = true
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		})
	defer o.Close()
	_, _, err := o.Observe(t.Context())
	require.NoError(t, err)
	known = "somebody else"
	_, _, err = o.Observe(t.Context())
	require.EqualError(t, err, "kubernetes-lease: observe s1: /version answered 401 Unauthorized")
	require.Equal(t, map[int]bool{6443: true}, ports)
}

// A candidate that waits for a lease of its own, shorter than the holder's, takes what is still held.
func TestKubernetesLeasePromises(t *testing.T) {
	shorter := map[string]string{"version": "0.26.15", "last-lease-duration": "2s"}
	systemtest.Promises(t, "kubernetes-lease", nil, "sticky-leader", true)
	systemtest.Promises(t, "kubernetes-lease", shorter, "sticky-leader", false)
	systemtest.Promises(t, "kubernetes-lease", map[string]string{"version": "0.34.1", "last-lease-duration": "2s"}, "sticky-leader", true)
}
