package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"recount/internal/hint"
)

// Client speaks to a cluster. Of its API it knows Jobs, Pods and Secrets only: clients of all there is are ten times as large.
type Client struct {
	Host      string
	Context   string // its name; "" in a pod of the cluster
	Namespace string
	batch     rest.Interface
	core      rest.Interface
	params    runtime.ParameterCodec
}

// Dial makes a client of the cluster that kubectl speaks to, by a file and a context of it; "" for those that kubectl takes.
// With "" for the namespace it is that of the context.
func Dial(file, context, namespace string) (*Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: context})
	cfg, err := loaded.ClientConfig()
	if err != nil {
		return nil, hint.Add(fmt.Errorf("which cluster? %w", err), "--kubeconfig FILE and --context NAME say it, or KUBECONFIG")
	}
	c := &Client{Host: cfg.Host, Context: context, Namespace: namespace}
	if c.Context == "" {
		raw, err := loaded.RawConfig()
		if err != nil {
			return nil, err
		}
		c.Context = raw.CurrentContext
	}
	if c.Namespace == "" {
		if c.Namespace, _, err = loaded.Namespace(); err != nil {
			return nil, err
		}
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{batchv1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	c.params = runtime.NewParameterCodec(scheme)
	codecs := serializer.NewCodecFactory(scheme).WithoutConversion()
	client := func(group schema.GroupVersion, path string) (rest.Interface, error) {
		own := rest.CopyConfig(cfg)
		own.GroupVersion, own.APIPath, own.NegotiatedSerializer, own.UserAgent = &group, path, codecs, "recount"
		own.Timeout = 30 * time.Second
		return rest.RESTClientFor(own)
	}
	if c.batch, err = client(batchv1.SchemeGroupVersion, "/apis"); err == nil {
		c.core, err = client(corev1.SchemeGroupVersion, "/api")
	}
	return c, err
}

// fault says what the cluster refused, and the way out.
func (c *Client) fault(doing string, err error) error {
	var unreachable *url.Error
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "exceeded quota"):
		return hint.Add(fmt.Errorf("the cluster at %s refuses to %s: %s", c.Host, doing, oneLine(err)), "ask for less (--parallelism, --cpu, --memory), end another Job, or take another --namespace")
	case apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
		return hint.Add(fmt.Errorf("the cluster at %s refuses to %s: %s", c.Host, doing, oneLine(err)), "docs/campaigns.md has the rights that it takes, to be applied by somebody who may")
	case apierrors.IsNotFound(err):
		return hint.Add(fmt.Errorf("%s: %s", doing, oneLine(err)), "is --namespace right? It is %s", c.Namespace)
	case errors.As(err, &unreachable):
		return hint.Add(fmt.Errorf("the cluster at %s does not answer: %w", c.Host, unreachable.Err), "is it the right one? --kubeconfig FILE and --context NAME name another")
	}
	return hint.Add(fmt.Errorf("%s: %s", doing, oneLine(err)), "recount campaign run --dry-run prints what it was asked for")
}

// oneLine is an error in one line: those of clusters may have several.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// Create has the cluster make a Job, with its Secret, if it has one: that is there before pods look for it, and is then given to the
// Job, so that it goes with it. A Job of that name that is there already goes on: it makes the same. It is looked for first, for a cluster
// may refuse by a quota what is there, and again after an error, which does not say that nothing was made.
func (c *Client) Create(ctx context.Context, j *batchv1.Job, secret *corev1.Secret) error {
	made, err := c.Get(ctx, j.Name)
	if err != nil {
		return err
	}
	if secret != nil {
		if err := c.put(ctx, secret); err != nil {
			return c.fault("make Secret "+secret.Name, err)
		}
	}
	if made == nil {
		made = &batchv1.Job{}
		if err := c.batch.Post().Namespace(c.Namespace).Resource("jobs").Body(j).Do(ctx).Into(made); err != nil {
			there, unknown := c.Get(context.WithoutCancel(ctx), j.Name)
			if there == nil && secret != nil {
				unknown = c.removeSecret(context.WithoutCancel(ctx), secret.Name)
			}
			if there == nil || unknown != nil {
				return errors.Join(c.fault("make Job "+j.Name, err), unknown)
			}
			made = there
		}
	}
	if secret == nil {
		return nil
	}
	secret.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: made.Name, UID: made.UID}}
	return c.fault("give Secret "+secret.Name+" to its Job", c.put(ctx, secret))
}

// put makes a Secret, or makes it anew.
func (c *Client) put(ctx context.Context, secret *corev1.Secret) error {
	err := c.core.Post().Namespace(c.Namespace).Resource("secrets").Body(secret).Do(ctx).Error()
	if apierrors.IsAlreadyExists(err) {
		err = c.core.Put().Namespace(c.Namespace).Resource("secrets").Name(secret.Name).Body(secret).Do(ctx).Error()
	}
	return err
}

func (c *Client) removeSecret(ctx context.Context, name string) error {
	err := c.core.Delete().Namespace(c.Namespace).Resource("secrets").Name(name).Do(ctx).Error()
	if apierrors.IsNotFound(err) {
		return nil
	}
	return c.fault("remove Secret "+name, err)
}

// Get returns a Job; nil if there is none of that name.
func (c *Client) Get(ctx context.Context, name string) (*batchv1.Job, error) {
	j := &batchv1.Job{}
	err := c.batch.Get().Namespace(c.Namespace).Resource("jobs").Name(name).Do(ctx).Into(j)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return j, c.fault("look at Job "+name, err)
}

// Stop ends a Job, and reports whether there was one: its pods go, and its Secret; what they have kept in the store stays.
func (c *Client) Stop(ctx context.Context, name string) (there bool, err error) {
	err = c.batch.Delete().Namespace(c.Namespace).Resource("jobs").Name(name).
		Body(&metav1.DeleteOptions{PropagationPolicy: ptr(metav1.DeletePropagationBackground)}).Do(ctx).Error()
	if err != nil && !apierrors.IsNotFound(err) {
		return false, c.fault("stop Job "+name, err)
	}
	return err == nil, c.removeSecret(ctx, name) // who made it may have been killed before it was the Job's
}

// Runs reports whether there is a Job of that name that has not ended.
func (c *Client) Runs(ctx context.Context, name string) (bool, error) {
	j, err := c.Get(ctx, name)
	if err != nil || j == nil {
		return false, err
	}
	return !slices.ContainsFunc(j.Status.Conditions, func(cond batchv1.JobCondition) bool {
		return (cond.Type == batchv1.JobComplete || cond.Type == batchv1.JobFailed) && cond.Status == corev1.ConditionTrue
	}), nil
}
