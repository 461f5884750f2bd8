package figures_test

import (
	"testing"

	"github.com/executor-go/executor/ui/internal/figures"
)

// A rhythm is shown without what is zero, and an expression of cron apart from its zone, with its words.
func TestNewRhythm(t *testing.T) {
	for schedule, want := range map[string]figures.Rhythm{
		"once":                                  {Text: "once"},
		"rate 24h0m0s":                          {Text: "every 24h"},
		"delay 1m30s":                           {Text: "1m30s after each run"},
		"every 5m0s":                            {Text: "every 5m"},
		"5m0s after each run":                   {Text: "5m after each run"},
		"cron CRON_TZ=Europe/Berlin 30 2 * * *": {Text: "30 2 * * *", More: "at 02:30 every day, Europe/Berlin"},
		"cron CRON_TZ=Local @daily":             {Text: "@daily", More: "at 00:00 every day, local time"},
		"CRON_TZ=UTC 0 12 * * *":                {Text: "0 12 * * *", More: "at 12:00 every day, UTC"},
		"cron CRON_TZ=Mars/Base 30 2 * * *":     {Text: "30 2 * * *", More: "Mars/Base"},
		"cron 30 2 * * *":                       {Text: "30 2 * * *"},
		"trigger tides of Hamburg":              {Text: "tides of Hamburg"},
		"rate \x00":                             {Text: `every \x00`},
	} {
		if got := figures.NewRhythm(schedule); got != want {
			t.Errorf("%q is %+v; want %+v", schedule, got, want)
		}
	}
}
