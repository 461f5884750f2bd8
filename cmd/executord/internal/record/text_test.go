package record

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"
)

// What is decoded is what was added, to the second, whatever it looks like.
func TestDecodeIsInverse(t *testing.T) {
	texts := []string{
		"", "a", "stderr: x", "stdout: y", "stderr: stderr: ", "stdout: stdout: z", "\x1b[31m", "\xff\xfe", "stderr:", "  ", "attempt: 7",
		"stdout: attempt: 7", "second: 12", "second: a", "stdout: second: 12",
	}
	for range 200 {
		var all bytes.Buffer
		w := NewWriter(&all)
		var want []Line
		attempt, at := 0, time.Unix(1e9, 0)
		for range rand.IntN(20) {
			if rand.IntN(5) == 0 {
				attempt++
				w.BeginAttempt(attempt)
			}
			at = at.Add(time.Duration(rand.IntN(700)) * time.Millisecond)
			l := Line{
				N: int64(len(want) + 1), At: at.Truncate(time.Second), Stderr: rand.IntN(2) == 0, Text: texts[rand.IntN(len(texts))],
				Attempt: attempt,
			}
			want = append(want, l)
			w.Add(at, l.Stderr, []byte(l.Text))
		}
		cut := rand.IntN(all.Len() + 1)
		got := Decode(all.Bytes()[:cut], all.Bytes()[cut:], 0)
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

// A second that has many lines is written once.
func TestWriterNotesSecondsOnce(t *testing.T) {
	var all bytes.Buffer
	w := NewWriter(&all)
	for i := range 10 {
		w.Add(time.UnixMilli(int64(1000+200*i)), false, []byte("a"))
	}
	if want := "second: 1\na\na\na\na\na\nsecond: 2\na\na\na\na\na\n"; all.String() != want {
		t.Errorf("%q, want %q", all.String(), want)
	}
}

// Where bytes are left out, there are whole lines before and after them, and the count says what is not there.
func TestDecodeLeavesOutCutLines(t *testing.T) {
	again := func(lines []Line) []byte {
		var text bytes.Buffer
		w := NewWriter(&text)
		for _, l := range lines {
			w.Add(time.Unix(0, 0), l.Stderr, []byte(l.Text))
		}
		return text.Bytes()
	}
	var lines []Line
	for i := range 100 {
		lines = append(lines, Line{Stderr: i%2 == 0, Text: string(bytes.Repeat([]byte{byte('a' + i%26)}, i))})
	}
	all := again(lines)
	for range 500 {
		from := rand.IntN(len(all))
		to := from + 1 + rand.IntN(len(all)-from)
		got := Decode(all[:from], all[to:], int64(to-from))
		text := again(got.Head)
		if !bytes.HasPrefix(all, text) {
			t.Fatalf("the begin is %q", text)
		}
		kept := len(text)
		text = again(got.Tail)
		if !bytes.HasSuffix(all, text) {
			t.Fatalf("the end is %q", text)
		}
		if kept += len(text); int64(kept)+got.Omitted != int64(len(all)) {
			t.Fatalf("%d bytes are kept and %d left out, of %d", kept, got.Omitted, len(all))
		}
	}
}
