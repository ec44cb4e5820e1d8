package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
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
	c := &Client{Host: cfg.Host, Namespace: namespace}
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
	case apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
		return hint.Add(fmt.Errorf("the cluster at %s refuses to %s: %w", c.Host, doing, err), "docs/campaigns.md has the rights that it takes, to be applied by somebody who may")
	case apierrors.IsNotFound(err):
		return hint.Add(fmt.Errorf("%s: %w", doing, err), "is --namespace right? It is %s", c.Namespace)
	case errors.As(err, &unreachable):
		return hint.Add(fmt.Errorf("the cluster at %s does not answer: %w", c.Host, unreachable.Err), "is it the right one? --kubeconfig FILE and --context NAME name another")
	}
	return hint.Add(fmt.Errorf("%s: %w", doing, err), "recount campaign run --dry-run prints what it was asked for")
}

// Create has the cluster make a Job, with its Secret, if it has one. A Job of that name that is there already goes on: it makes
// the same.
func (c *Client) Create(ctx context.Context, j *batchv1.Job, secret *corev1.Secret) error {
	if secret != nil {
		err := c.core.Post().Namespace(c.Namespace).Resource("secrets").Body(secret).Do(ctx).Error()
		if apierrors.IsAlreadyExists(err) {
			err = c.core.Put().Namespace(c.Namespace).Resource("secrets").Name(secret.Name).Body(secret).Do(ctx).Error()
		}
		if err != nil {
			return c.fault("make Secret "+secret.Name, err)
		}
	}
	err := c.batch.Post().Namespace(c.Namespace).Resource("jobs").Body(j).Do(ctx).Error()
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return c.fault("make Job "+j.Name, err)
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

// Stop ends a Job: its pods go, and what they have kept in the store stays.
func (c *Client) Stop(ctx context.Context, name string) error {
	err := c.batch.Delete().Namespace(c.Namespace).Resource("jobs").Name(name).
		Body(&metav1.DeleteOptions{PropagationPolicy: ptr(metav1.DeletePropagationBackground)}).Do(ctx).Error()
	if err != nil && !apierrors.IsNotFound(err) { // without it there may still be its Secret
		return c.fault("stop Job "+name, err)
	}
	if err := c.core.Delete().Namespace(c.Namespace).Resource("secrets").Name(name).Do(ctx).Error(); err != nil && !apierrors.IsNotFound(err) {
		return c.fault("remove Secret "+name, err)
	}
	return nil
}
