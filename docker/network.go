package docker

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"recount/docker/agent"
	"recount/internal/hint"
)

const (
	networkTries = 5
	networkWait  = 100 * time.Millisecond
)

// createNetwork makes the run's private network. It leads nowhere else, and is of IPv4 unless both families are asked for: a
// cut that forgot the other one would be no cut. The engine picks the addresses; of two runs that start at the same time, one
// may have to ask it again.
//
// Where the kernel has iptables look at what bridges forward, an internal network carries packets from and to its own
// addresses alone: none to a group, and none to an address that a node has taken besides. One for these is kept apart by
// what it lacks: its bridge has no address, so that there is no way out, and nothing translates the nodes' own.
func (e *Engine) createNetwork(ctx context.Context, name string, config Config, labels map[string]string) error {
	options := network.CreateOptions{Driver: "bridge", Internal: !config.Multicast, EnableIPv6: &config.IPv6, Labels: labels}
	if config.Multicast {
		options.Options = map[string]string{
			"com.docker.network.bridge.inhibit_ipv4":         "true",
			"com.docker.network.bridge.enable_ip_masquerade": "false",
		}
	}
	if config.IPv6 {
		options.IPAM = &network.IPAM{Config: []network.IPAMConfig{{Subnet: privateSubnet(name)}}}
	}
	var err error
	for range networkTries {
		_, err = e.api.NetworkCreate(ctx, name, options)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(networkWait):
		}
	}
	return hint.Add(fmt.Errorf("create network %s: %w", name, err), "recount clean removes networks that killed runs left")
}

// gateways are the addresses by which a network leads to others, or would.
func (e *Engine) gateways(ctx context.Context, name string) (all []netip.Addr, err error) {
	n, err := e.api.NetworkInspect(ctx, name, network.InspectOptions{})
	if err != nil {
		return nil, fmt.Errorf("look at network %s: %w", name, err)
	}
	for _, subnet := range n.IPAM.Config {
		text, _, _ := strings.Cut(subnet.Gateway, "/") // as some engines have those of IPv6
		if addr, err := netip.ParseAddr(text); err == nil {
			all = append(all, addr)
		}
	}
	return all, nil
}

// privateSubnet is a subnet of private IPv6 addresses, which engines do not pick by themselves. Its number follows from the
// network's name, so that no two runs are likely to have the same.
func privateSubnet(name string) string {
	h := sha256.Sum256([]byte(name))
	return fmt.Sprintf("fd%x:%x:%x:%x::/64", h[:1], h[1:3], h[3:5], h[5:7])
}

// createAnchor makes the container that owns a node's place in the network. It is there before the node's own containers
// and outlives them, so that the address, and what was done to the links, outlive them too.
func (c *Cluster) createAnchor(ctx context.Context, n *node) (err error) {
	host := container.HostConfig{NetworkMode: container.NetworkMode(c.name(""))}
	if c.config.Multicast { // else the engine would ask the world for names that it does not know, in vain and at length
		host.DNS = []string{"127.0.0.1"}
	}
	n.anchor, err = c.create(ctx, c.name(n.name+"-anchor"), roleAnchor, n.name, containerConfig{
		container: container.Config{Image: c.config.SelfImage, Cmd: []string{SelfPath, "anchor"}, Hostname: n.name},
		host:      host,
		network: &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{
			c.name(""): {Aliases: []string{n.name}},
		}},
	})
	return err
}

func (c *Cluster) startAnchor(ctx context.Context, n *node) (agent.Place, error) {
	if err := c.engine.api.ContainerStart(ctx, n.anchor, container.StartOptions{}); err != nil {
		return agent.Place{}, fmt.Errorf("start the anchor of %s: %w", n.name, err)
	}
	addrs, pid, err := c.engine.addresses(ctx, n.anchor, c.name(""))
	if err != nil {
		return agent.Place{}, fmt.Errorf("address of %s: %w", n.name, err)
	}
	n.addrs = addrs
	c.work.Go(func() {
		switch _, err := c.engine.exit(c.ctx, n.anchor); {
		case c.ctx.Err() != nil:
		case err != nil:
			c.lose(engineLost(err))
		default:
			c.lose(hint.Add(fmt.Errorf("the anchor of %s is gone, and its network with it", n.name),
				"was the engine restarted, or somebody at its containers? recount clean removes what may be left"))
		}
	})
	return agent.Place{Node: n.name, Addrs: addrs, Pid: pid}, nil
}

// addresses returns the addresses that a running container has in the network: of IPv4, and then of IPv6 if it has one.
func (e *Engine) addresses(ctx context.Context, container, network string) (addrs []netip.Addr, pid int, err error) {
	c, err := e.api.ContainerInspect(ctx, container)
	if err != nil {
		return nil, 0, err
	}
	if c.State == nil || c.State.Pid == 0 || c.NetworkSettings == nil || c.NetworkSettings.Networks[network] == nil {
		return nil, 0, fmt.Errorf("not in network %s", network)
	}
	at := c.NetworkSettings.Networks[network]
	for _, text := range []string{at.IPAddress, at.GlobalIPv6Address} {
		if text == "" && len(addrs) > 0 {
			continue
		}
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return nil, 0, err
		}
		addrs = append(addrs, addr)
	}
	return addrs, c.State.Pid, nil
}
