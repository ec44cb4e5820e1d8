package targets

import (
	"fmt"
	"time"

	"recount/election"
	"recount/hint"
	"recount/history"
)

// The election of Kubernetes's controllers, by client-go. The record is kept in etcd, by the rules of the API server: an
// update names the version that it replaces. What its makers say of it:
//
//   - that it "does not guarantee that only one client is acting as a leader", and what it does to clocks:
//     https://pkg.go.dev/k8s.io/client-go/tools/leaderelection
//   - up to 0.26 a candidate waits for its own lease duration, not for the holder's: https://github.com/kubernetes/kubernetes/issues/47671
//   - ReleaseOnCancel frees the lease while the work still runs: https://github.com/kubernetes/client-go/issues/728
func kubernetesLeaseReal() *Target {
	return &Target{
		About:  "candidates in containers of their own that elect by client-go, with the record in a real etcd",
		Source: "https://pkg.go.dev/k8s.io/client-go/tools/leaderelection",
		Options: []Option{
			{Name: "version", Kind: Text, Default: "0.34.1", About: "of client-go: 0.24 to 0.34"},
			{Name: "etcd", Kind: Text, Default: "3.6.16", About: "version of the servers that keep the record"},
			serversOption("1"),
			{Name: "lease-duration", Kind: Duration, Default: "8s", About: "how long the lease is seen unchanged before it is taken"},
			{Name: "renew-deadline", Kind: Duration, Default: "6s", About: "how long a leader tries to renew before it gives up"},
			{Name: "retry-period", Kind: Duration, Default: "1s", About: "time between attempts"},
			{
				Name: "last-lease-duration", Kind: Text, Default: "same",
				About: "the last candidate's own lease duration, its other times in proportion, where it is not the same",
			},
			{Name: "release-on-cancel", Kind: Bool, Default: "false", About: "a leader that is asked to end gives the lease back"},
			{Name: "wind-down", Kind: Duration, Default: "1ms", About: "how long the leader's work goes on once it was told to end"},
		},
		Promises: servicePromises(),
		Bounds: func(o Options) history.Bounds {
			lease := o.Duration("lease-duration")
			if last, err := time.ParseDuration(o.Value("last-lease-duration")); err == nil {
				lease = max(lease, last)
			}
			retry := o.Duration("retry-period")
			return history.Bounds{
				Silence: lease + 5*retry/2, // who looks for a lease waits for up to 2.2 periods
				Elect:   2*lease + 10*retry + o.Duration("wind-down") + 10*time.Second,
				Poll:    50 * time.Millisecond,
			}
		},
		Servers: countServers,
		System:  newKubernetesLease,
	}
}

// kubernetesLeaseSystem is etcd's servers, and candidates.
type kubernetesLeaseSystem struct {
	candidateLogs
	options Options
	servers election.System
	last    float64 // the last candidate's times, as a share of all others'
}

func newKubernetesLease(o Options) (election.System, error) {
	lease, deadline, retry := o.Duration("lease-duration"), o.Duration("renew-deadline"), o.Duration("retry-period")
	if lease <= deadline || 5*deadline <= 6*retry || lease < time.Second {
		return nil, fmt.Errorf("targets: kubernetes-lease: %w", hint.Add(
			fmt.Errorf("lease-duration %v, renew-deadline %v, retry-period %v", lease, deadline, retry),
			"client-go wants each to be longer than the next, the deadline 1.2 times the period, and leases of whole seconds"))
	}
	s := &kubernetesLeaseSystem{options: o, last: 1}
	if text := o.Value("last-lease-duration"); text != "same" {
		last, err := time.ParseDuration(text)
		if err != nil || last < time.Second {
			return nil, fmt.Errorf("targets: kubernetes-lease: %w", hint.Add(fmt.Errorf("last-lease-duration %q", text), `"same", or 1s or more`))
		}
		s.last = float64(last) / float64(lease)
	}
	var err error
	s.servers, err = etcdServers(o.Value("etcd"))
	return s, err
}

func (s *kubernetesLeaseSystem) Image() election.Image {
	return election.Image{Recipe: "kubernetes-candidate", Version: s.options.Value("version")}
}

func (s *kubernetesLeaseSystem) ServerImage() election.Image { return s.servers.Image() }

func (s *kubernetesLeaseSystem) Container(self election.Member, all []election.Member) election.Container {
	candidates, servers := split(all)
	if self.Server {
		return s.servers.Container(self, servers)
	}
	command := []string{
		"/usr/bin/candidate", "-name=" + self.Name, "-endpoints=" + addresses(servers, "http://%s", etcdClientPort),
		"-release-on-cancel=" + s.options.Value("release-on-cancel"), "-wind-down=" + s.options.Value("wind-down"),
	}
	share := 1.0
	if self.ID == candidates[len(candidates)-1].ID {
		share = s.last
	}
	for _, name := range []string{"lease-duration", "renew-deadline", "retry-period"} {
		command = append(command, "-"+name+"="+time.Duration(share*float64(s.options.Duration(name))).String())
	}
	return election.Container{Command: command}
}

func (s *kubernetesLeaseSystem) Observer(self election.Member, all []election.Member, dial election.Dial) election.Observer {
	if self.Server {
		_, servers := split(all)
		return s.servers.Observer(self, servers, dial)
	}
	return observeCandidate(dial)
}
