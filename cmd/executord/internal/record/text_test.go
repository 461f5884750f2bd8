package record

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// What is decoded is what was encoded, whatever it looks like.
func TestDecodeIsInverse(t *testing.T) {
	texts := []string{"", "a", "stderr: x", "stdout: y", "stderr: stderr: ", "stdout: stdout: z", "\x1b[31m", "\xff\xfe", "stderr:", "  ", "attempt: 7", "stdout: attempt: 7"}
	for range 200 {
		var all []byte
		var want []Line
		attempt := 0
		for range rand.IntN(20) {
			if rand.IntN(5) == 0 {
				attempt++
				all = append(all, EncodeAttempt(attempt)...)
			}
			l := Line{N: int64(len(want) + 1), Stderr: rand.IntN(2) == 0, Text: texts[rand.IntN(len(texts))], Attempt: attempt}
			want = append(want, l)
			all = append(all, Encode(l.Stderr, []byte(l.Text))...)
		}
		cut := rand.IntN(len(all) + 1)
		got := Decode(all[:cut], all[cut:], 0)
		if len(got.Head) != len(want) || got.Tail != nil || got.Omitted != 0 {
			t.Fatalf("%d lines, want %d", len(got.Head), len(want))
		}
		for i := range want {
			if got.Head[i] != want[i] {
				t.Errorf("%+v, want %+v", got.Head[i], want[i])
			}
		}
	}
}

// Where bytes are left out, there are whole lines before and after them, and the count says what is not there.
func TestDecodeLeavesOutCutLines(t *testing.T) {
	var all []byte
	for i := range 100 {
		all = append(all, Encode(i%2 == 0, bytes.Repeat([]byte{byte('a' + i%26)}, i))...)
	}
	for range 500 {
		from := rand.IntN(len(all))
		to := from + 1 + rand.IntN(len(all)-from)
		got := Decode(all[:from], all[to:], int64(to-from))
		var text []byte
		for _, l := range got.Head {
			text = append(text, Encode(l.Stderr, []byte(l.Text))...)
		}
		if !bytes.HasPrefix(all, text) {
			t.Fatalf("the begin is %q", text)
		}
		kept := len(text)
		text = nil
		for _, l := range got.Tail {
			text = append(text, Encode(l.Stderr, []byte(l.Text))...)
		}
		if !bytes.HasSuffix(all, text) {
			t.Fatalf("the end is %q", text)
		}
		if kept += len(text); int64(kept)+got.Omitted != int64(len(all)) {
			t.Fatalf("%d bytes are kept and %d left out, of %d", kept, got.Omitted, len(all))
		}
	}
}
