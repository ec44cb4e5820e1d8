package harness

import (
	"context"
	"errors"

	"recount/docker"
	"recount/election"
	"recount/harness/record"
	"recount/targets"
)

// Built is what the nodes of a plan run, as their runs tell it, where a file describes the target: what is not built yet is built. The
// other targets are as the program has them, and Built of them is nil.
func Built(ctx context.Context, p record.Plan) (all []string, err error) {
	if !targets.IsFile(p.Target) {
		return nil, nil
	}
	progress := Config{}.heard(ctx).building
	if p.On == record.OnVirtual {
		programs, err := Programs(ctx, p, progress)
		if err != nil {
			return nil, err
		}
		paths := map[string]string{}
		for _, b := range programs {
			paths[b.Path] = b.Path
		}
		return hashed(paths)
	}
	s, system, err := systemOf(p)
	if err != nil {
		return nil, err
	}
	engine, err := docker.Connect(ctx)
	if err != nil {
		return nil, err
	}
	_, err = s.images(system, func(i election.Image) (string, error) {
		ref, what, err := identified(ctx, engine, i, progress)
		all = append(all, what)
		return ref, err
	})
	return all, errors.Join(err, engine.Close())
}
