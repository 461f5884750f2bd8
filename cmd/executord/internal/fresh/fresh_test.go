package fresh_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/fresh"
)

// bench is two files whose texts must be the same.
type bench struct {
	t    *testing.T
	a, b string
	told []string
	*fresh.Value[string]
}

func newBench(t *testing.T) *bench {
	dir := t.TempDir()
	b := &bench{t: t, a: filepath.Join(dir, "a"), b: filepath.Join(dir, "b")}
	b.write(b.a, "one")
	b.write(b.b, "one")
	var err error
	if b.Value, err = fresh.Open(b.read, b.a, b.b); err != nil {
		t.Fatal(err)
	}
	b.Tell(func(value string, err error) { b.told = append(b.told, fmt.Sprint(value, " ", err)) })
	return b
}

func (b *bench) read() (string, error) {
	one, err := os.ReadFile(b.a)
	if err != nil {
		return "", errors.New("gone")
	}
	other, _ := os.ReadFile(b.b)
	if string(one) != string(other) {
		return "", errors.New("they differ")
	}
	return string(one), nil
}

// write replaces a file, as programs do that renew a certificate.
func (b *bench) write(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(name+".new", []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) want(value string, told ...string) {
	b.t.Helper()
	if got := b.Get(); got != value || strings.Join(b.told, ", ") != strings.Join(told, ", ") {
		b.t.Errorf("%s, told %q; want %s, %q", got, b.told, value, told)
	}
}

// Files that have changed are read again, ten seconds after the last look at them, and no file is read that has not.
func TestValueFollowsFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.write(b.a, "two")
		b.write(b.b, "two")
		b.want("one")
		time.Sleep(10 * time.Second)
		b.want("two", "two <nil>")
		time.Sleep(time.Hour)
		b.want("two", "two <nil>")
	})
}

// While files are wrong, the value stays. That is told if they are so at two looks, and once.
func TestValueOutlastsWrongFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.write(b.a, "two")
		time.Sleep(10 * time.Second)
		b.want("one") // the other may follow
		b.write(b.b, "two")
		time.Sleep(10 * time.Second)
		b.want("two", "two <nil>")
		if err := os.Remove(b.a); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			time.Sleep(10 * time.Second)
			b.Get()
		}
		b.want("two", "two <nil>", "two gone")
		b.write(b.a, "two")
		time.Sleep(10 * time.Second)
		b.want("two", "two <nil>", "two gone", "two <nil>")
	})
}

// Again reads at once, and tells at once what is wrong.
func TestValueAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.write(b.a, "two")
		b.Again()
		b.want("one", "one they differ")
		b.write(b.b, "two")
		b.Again()
		b.want("two", "one they differ", "two <nil>")
	})
}

// Files that are wrong at first are an error.
func TestOpenRefusesWrongFiles(t *testing.T) {
	v, err := fresh.Open(func() (int, error) { return 1, errors.New("wrong") }, filepath.Join(t.TempDir(), "none"))
	if v != nil || err == nil || err.Error() != "wrong" {
		t.Errorf("%v, error %v", v, err)
	}
}
