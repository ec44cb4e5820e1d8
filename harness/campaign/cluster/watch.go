package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"recount/internal/hint"
)

// Progress is how far a Job is.
type Progress struct {
	Done, Failed, Indexes int
	Active, Terminating   int    // pods
	Trouble               string // see Client.Trouble
}

// Outcome is how a Job ended.
type Outcome struct {
	Completed, Failed []int  // indexes
	Why               string // the last pod of them failed; "" if nobody knows
}

// patience is how often a Job without a pod is looked at before what keeps pods away is taken to last.
const patience = 15

// Watch looks at a Job until all its indexes are done or given up, or ctx ends, and tells how it goes. It asks now and then: a
// watch that breaks would have to be begun anew, and nothing is in a hurry.
func (c *Client) Watch(ctx context.Context, name string, every time.Duration, tell func(Progress)) (*Outcome, error) {
	silent, barren := 0, 0
	for {
		j, err := c.Get(ctx, name)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			if silent++; silent >= 10 { // a control plane may be away for a while
				return nil, err
			}
		case j == nil:
			return nil, hint.Add(fmt.Errorf("no Job %s in namespace %s", name, c.Namespace), "it was stopped or removed; what was made is in the store, and the same command goes on")
		default:
			silent = 0
			o, p := look(j)
			if p.Done == 0 && p.Active > 0 || j.Status.Failed > 0 {
				if p.Trouble, err = c.Trouble(ctx, name); err != nil {
					p.Trouble = err.Error()
				}
			}
			if p.Done+p.Failed+p.Active+p.Terminating+int(j.Status.Failed) > 0 {
				barren = 0
			} else if barren++; barren%5 == 0 { // a while ago there was to be a pod
				if p.Trouble, err = c.Refused(ctx, name); err != nil {
					p.Trouble = err.Error()
				}
			}
			tell(p)
			if barren >= patience && p.Trouble != "" && barren%5 == 0 {
				return o, hint.Add(fmt.Errorf("the cluster takes no pods of Job %s: %s", name, p.Trouble),
					"the Job waits, and recount campaign attach comes back to it; or recount campaign stop ends it, and the same command asks for less: --cpu, --memory")
			}
			if p.Done == 0 && hopeless(p.Trouble) {
				return o, hint.Add(fmt.Errorf("the pods of Job %s do not start: %s", name, p.Trouble),
					"look at --image, and at who may pull it; recount campaign stop ends the Job")
			}
			if len(o.Completed)+len(o.Failed) >= p.Indexes {
				if o.Why = p.Trouble; len(o.Failed) == 0 {
					o.Why = ""
				}
				return o, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(every):
		}
	}
}

// hopeless reports whether pods wait for what will not come.
func hopeless(why string) bool {
	for _, reason := range []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError"} {
		if strings.Contains(why, reason) {
			return true
		}
	}
	return false
}

// look reads a Job's status.
func look(j *batchv1.Job) (*Outcome, Progress) {
	o := &Outcome{Completed: Indexes(j.Status.CompletedIndexes)}
	if j.Status.FailedIndexes != nil {
		o.Failed = Indexes(*j.Status.FailedIndexes)
	}
	p := Progress{Done: len(o.Completed), Failed: len(o.Failed), Active: int(j.Status.Active)}
	if j.Status.Terminating != nil {
		p.Terminating = int(*j.Status.Terminating)
	}
	if j.Spec.Completions != nil {
		p.Indexes = int(*j.Spec.Completions)
	}
	for _, cond := range j.Status.Conditions { // it may have ended with indexes that nobody has counted
		if cond.Type == batchv1.JobFailed && cond.Status == corev1.ConditionTrue && p.Done+p.Failed < p.Indexes {
			counted := map[int]bool{}
			for _, i := range append(append([]int{}, o.Completed...), o.Failed...) {
				counted[i] = true
			}
			for i := range p.Indexes {
				if !counted[i] {
					o.Failed = append(o.Failed, i)
				}
			}
		}
	}
	return o, p
}
