// Package kuberneteslease is the election of Kubernetes's controllers, with the record in real servers.
package kuberneteslease

import (
	"fmt"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
	"recount/targets/systems"
	"recount/targets/systems/etcd"
)

// The election of Kubernetes's controllers, by client-go. The record is kept in etcd, by the rules of the API server: an
// update names the version that it replaces. Or it is a Lease that real API servers keep. What its makers say of it:
//
//   - that it "does not guarantee that only one client is acting as a leader", and what it does to clocks:
//     https://pkg.go.dev/k8s.io/client-go/tools/leaderelection
//   - up to 0.26 a candidate waits for its own lease duration, not for the holder's: https://github.com/kubernetes/kubernetes/issues/47671
//   - ReleaseOnCancel frees the lease while the work still runs: https://github.com/kubernetes/client-go/issues/728
func init() {
	targets.Register(&targets.Target{
		Name:   "kubernetes-lease",
		About:  "candidates in containers of their own that elect by client-go, with the record in a real etcd or API server",
		Source: "https://pkg.go.dev/k8s.io/client-go/tools/leaderelection",
		Options: append([]targets.Option{
			{Name: "version", Kind: targets.Text, Default: "0.34.1", About: "of client-go: 0.24 to 0.37"},
			{
				Name: "server", Kind: targets.Choice, Default: "etcd", Choices: []string{"etcd", "apiserver"},
				About: "what keeps the record: etcd, or kube-apiserver, whose image takes many minutes to build, once",
			},
			{
				Name: "server-version", Kind: targets.Text, Default: "default",
				About: "of etcd, 3.6.16 by default, or of kube-apiserver: 1.34.4, or any other 1.34",
			},
			systems.ServersOption("1"),
			{
				Name: "last-lease-duration", Kind: targets.Text, Default: "same",
				About: "the last candidate's own lease duration, its other times in proportion, where it is not the same",
			},
			{Name: "release-on-cancel", Kind: targets.Bool, Default: "false", About: "a leader that is asked to end gives the lease back"},
			{Name: "wind-down", Kind: targets.Duration, Default: "1ms", About: "how long the leader's work goes on once it was told to end"},
		}, times...),
		Promises: systems.ServicePromises(),
		Unpromised: func(o targets.Options) []string {
			minor, _ := systems.Release(o.Value("version"))
			last, err := time.ParseDuration(o.Value("last-lease-duration"))
			if err != nil || last >= o.Duration("lease-duration") || minor > 26 {
				return nil
			}
			return []string{"sticky-leader", "no-ping-pong"} // it takes leases that are still held
		},
		Bounds: func(o targets.Options) history.Bounds {
			lease := o.Duration("lease-duration")
			if last, err := time.ParseDuration(o.Value("last-lease-duration")); err == nil {
				lease = max(lease, last)
			}
			return bounds(o, lease)
		},
		Servers: systems.CountServers,
		System:  newSystem,
	})
}

// times are client-go's own.
var times = []targets.Option{
	{Name: "lease-duration", Kind: targets.Duration, Default: "8s", About: "how long the lease is seen unchanged before it is taken"},
	{Name: "renew-deadline", Kind: targets.Duration, Default: "6s", About: "how long a leader tries to renew before it gives up"},
	{Name: "retry-period", Kind: targets.Duration, Default: "1s", About: "time between attempts"},
}

// checkTimes refuses what client-go would.
func checkTimes(o targets.Options) error {
	lease, deadline, retry := o.Duration("lease-duration"), o.Duration("renew-deadline"), o.Duration("retry-period")
	if lease <= deadline || 5*deadline <= 6*retry || lease < time.Second {
		return hint.Add(fmt.Errorf("lease-duration %v, renew-deadline %v, retry-period %v", lease, deadline, retry),
			"client-go wants each to be longer than the next, the deadline 1.2 times the period, and leases of whole seconds")
	}
	return nil
}

// bounds are those of candidates who wait for so long before they take a lease.
func bounds(o targets.Options, lease time.Duration) history.Bounds {
	retry := o.Duration("retry-period")
	return history.Bounds{
		Silence: lease + 5*retry/2, // who looks for a lease waits for up to 2.2 periods
		Elect:   2*lease + 10*retry + o.Duration("wind-down") + 10*time.Second,
		Poll:    50 * time.Millisecond,
	}
}

func newSystem(o targets.Options) (election.System, error) {
	if err := checkTimes(o); err != nil {
		return nil, fmt.Errorf("kubernetes-lease: %w", err)
	}
	last := 1.0 // the last candidate's times, as a share of all others'
	if text := o.Value("last-lease-duration"); text != "same" {
		d, err := time.ParseDuration(text)
		if err != nil || d < time.Second {
			return nil, fmt.Errorf("kubernetes-lease: %w", hint.Add(fmt.Errorf("last-lease-duration %q", text), `"same", or 1s or more`))
		}
		last = float64(d) / float64(o.Duration("lease-duration"))
	}
	overAPI, newServers, serverVersion := o.Value("server") == "apiserver", etcd.Servers, "3.6.16"
	if overAPI {
		newServers, serverVersion = apiServers, "1.34.4"
	}
	if v := o.Value("server-version"); v != "default" {
		serverVersion = v
	}
	candidate := election.Image{Recipe: "kubernetes-candidate", Version: o.Value("version")}
	if err := systems.CheckVersion("version", candidate); err != nil {
		return nil, fmt.Errorf("kubernetes-lease: %w", err)
	}
	servers, err := newServers(serverVersion)
	if err != nil {
		return nil, err
	}
	return &systems.Service{
		Numbered:  true,
		Candidate: candidate,
		Servers:   servers,
		Flags: func(self election.Member, candidates, servers []election.Member) []string {
			flags := []string{"-release-on-cancel=" + o.Value("release-on-cancel"), "-wind-down=" + o.Value("wind-down")}
			if overAPI {
				flags = append(flags, "-apiservers="+systems.Addresses(servers, "%s", apiServerPort), "-token="+apiServerToken)
			} else {
				flags = append(flags, "-endpoints="+systems.Addresses(servers, "http://%s", etcd.ClientPort))
			}
			share := 1.0
			if self.ID == candidates[len(candidates)-1].ID {
				share = last
			}
			for _, t := range times {
				flags = append(flags, "-"+t.Name+"="+time.Duration(share*float64(o.Duration(t.Name))).String())
			}
			return flags
		},
	}, nil
}
