package howto

import (
	"bytes"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A payload is encrypted in the store, and is read with the key; so is one that was stored before there was a key.
func TestEncryption(t *testing.T) {
	store := memory.New()
	before, err := durable.New(durable.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	after, err := openJobs(store, []byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	for jobs, encrypted := range map[*durable.Jobs]bool{before: false, after: true} {
		id, err := durable.KindOf[string, string](jobs, "mail").AddAfter(t.Context(), time.Hour, "secret")
		if err != nil {
			t.Fatal(err)
		}
		job, err := after.Get(t.Context(), id)
		if err != nil || bytes.Contains(job.Payload, []byte("secret")) == encrypted {
			t.Errorf("stored is %q, %v", job.Payload, err)
		}
		if got, err := durable.KindOf[string, string](after, "mail").Payload(job); got != "secret" || err != nil {
			t.Errorf("the payload is %q, %v", got, err)
		}
	}
}
