package cluster

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Refused says why the cluster makes no pods of a Job, such as a quota that is spent, in words; "" if nobody knows. What the
// cluster's controllers meet with is told by events alone.
func (c *Client) Refused(ctx context.Context, name string) (string, error) {
	events := &corev1.EventList{}
	err := c.core.Get().Namespace(c.Namespace).Resource("events").VersionedParams(&metav1.ListOptions{
		FieldSelector: "involvedObject.kind=Job,involvedObject.name=" + name + ",reason=FailedCreate", Limit: 500,
	}, c.params).Do(ctx).Into(events)
	if err != nil {
		return "", c.fault("look at events of Job "+name, err)
	}
	return refused(events.Items), nil
}

// refused is the last of events in which a pod was not made.
func refused(events []corev1.Event) (why string) {
	var last metav1.Time
	for _, e := range events {
		if !e.LastTimestamp.Before(&last) {
			last, why = e.LastTimestamp, "no pod is made: "+strings.TrimPrefix(tail(e.Message), "Error creating: ")
		}
	}
	return why
}

// Trouble says why pods of a Job do not run although they were to, or else why the last one that failed did, in words; "" if
// there is neither.
func (c *Client) Trouble(ctx context.Context, name string) (string, error) {
	pods := &corev1.PodList{}
	err := c.core.Get().Namespace(c.Namespace).Resource("pods").VersionedParams(&metav1.ListOptions{
		LabelSelector: Label + "=" + name, FieldSelector: "status.phase!=Running,status.phase!=Succeeded", Limit: 500,
	}, c.params).Do(ctx).Into(pods)
	if err != nil {
		return "", c.fault("look at pods of Job "+name, err)
	}
	if why := waiting(pods.Items); why != "" {
		return why, nil
	}
	return failed(pods.Items), nil
}

// waiting says what a pod that does not start waits for.
func waiting(pods []corev1.Pod) string {
	for _, p := range pods {
		for _, s := range p.Status.ContainerStatuses {
			if w := s.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
				return quote(p.Name, w.Reason, w.Message)
			}
		}
		for _, cond := range p.Status.Conditions {
			if p.Status.Phase == corev1.PodPending && cond.Type == corev1.PodScheduled && cond.Status == corev1.ConditionFalse {
				return quote(p.Name, cond.Reason, cond.Message)
			}
		}
	}
	return ""
}

// failed says why the last pod that failed did: its own last words, or those of what was to start it.
func failed(pods []corev1.Pod) (why string) {
	var last metav1.Time
	for _, p := range pods {
		for _, s := range p.Status.ContainerStatuses {
			if t := s.State.Terminated; t != nil && t.ExitCode != 0 && !t.FinishedAt.Before(&last) {
				last, why = t.FinishedAt, quote(p.Name, fmt.Sprintf("%s, status %d", t.Reason, t.ExitCode), t.Message)
			}
		}
		if p.Status.Phase == corev1.PodFailed && len(p.Status.ContainerStatuses) == 0 && why == "" { // evicted, or its node refused it
			why = quote(p.Name, p.Status.Reason, p.Status.Message)
		}
	}
	return why
}

// quote is what is said of a pod, in one line.
func quote(pod, reason, message string) string {
	return strings.TrimSuffix(fmt.Sprintf("pod %s: %s: %s", pod, reason, tail(message)), ": ")
}

// tail is a message in one line: what went wrong stands at its end.
func tail(message string) string {
	const most = 300
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > most {
		message = "…" + strings.ToValidUTF8(message[len(message)-most:], "")
	}
	return message
}
