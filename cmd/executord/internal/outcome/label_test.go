package catalog_test

import (
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
)

// A label is read as it was written, and no other text is one.
func TestLabelIsReadAsWritten(t *testing.T) {
	for label, text := range map[catalog.Label]string{
		{}:                         "",
		{Attempts: 3}:              "3 attempts",
		{Attempts: 1, Open: true}:  "1 attempts so far",
		{Attempts: 12, Open: true}: "12 attempts so far",
	} {
		if got := label.String(); got != text || catalog.ParseLabel(text) != label {
			t.Errorf("%+v: %q, which is read as %+v", label, got, catalog.ParseLabel(text))
		}
	}
	for _, text := range []string{"timeout", "attempts", "-1 attempts", "0 attempts so far", "03 attempts", "3 attempts ", "1 attempts"} {
		if got := catalog.ParseLabel(text); got != (catalog.Label{}) {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
