package report_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/report"
)

// Write annotations for a GitHub workflow about a catalog in directory catalogs/4.18 of the
// repository.
func ExampleWrite() {
	_, found, err := fbc.CheckReader(context.Background(), strings.NewReader("schema: olm.package\nname: etcd\n"), "etcd.yaml", nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := report.Write(context.Background(), os.Stdout, report.GitHub, found, &report.Options{Prefix: "catalogs/4.18"}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ::error file=catalogs/4.18/etcd.yaml,line=1,title=empty-package::olm.package "etcd": the package has no channels and no bundles; add at least one of each
	// ::error file=catalogs/4.18/etcd.yaml,line=1,title=required::olm.package "etcd": /defaultChannel: is missing or empty; name the channel for users who choose none
}
