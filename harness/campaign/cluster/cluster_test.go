package cluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"recount/internal/hint"
)

func job() *Job {
	return &Job{Name: "recount-x", Image: "recount:1", Args: []string{"campaign", "work"}, Indexes: 8, Parallelism: 20, Retries: 3, CPU: "1", Memory: "1Gi"}
}

func TestManifest(t *testing.T) {
	j := job()
	j.Secret, j.Nodes = "s", map[string]string{"disk": "fast"}
	m, err := j.Manifest()
	require.NoError(t, err)
	require.Equal(t, batchv1.IndexedCompletion, *m.Spec.CompletionMode)
	require.EqualValues(t, 8, *m.Spec.Completions)
	require.EqualValues(t, 8, *m.Spec.Parallelism, "no more pods than indexes")
	require.EqualValues(t, 3, *m.Spec.BackoffLimitPerIndex)
	pod := m.Spec.Template.Spec
	require.Equal(t, corev1.RestartPolicyNever, pod.RestartPolicy)
	require.False(t, *pod.AutomountServiceAccountToken, "pods have no rights in the cluster")
	require.Equal(t, "s", pod.Containers[0].EnvFrom[0].SecretRef.Name)
	require.Equal(t, map[string]string{"disk": "fast"}, pod.NodeSelector)
	require.Nil(t, m.Spec.PodFailurePolicy, "pods of a lost node would never be replaced")
	require.Equal(t, batchv1.TerminatingOrFailed, *m.Spec.PodReplacementPolicy)
	require.Empty(t, pod.Volumes)

	j.Scratch = true
	m, err = j.Manifest()
	require.NoError(t, err)
	pod = m.Spec.Template.Spec
	require.True(t, *pod.Containers[0].SecurityContext.ReadOnlyRootFilesystem)
	require.Equal(t, []corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}, {Name: "shm", MountPath: "/dev/shm"}}, pod.Containers[0].VolumeMounts)
	require.Len(t, pod.Volumes, 2)
}

func TestMistakesInAJob(t *testing.T) {
	for want, change := range map[string]func(*Job){
		"no image for the pods":       func(j *Job) { j.Image = "" },
		`memory "much" is no quantit`: func(j *Job) { j.Memory = "much" },
		`cpu "two" is no quantity`:    func(j *Job) { j.CPU = "two" },
	} {
		j := job()
		change(j)
		_, err := j.Manifest()
		require.ErrorContains(t, err, want)
		require.NotEmpty(t, hint.Of(err))
	}
}

func TestStatusOfAJob(t *testing.T) {
	require.Equal(t, []int{1, 3, 4, 5}, Indexes("1,3-5"))
	require.Empty(t, Indexes(""))
	m, err := job().Manifest()
	require.NoError(t, err)
	failed := "7"
	m.Status = batchv1.JobStatus{CompletedIndexes: "0-5", FailedIndexes: &failed, Active: 1, Terminating: ptr(int32(2))}
	o, p := look(m)
	require.Equal(t, Progress{Done: 6, Failed: 1, Indexes: 8, Active: 1, Terminating: 2}, p)
	require.Equal(t, []int{7}, o.Failed)
	m.Status.Active, m.Status.Conditions = 0, []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
	o, _ = look(m)
	require.ElementsMatch(t, []int{6, 7}, o.Failed, "what nobody counted is not done")
}

func TestTroubleOfPods(t *testing.T) {
	pod := func(name string, state corev1.ContainerState) corev1.Pod {
		p := corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{State: state}}}}
		p.Name = name
		return p
	}
	ended := func(at int64, reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 128, Reason: reason, Message: message, FinishedAt: metav1.Unix(at, 0)}}
	}
	pods := []corev1.Pod{
		pod("x-1", ended(5, "StartError", "failed to start:\n exec /recount: no such file or directory")),
		pod("x-0", ended(4, "Error", "older")),
		pod("x-2", corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}),
	}
	require.Empty(t, waiting(pods))
	require.Equal(t, "pod x-1: StartError, status 128: failed to start: exec /recount: no such file or directory", failed(pods))
	require.Equal(t, "pod x: Error", quote("x", "Error", ""))
	long := quote("x", "Error", strings.Repeat("é", 500)+" the end")
	require.True(t, strings.HasSuffix(long, " the end") && len(long) < 400, long)
	pods = append(pods, pod("x-3", corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such image"}}))
	require.Equal(t, "pod x-3: ErrImagePull: no such image", waiting(pods))
	require.Empty(t, failed(nil))
}
