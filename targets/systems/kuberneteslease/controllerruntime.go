package kuberneteslease

import (
	"fmt"

	"recount/election"
	"recount/history"
	"recount/targets"
	"recount/targets/systems"
	"recount/targets/systems/etcd"
)

// controller-runtime is what most operators of Kubernetes are built with: its manager elects by client-go, and starts what only a leader
// is to do. What its makers say of it:
//
//   - what runs on the leader alone: https://pkg.go.dev/sigs.k8s.io/controller-runtime/pkg/manager#LeaderElectionRunnable
//   - before 0.17.3 that was started in everybody who shut down: https://github.com/kubernetes-sigs/controller-runtime/issues/2719
func init() {
	targets.Register(&targets.Target{
		Name:   "controller-runtime",
		About:  "managers of controller-runtime in containers of their own that elect by client-go, with the record in a real etcd",
		Source: "https://pkg.go.dev/sigs.k8s.io/controller-runtime/pkg/manager",
		Options: append([]targets.Option{
			{Name: "version", Kind: targets.Text, Default: "0.22.4", About: "of controller-runtime: 0.16 to 0.25"},
			systems.ServersOption("1"),
			{Name: "wind-down", Kind: targets.Duration, Default: "500ms", About: "how long the leader's work goes on once it was told to end"},
		}, times...),
		Promises: systems.ServicePromises(),
		Unpromised: func(o targets.Options) []string {
			minor, patch := systems.Release(o.Value("version"))
			if minor > 17 || minor == 17 && patch >= 3 {
				return nil
			}
			return []string{"single-leader-per-term", "agreement", "fencing"} // who shuts down begins to lead
		},
		Bounds:  func(o targets.Options) history.Bounds { return bounds(o, o.Duration("lease-duration")) },
		Servers: systems.CountServers,
		System:  newManagers,
	})
}

func newManagers(o targets.Options) (election.System, error) {
	candidate := election.Image{Recipe: "controller-runtime-candidate", Version: o.Value("version")}
	err := checkTimes(o)
	if err == nil {
		err = systems.CheckVersion("version", candidate)
	}
	if err != nil {
		return nil, fmt.Errorf("controller-runtime: %w", err)
	}
	servers, err := etcd.Servers("3.6.16")
	if err != nil {
		return nil, err
	}
	return &systems.Service{
		Numbered:  true,
		Candidate: candidate,
		Servers:   servers,
		Flags: func(_ election.Member, _, servers []election.Member) []string {
			flags := []string{"-wind-down=" + o.Value("wind-down"), "-endpoints=" + systems.Addresses(servers, "http://%s", etcd.ClientPort)}
			for _, t := range times {
				flags = append(flags, "-"+t.Name+"="+o.Duration(t.Name).String())
			}
			return flags
		},
	}, nil
}
