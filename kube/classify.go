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

// classify translates an error of the API server to the errors of package
// reconcile: a conflict with another writer, or an unavailable server. Any
// other error is permanent.
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
		return fmt.Errorf("%w: %w", reconcile.ErrUnavailable, err) // the server did not respond
	}
	return err
}

// refusals are texts in the API server's errors for an object that cannot be
// written. The status of these errors is that of an unavailable server, so only
// the text identifies them.
var refusals = []string{
	"failed calling webhook", // an admission webhook that cannot be called
	"etcdserver: request is too large",
	"trying to send message larger than max", // an object that is too large, reported by the etcd client
}

// isRefusal reports whether an error concerns only the object being written,
// regardless of its status. Other objects can still be written.
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
