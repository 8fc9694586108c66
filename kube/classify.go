package kube

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/olmkit/olmkit/reconcile"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// classify returns an error of the API server in the terms of package
// reconcile: another writer was first, or the server cannot be asked; anything
// else is a refusal for good.
func classify(err error) error {
	var netErr net.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", reconcile.ErrUnavailable, err)
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsResourceExpired(err):
		return fmt.Errorf("%w: %w", reconcile.ErrConflict, err)
	case isRefusal(err):
		return err
	case apierrors.IsTimeout(err), apierrors.IsServerTimeout(err), apierrors.IsTooManyRequests(err),
		apierrors.IsServiceUnavailable(err), apierrors.IsInternalError(err), apierrors.IsUnauthorized(err),
		apierrors.IsUnexpectedServerError(err):
		return fmt.Errorf("%w: %w", reconcile.ErrUnavailable, err)
	case utilnet.IsConnectionRefused(err), utilnet.IsConnectionReset(err), utilnet.IsProbableEOF(err), utilnet.IsHTTP2ConnectionLost(err),
		errors.As(err, &netErr):
		return fmt.Errorf("%w: %w", reconcile.ErrUnavailable, err)
	case meta.IsNoMatchError(err):
		return fmt.Errorf("the cluster does not have this API: %w", err)
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return fmt.Errorf("%w: %w", reconcile.ErrUnavailable, err) // it never was an answer
	}
	return err
}

// The texts by which the API server says that one object cannot be written, with
// a status that it has for its own troubles as well. It has no other sign.
var refusals = []string{
	"failed calling webhook", // an admission webhook that cannot be called, of the objects that it selects
	"etcdserver: request is too large",
	"trying to send message larger than max", // the same, before it is sent to etcd
}

// isRefusal reports whether an error is about the object that was to be written,
// whatever its status says: others can be written.
func isRefusal(err error) bool {
	if apierrors.IsRequestEntityTooLargeError(err) {
		return true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	for _, text := range refusals {
		if strings.Contains(status.Status().Message, text) {
			return true
		}
	}
	return false
}

func isForbidden(err error) bool { return apierrors.IsForbidden(err) }
