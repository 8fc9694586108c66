package cli

import (
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/olmv1"
	"github.com/olmkit/olmkit/resolver/platform"
)

// documentKinds returns the kinds of documents that commands read, for the
// error about a document of the wrong kind.
func documentKinds() []document.Kind {
	return []document.Kind{
		document.KindOf[resolver.Problem](`this is a problem, which "olmkit resolve" answers and "olmkit explain --record" records`),
		document.KindOf[resolver.Record](`this is a record of a problem, which "olmkit replay" reads`),
		document.KindOf[olmv1.Request](`this is a request for OLM v1, which "olmkit select" answers`),
		document.KindOf[platform.Problem](`this is the upgrade of a platform, which "olmkit platform" plans`),
	}
}
