package kuberneteslease

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	"recount/election"
	"recount/targets/systems"
	"recount/targets/systems/etcd"
)

// Servers of Kubernetes's control plane, each with a member of etcd of its own, which it keeps its objects in:
// https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/ha-topology/#stacked-etcd-topology

const (
	apiServerPort = 6443
	// apiServerToken is how the only user is known, who may do everything.
	apiServerToken = "recount"
	// apiServerEtcd is the version of etcd that Kubernetes 1.34 is made with.
	apiServerEtcd = "3.6.4"
)

// apiServer is the driver of such servers. What its etcd runs, and how, is etcd's own driver's affair.
type apiServer struct {
	etcd    election.System
	version string
}

func apiServers(version string) (election.System, error) {
	if err := systems.CheckVersion("server-version", election.Image{Recipe: "kube-apiserver", Version: version}); err != nil {
		return nil, fmt.Errorf("kubernetes-lease: %w", err)
	}
	keeper, err := etcd.Servers(apiServerEtcd)
	return &apiServer{keeper, version}, err
}

func (s *apiServer) Image() election.Image {
	return election.Image{Recipe: "kube-apiserver", Version: s.version}
}

// Container is etcd, whose data is what a server has to lose, and kube-apiserver beside it. That makes a certificate for
// itself; the key of it signs what else it is asked to sign.
func (s *apiServer) Container(self election.Member, all []election.Member) election.Container {
	c := s.etcd.Container(self, all)
	c.Command = append([]string{"/usr/bin/server"}, c.Command...)
	c.Beside = []election.Container{{
		Data: "/data", Files: map[string]string{"/data/tokens.csv": apiServerToken + ",candidate,candidate\n"},
		Command: []string{
			"/usr/bin/server", "keep", "kube-apiserver",
			"--etcd-servers=" + etcd.URL(self.Addr, etcd.ClientPort),
			fmt.Sprintf("--secure-port=%d", apiServerPort),
			"--advertise-address=" + self.Addr.String(),
			"--cert-dir=/data/cert",
			"--service-cluster-ip-range=10.96.0.0/16",
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-signing-key-file=/data/cert/apiserver.key",
			"--service-account-key-file=/data/cert/apiserver.key",
			"--token-auth-file=/data/tokens.csv",
			"--authorization-mode=AlwaysAllow",
		},
	}}
	return c
}

// Observer asks whether kube-apiserver answers.
func (s *apiServer) Observer(self election.Member, _ []election.Member, dial election.Dial) election.Observer {
	o := &apiServerObserver{systems.NewAsker(overTLS(dial), apiServerPort), self.Name}
	o.Header.Set("Authorization", "Bearer "+apiServerToken)
	return o
}

// overTLS dials a server that nobody vouches for.
func overTLS(dial election.Dial) election.Dial {
	return func(ctx context.Context, port int) (net.Conn, error) {
		conn, err := dial(ctx, port)
		if err != nil {
			return nil, err
		}
		return tls.Client(conn, &tls.Config{InsecureSkipVerify: true}), nil
	}
}

type apiServerObserver struct {
	*systems.Asker
	self string
}

// Observe asks for its version.
func (o *apiServerObserver) Observe(ctx context.Context) (election.Status, bool, error) {
	var version struct{}
	if err := o.Ask(ctx, "/version", &version); err != nil {
		return election.Status{}, false, fmt.Errorf("kubernetes-lease: observe %s: %w", o.self, err)
	}
	return election.Status{}, false, nil
}
