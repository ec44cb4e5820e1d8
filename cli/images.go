package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"recount/docker"
	"recount/docker/recipes"
	"recount/election"
	"recount/harness"
	"recount/internal/count"
	"recount/internal/hint"
	"recount/targets"
)

func init() { register(imagesCommand) }

func imagesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "images",
		Short: "Build, pull, list and remove the images of real systems",
		Long: `Build, pull, list and remove the images of real systems. Runs build what they need; this is for doing it before, and for
making room. An image is named by its system and version: etcd:3.6.16. Its full name ends in a hash of all that decides what
is in it, so what has been built once is not built again, until its recipe changes.`,
		Example: `  recount images build etcd:3.6.16 nats:2.10.20
  recount images list
  recount images rm --outdated`,
		RunE: unknown("command of images"),
	}
	cmd.AddCommand(imagesBuildCommand(), imagesListCommand(), imagesRmCommand())
	return cmd
}

func imagesBuildCommand() *cobra.Command {
	var again, pull bool
	cmd := &cobra.Command{
		Use:   "build [SYSTEM:VERSION…]",
		Short: "Build images, or pull them",
		Long: `Build images, or with --pull make them of those that the systems' makers publish. Without a name, those that the targets run
by default are built. Images that are there already are left alone, unless --again is given.`,
		Example: `  recount images build
  recount images build etcd:3.4.23 hashicorp-raft:1.6.1
  recount images build etcd:3.4.20 --pull`,
		RunE: func(cmd *cobra.Command, args []string) error {
			images, err := parseImages(args)
			if err != nil {
				return err
			}
			return onEngine(cmd, func(e *docker.Engine) error { return buildImages(cmd, e, images, again, pull) })
		},
	}
	cmd.Flags().BoolVar(&again, "again", false, "build also what is there")
	cmd.Flags().BoolVar(&pull, "pull", false, "pull instead of building")
	return cmd
}

// parseImages reads words like etcd:3.6.16. No words stand for what the targets run by default.
func parseImages(words []string) (images []election.Image, err error) {
	for _, w := range words {
		system, version, ok := strings.Cut(w, ":")
		if !ok || version == "" {
			return nil, hint.Add(fmt.Errorf("%q is not a system and its version", w), "recount images build etcd:3.6.16")
		}
		if known := recipes.Known(); !slices.Contains(known, system) {
			return nil, hint.Unknown("system", system, known)
		}
		image := election.Image{Recipe: system, Version: version}
		if err := recipes.Check(image); err != nil {
			return nil, err
		}
		images = append(images, image)
	}
	if len(words) > 0 {
		return images, nil
	}
	for _, t := range targets.All() {
		if t = t.On(true, nil); t.System == nil {
			continue
		}
		o, err := t.Parse(nil)
		if err != nil {
			return nil, err
		}
		s, err := t.System(o)
		if err != nil {
			return nil, err
		}
		all := []election.Image{s.Image()}
		if service, ok := s.(election.Service); ok {
			all = append(all, service.ServerImage(election.Member{Name: "s1", Server: true}))
		}
		for _, i := range all {
			if !slices.Contains(images, i) {
				images = append(images, i)
			}
		}
	}
	return images, nil
}

func buildImages(cmd *cobra.Command, e *docker.Engine, images []election.Image, again, pull bool) error {
	ctx, bar := cmd.Context(), newProgress(cmd)
	for n, i := range images {
		name, began := i.Recipe+":"+i.Version, time.Now()
		has, err := e.HasImage(ctx, recipes.Ref(i))
		if err != nil {
			return err
		}
		if has && !again {
			fmt.Fprintf(cmd.OutOrStdout(), "%s is there\n", name)
			continue
		}
		tell := func(line string) {
			bar.tell(func() string {
				return fmt.Sprintf("image %d of %d, %s, %v: %s", n+1, len(images), name, time.Since(began).Round(time.Second), line)
			})
		}
		did := "built"
		if pull {
			did, err = "pulled", harness.PullImage(ctx, e, i, tell)
		} else {
			err = harness.BuildImage(ctx, e, i, tell)
		}
		bar.end()
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s %s in %v\n", name, did, time.Since(began).Round(100*time.Millisecond))
	}
	return nil
}

func imagesListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the images that are there",
		Example: "  recount images list",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return onEngine(cmd, func(e *docker.Engine) error {
				all, err := e.Images(cmd.Context())
				if err != nil {
					return err
				}
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				if len(all) > 0 {
					fmt.Fprintln(w, "IMAGE\tSIZE\tMADE\tFROM")
				}
				for _, i := range all {
					fmt.Fprintf(w, "%s\t%.0f MB\t%s\t%s\n", word(i), float64(i.Size)/1e6, count.Ago(i.Made, time.Now()), origin(i))
				}
				return w.Flush()
			})
		},
	}
}

// imageOf reads an image's system and version from its full name: recount/etcd:3.6.16-1f0c….
func imageOf(i docker.Image) election.Image {
	_, tag, _ := strings.Cut(i.Ref, ":")
	end := max(0, strings.LastIndexByte(tag, '-'))
	return election.Image{Recipe: i.System, Version: tag[:end]}
}

// word is what a person calls an image: by the rest of its name if it has no system or no version, as one of packages that a file lists.
func word(i docker.Image) string {
	image := imageOf(i)
	if image.Recipe == "" || image.Version == "" {
		return strings.TrimPrefix(i.Ref, "recount/")
	}
	return image.Recipe + ":" + image.Version
}

// outdated reports whether no run takes this image any more. Which files there are that list its packages, nobody knows.
func outdated(i docker.Image) bool { return i.System != "" && recipes.Ref(imageOf(i)) != i.Ref }

func origin(i docker.Image) string {
	from, pulled := strings.CutPrefix(i.Origin, harness.Pulled)
	switch {
	case pulled:
		return from
	case i.Origin == docker.OfSelf:
		return "Recount itself, to run in containers"
	case i.Origin == docker.OfBinary:
		return "an executable that a spec file names"
	case i.Origin == docker.OfDockerfile:
		return "a Dockerfile that a spec file names"
	case i.System == "":
		return "packages that a spec file lists"
	case outdated(i):
		return "a recipe that has changed since"
	default:
		return "its recipe"
	}
}

func imagesRmCommand() *cobra.Command {
	var all, old bool
	cmd := &cobra.Command{
		Use:   "rm [SYSTEM | SYSTEM:VERSION…]",
		Short: "Remove images",
		Example: `  recount images rm nats etcd:3.4.23
  recount images rm --outdated`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !all && !old {
				return hint.Add(fmt.Errorf("nothing to remove"), "name images, or --outdated, or --all; recount images list shows them")
			}
			return onEngine(cmd, func(e *docker.Engine) error { return removeImages(cmd, e, args, all, old) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "remove all")
	cmd.Flags().BoolVar(&old, "outdated", false, "remove those whose recipe has changed since")
	return cmd
}

func removeImages(cmd *cobra.Command, e *docker.Engine, words []string, all, old bool) error {
	have, err := e.Images(cmd.Context())
	if err != nil {
		return err
	}
	var known []string
	for _, i := range have {
		known = append(known, word(i))
		if i.System != "" {
			known = append(known, i.System)
		}
	}
	for _, w := range words {
		if !slices.Contains(known, w) {
			slices.Sort(known)
			return harness.Usage(hint.Unknown("image", w, slices.Compact(known)))
		}
	}
	for _, i := range have {
		meant := all || old && outdated(i) || i.System != "" && slices.Contains(words, i.System) || slices.Contains(words, word(i))
		if !meant {
			continue
		}
		if err := e.RemoveImage(cmd.Context(), i.Ref); err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s removed\n", word(i))
	}
	return nil
}

// onEngine does something with the container engine. What fails there is no mistake of the caller's.
func onEngine(cmd *cobra.Command, do func(e *docker.Engine) error) error {
	e, err := docker.Connect(cmd.Context())
	if err != nil {
		return failure{err}
	}
	defer e.Close()
	if err := do(e); err != nil {
		if cmd.Context().Err() != nil {
			err = context.Cause(cmd.Context())
		}
		return failure{err}
	}
	return nil
}
