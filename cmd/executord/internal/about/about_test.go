package about

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// What a line is about is not in it, and a time is a text to the millisecond.
func TestKindIsNotWritten(t *testing.T) {
	at := Time{time.Date(2026, 12, 24, 18, 0, 0, 123_456_789, time.FixedZone("", 3600))}
	for want, h := range map[string]func(*bytes.Buffer) slog.Handler{
		` msg=x due=2026-12-24T18:00:00.123+01:00` + "\n": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		`,"msg":"x","due":"2026-12-24T18:00:00.123+01:00"}` + "\n": func(b *bytes.Buffer) slog.Handler {
			return slog.NewJSONHandler(b, nil)
		},
	} {
		var b bytes.Buffer
		slog.New(h(&b)).Info("x", Key, RunEnded, "due", at)
		if !strings.HasSuffix(b.String(), want) {
			t.Errorf("%s does not end with %s", &b, want)
		}
	}
}
