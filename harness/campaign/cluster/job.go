// Package cluster has a campaign made by pods of Kubernetes: one Indexed Job, of which each index makes some of the chains and
// keeps what came of them in the campaign's store.
package cluster

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"recount/internal/hint"
)

// Job is what a cluster is to make of a campaign.
type Job struct {
	Name        string // of the Job, and of the Secret beside it
	Namespace   string
	Image       string // with Recount's own executable as its entry point
	Args        []string
	Indexes     int // how many there are
	Parallelism int // how many pods at once
	Retries     int // of an index whose pod failed, before it is given up
	CPU, Memory string
	Nodes       map[string]string // labels of the nodes that may be used
	Secret      string            // whose keys become environment variables: who to be to the store; "" for none
	Env         map[string]string
	HostNetwork bool
	Scratch     bool // pods write files while they work: servers in virtual time do
	PullPolicy  string
	// Account is the pods' service account; "" for the namespace's default. Pods ask the cluster for nothing.
	Account string
}

// Label marks what Recount has made in a cluster; its value is the campaign.
const Label = "recount.campaign"

// Manifest returns the Job as Kubernetes takes it.
func (j *Job) Manifest() (*batchv1.Job, error) {
	resources := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	for name, value := range map[corev1.ResourceName]string{corev1.ResourceCPU: j.CPU, corev1.ResourceMemory: j.Memory} {
		if value == "" {
			continue
		}
		q, err := resource.ParseQuantity(value)
		if err != nil {
			return nil, hint.Add(fmt.Errorf("%s %q is no quantity", name, value), "--cpu 1, --cpu 500m, --memory 1Gi")
		}
		resources.Requests[name] = q
		if name == corev1.ResourceMemory {
			resources.Limits[name] = q
		}
	}
	if j.Image == "" {
		return nil, hint.Add(fmt.Errorf("no image for the pods"), "--image registry/recount:tag; docs/campaigns.md says how to make one")
	}
	env := []corev1.EnvVar{}
	for name, value := range j.Env {
		env = append(env, corev1.EnvVar{Name: name, Value: value})
	}
	var from []corev1.EnvFromSource
	if j.Secret != "" {
		from = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: j.Secret}}}}
	}
	var volumes []corev1.Volume
	var mounts []corev1.VolumeMount
	if j.Scratch { // what is in memory counts as the pod's: nodes' disks, which are small
		for _, v := range []struct {
			name, path string
			medium     corev1.StorageMedium
		}{{"tmp", "/tmp", corev1.StorageMediumDefault}, {"shm", "/dev/shm", corev1.StorageMediumMemory}} {
			volumes = append(volumes, corev1.Volume{Name: v.name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: v.medium}}})
			mounts = append(mounts, corev1.VolumeMount{Name: v.name, MountPath: v.path})
		}
	}
	labels := map[string]string{Label: j.Name}
	no, yes := false, true
	nobody := int64(65532)
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: j.Name, Namespace: j.Namespace, Labels: labels},
		Spec: batchv1.JobSpec{
			CompletionMode:       ptr(batchv1.IndexedCompletion),
			Completions:          ptr(int32(j.Indexes)),
			Parallelism:          ptr(int32(min(j.Parallelism, j.Indexes))),
			BackoffLimitPerIndex: ptr(int32(j.Retries)),
			MaxFailedIndexes:     ptr(int32(j.Indexes)), // an index that always fails leaves the others to be done
			// No podFailurePolicy: with one, a pod is replaced only when it is surely gone, and those of a node that was lost never
			// are. Without one each failure counts, of whatever status, and the index is tried again at once.
			PodReplacementPolicy: ptr(batchv1.TerminatingOrFailed),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					RestartPolicy:                 corev1.RestartPolicyNever,
					AutomountServiceAccountToken:  &no,
					EnableServiceLinks:            &no,
					ServiceAccountName:            j.Account,
					HostNetwork:                   j.HostNetwork,
					DNSPolicy:                     dns(j.HostNetwork),
					NodeSelector:                  j.Nodes,
					TerminationGracePeriodSeconds: ptr(int64(5)),
					SecurityContext:               &corev1.PodSecurityContext{RunAsNonRoot: &yes, RunAsUser: &nobody},
					Tolerations: []corev1.Toleration{ // a lost node's indexes are made elsewhere soon
						{Key: "node.kubernetes.io/unreachable", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr(int64(10))},
						{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr(int64(10))},
					},
					Volumes: volumes,
					Containers: []corev1.Container{{
						Name: "recount", Image: j.Image, Args: j.Args, Env: env, EnvFrom: from, Resources: resources, VolumeMounts: mounts,
						ImagePullPolicy: corev1.PullPolicy(j.PullPolicy), TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
						SecurityContext: &corev1.SecurityContext{
							AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
						},
					}},
				},
			},
		},
	}, nil
}

// dns is how pods find a store by its name: as the node does where they are in its network, or where there is no cluster's DNS.
func dns(host bool) corev1.DNSPolicy {
	if host {
		return corev1.DNSDefault
	}
	return corev1.DNSClusterFirst
}

func ptr[T any](v T) *T { return &v }

// Indexes reads a list of indexes as a Job's status has it: "1,3-5".
func Indexes(text string) (all []int) {
	for _, part := range strings.Split(text, ",") {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil {
			continue
		}
		for i := first; i <= last; i++ {
			all = append(all, i)
		}
	}
	return all
}
