package durable_test

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// sealed is a codec that compresses and encrypts. What it makes begins with its version; what does not was stored
// before there was a codec.
type sealed struct{ aead cipher.AEAD }

const sealedVersion = 1

func newSealed(key string) sealed {
	return sealed{must(cipher.NewGCM(must(aes.NewCipher([]byte(key)))))}
}

func (c sealed) Encode(kind string, plain []byte) ([]byte, error) {
	var packed bytes.Buffer
	w := must(flate.NewWriter(&packed, flate.BestSpeed))
	w.Write(plain)
	w.Close()
	nonce := make([]byte, c.aead.NonceSize())
	rand.Read(nonce)
	return c.aead.Seal(append([]byte{sealedVersion}, nonce...), nonce, packed.Bytes(), []byte(kind)), nil
}

func (c sealed) Decode(kind string, stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != sealedVersion {
		return stored, nil
	}
	if len(stored) < 1+c.aead.NonceSize() {
		return nil, errors.New("it is cut short")
	}
	nonce, rest := stored[1:1+c.aead.NonceSize()], stored[1+c.aead.NonceSize():]
	packed, err := c.aead.Open(nil, nonce, rest, []byte(kind))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), 64<<20))
}

const key16 = "0123456789abcdef"

func withCodec(c durable.Codec) func(*durable.Config) {
	return func(config *durable.Config) { config.Codec = c }
}

// Payloads, results, those of steps, and payloads of signals go through the codec, and none is stored as it is.
func TestCodecIsForAllThatIsStored(t *testing.T) {
	const secret = "the secret"
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New(), withCodec(newSealed(key16)))
		kind := durable.Handle(jobs, "k", func(ctx context.Context, payload string) (string, error) {
			step, err := durable.Step(ctx, "s", func(context.Context) (string, error) { return payload + ", kept", nil })
			if err != nil {
				return "", err
			}
			signal, err := durable.Wait[string](ctx, "go")
			return step + "; " + signal, err
		})
		start(t, jobs)
		id := must(kind.Add(t.Context(), secret))
		time.Sleep(time.Second)
		must(jobs.Signal(t.Context(), id, "go", secret+", sent"))
		if got, err := kind.Await(t.Context(), id); got != secret+", kept; "+secret+", sent" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		job := must(jobs.Get(t.Context(), id))
		stored := [][]byte{job.Payload, job.Result}
		for _, k := range must(jobs.Steps(t.Context(), id)) {
			stored = append(stored, k.Result)
		}
		if len(stored) != 4 {
			t.Errorf("%d values are stored", len(stored))
		}
		for i, data := range stored {
			if len(data) == 0 || data[0] != sealedVersion || bytes.Contains(data, []byte(secret)) {
				t.Errorf("value %d is stored as %q", i, data)
			}
		}
		if p, err := kind.Payload(job); p != secret || err != nil {
			t.Errorf("the payload is %q, %v", p, err)
		}
	})
}

// What was stored before there was a codec can be read, as the codec allows. What was stored with another key is an
// error of the run and of who reads it.
func TestCodecReadsWhatIsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		old := durable.KindOf[string, string](newJobs(t, store), "k")
		wrong := newJobs(t, store, withCodec(newSealed("another key 16 b")))
		durable.Handle(wrong, "k", func(context.Context, string) (string, error) {
			t.Error("a payload was read with the wrong key")
			return "", nil
		})
		right := newJobs(t, store, withCodec(newSealed(key16)))
		kind := durable.Handle(right, "k", func(_ context.Context, payload string) (string, error) { return payload + "!", nil })
		stop := start(t, right)
		if got, err := kind.Await(t.Context(), must(old.Add(t.Context(), "old"))); got != "old!" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		stop()
		id := must(kind.Add(t.Context(), "new"))
		start(t, wrong)
		time.Sleep(time.Millisecond)
		job := must(wrong.Get(t.Context(), id))
		if job.Attempt != 1 || !strings.Contains(job.Error, `payload of kind "k"`) {
			t.Errorf("the job is %+v", job)
		}
		if _, err := durable.KindOf[string, string](wrong, "k").Payload(job); err == nil {
			t.Error("the payload was read with the wrong key")
		}
	})
}

// A key that is made of the payload is made of its JSON: a codec that gives other bytes each time makes it no other.
func TestCodecLeavesUniquePayload(t *testing.T) {
	store := memory.New()
	plain, coded := newJobs(t, store), newJobs(t, store, withCodec(newSealed(key16)))
	ids := make(map[durable.ID]bool)
	for _, jobs := range []*durable.Jobs{plain, coded, coded} {
		kind := durable.KindOf[string, string](jobs, "k")
		ids[must(kind.AddAfter(t.Context(), time.Hour, "same", durable.UniquePayload()))] = true
	}
	if len(ids) != 1 {
		t.Errorf("there are %d jobs", len(ids))
	}
}

// fixed is a codec that returns what it has.
type fixed struct {
	data []byte
	err  error
}

func (f fixed) Encode(string, []byte) ([]byte, error) { return f.data, f.err }
func (f fixed) Decode(string, []byte) ([]byte, error) { return f.data, f.err }

// What a codec makes of a payload must have 1 to MaxPayload bytes. That it has not, or that the codec fails, is told by
// the call that adds the job.
func TestCodecLimits(t *testing.T) {
	for name, test := range map[string]struct {
		codec durable.Codec
		want  error
	}{
		"the most":  {fixed{data: make([]byte, durable.MaxPayload)}, nil},
		"too large": {fixed{data: make([]byte, durable.MaxPayload+1)}, executor.ErrInvalid},
		"nothing":   {fixed{}, executor.ErrInvalid},
		"an error":  {fixed{err: errBoom}, errBoom},
	} {
		t.Run(name, func(t *testing.T) {
			jobs := newJobs(t, memory.New(), withCodec(test.codec))
			id, err := durable.KindOf[string, string](jobs, "k").AddAfter(t.Context(), time.Hour, "")
			if !errors.Is(err, test.want) || (err == nil) == (id == durable.ID{}) {
				t.Errorf("got %v, %v; want %v", id, err, test.want)
			}
			if n := len(must(jobs.List(t.Context(), durable.Filter{}))); (n == 1) != (test.want == nil) {
				t.Errorf("there are %d jobs", n)
			}
		})
	}
	large := strings.Repeat("a", 3*durable.MaxPayload)
	packed := durable.KindOf[string, string](newJobs(t, memory.New(), withCodec(newSealed(key16))), "k")
	if _, err := packed.AddAfter(t.Context(), time.Hour, large); err != nil {
		t.Errorf("what is small when it is compressed: %v", err)
	}
	plain := durable.KindOf[string, string](newJobs(t, memory.New()), "k")
	if _, err := plain.AddAfter(t.Context(), time.Hour, large); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("the same as JSON: %v, want ErrInvalid", err)
	}
}

// Every payload comes back through the codec as it was, and whatever bytes are stored are read or are an error.
func FuzzCodec(f *testing.F) {
	f.Add("", []byte(nil))
	f.Add("text", []byte(`"text"`))
	f.Add("\x00\xff", []byte{sealedVersion})
	f.Add("a", must(newSealed(key16).Encode("k", []byte(`"a"`))))
	f.Add("a", must(newSealed(key16).Encode("other", []byte(`"a"`))))
	f.Fuzz(func(t *testing.T, payload string, stored []byte) {
		jobs := newJobs(t, memory.New(), withCodec(newSealed(key16)))
		kind := durable.KindOf[string, string](jobs, "k")
		id, err := kind.AddAfter(t.Context(), time.Hour, payload)
		if err != nil {
			t.Skip(err) // it is too large
		}
		job := must(jobs.Get(t.Context(), id))
		var want string
		if err := json.Unmarshal(must(json.Marshal(payload)), &want); err != nil {
			t.Fatal(err)
		}
		if got, err := kind.Payload(job); got != want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
		job.Payload = stored
		if got, err := kind.Payload(job); err != nil && got != "" {
			t.Errorf("%q came with the error: %v", got, err)
		}
	})
}

// A signal that is sent again after an error is the same, though the codec makes other bytes of it each time; and one
// with another payload is not.
func TestCodecLeavesSignalThatIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New(), withCodec(newSealed(key16)))
		kind := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) { return durable.Wait[string](ctx, "go") })
		id := must(kind.Add(t.Context(), ""))
		for _, test := range []struct {
			payload string
			want    durable.Answer
		}{{"a", durable.Applied}, {"a", durable.Applied}, {"b", durable.TooLate}} {
			if a := must(jobs.Signal(t.Context(), id, "go", test.payload)); a != test.want {
				t.Errorf("%q was answered %v, want %v", test.payload, a, test.want)
			}
		}
		start(t, jobs)
		if got, err := kind.Await(t.Context(), id); got != "a" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if a := must(jobs.Signal(t.Context(), id, "go", "a")); a != durable.TooLate {
			t.Errorf("after the end it was answered %v", a)
		}
	})
}

// failing is a codec that fails while it is set.
type failing struct {
	durable.Codec
	now *bool
}

func (f failing) Encode(kind string, plain []byte) ([]byte, error) {
	if *f.now {
		return nil, errDown
	}
	return f.Codec.Encode(kind, plain)
}

// What was prepared while the codec failed can be added once it works, as after an error of the store.
func TestCodecThatFailsForAWhile(t *testing.T) {
	fails := true
	jobs := newJobs(t, memory.New(), withCodec(failing{newSealed(key16), &fails}))
	kind := durable.KindOf[string, string](jobs, "k")
	job, rate := kind.Prepare(time.Hour, "job"), kind.PrepareAtFixedRate("rate", time.Hour, time.Hour, "rate")
	add := func() (errs []error) {
		_, err := jobs.Add(t.Context(), job)
		results, registered := jobs.Register(t.Context(), rate)
		if registered != nil && results != nil {
			t.Errorf("there are results: %+v", results)
		}
		_, one := kind.AddAfter(t.Context(), time.Hour, "one", durable.Key("one"))
		return []error{err, registered, one}
	}
	for _, err := range add() {
		if !errors.Is(err, errDown) || errors.Is(err, executor.ErrInvalid) {
			t.Errorf("while it fails: %v", err)
		}
	}
	fails = false
	for _, err := range add() {
		if err != nil {
			t.Error(err)
		}
	}
	for _, key := range []string{"", "rate", "one"} {
		for _, j := range must(jobs.List(t.Context(), durable.Filter{Prefix: key})) {
			if p, err := kind.Payload(j); err != nil || j.Key != "" && p != j.Key || j.Payload[0] != sealedVersion {
				t.Errorf("payload %q, %v of %+v", p, err, j)
			}
		}
	}
}
