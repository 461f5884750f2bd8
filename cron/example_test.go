package cron_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/executor-go/executor/cron"
)

func Example() {
	s, err := cron.Parse("CRON_TZ=America/New_York 30 2 * * mon-fri")
	if err != nil {
		fmt.Println(err)
		return
	}
	friday := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	fmt.Println(s.Next(friday))
	// Output: 2026-11-23 02:30:00 -0500 EST
}

// On the morning when New York has no 02:30, the nightly job runs right after the gap.
func ExampleSchedule_Next_clockChange() {
	s := cron.MustParse("CRON_TZ=America/New_York 30 2 * * *")
	t := time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC)
	for range 3 {
		t = s.Next(t)
		fmt.Println(t)
	}
	// Output:
	// 2026-03-07 02:30:00 -0500 EST
	// 2026-03-08 03:00:00 -0400 EDT
	// 2026-03-09 02:30:00 -0400 EDT
}

func ExampleParse() {
	_, err := cron.Parse("0 25 * * *")
	fmt.Println(err)
	_, err = cron.Parse("0 9 * * mno")
	fmt.Println(err)
	// Output:
	// cron: hour "25" in "0 25 * * *" (column 3): must be 0 to 23
	// cron: day-of-week "mno" in "0 9 * * mno" (column 9): must be 0 to 7 or sun to sat; did you mean "mon"?
}

func ExampleParseIn() {
	tokyo := time.FixedZone("JST", 9*60*60)
	s, err := cron.ParseIn("0 9 * * *", tokyo)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Next(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)))
	// Output: 2026-11-22 09:00:00 +0900 JST
}

func ExampleMustParse() {
	hourly := cron.MustParse("TZ=UTC @hourly")
	fmt.Println(hourly.Next(time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC)))
	// Output: 2026-11-21 11:00:00 +0000 UTC
}

func ExampleSchedule() {
	var never cron.Schedule
	fmt.Println(never.Next(time.Now()).IsZero())
	// Output: true
}

func ExampleSchedule_Next() {
	s := cron.MustParse("TZ=UTC */20 * * * *")
	fmt.Println(s.Next(time.Date(2026, 11, 21, 10, 40, 0, 0, time.UTC)))
	// Output: 2026-11-21 11:00:00 +0000 UTC
}

func ExampleSchedule_Upcoming() {
	s := cron.MustParse("TZ=UTC 0 0 29 2 *")
	for t := range s.Upcoming(time.Date(2092, 1, 1, 0, 0, 0, 0, time.UTC)) {
		fmt.Println(t.Format(time.DateOnly))
		if t.Year() > 2100 {
			break
		}
	}
	// Output:
	// 2092-02-29
	// 2096-02-29
	// 2104-02-29
}

func ExampleSchedule_String() {
	fmt.Println(cron.MustParse("TZ=UTC  0  9 * *  MON-FRI"))
	// Output: CRON_TZ=UTC 0 9 * * mon-fri
}

func ExampleSchedule_Location() {
	fmt.Println(cron.MustParse("TZ=Asia/Tokyo @daily").Location())
	// Output: Asia/Tokyo
}

func ExampleParseError() {
	const crontab = "jobs.crontab"
	_, err := cron.Parse("*/90 * * * *")
	if e, ok := errors.AsType[*cron.ParseError](err); ok {
		fmt.Printf("%s:1:%d: %s %q: %s\n", crontab, e.Column, e.Field, e.Text, e.Problem)
	}
	// Output: jobs.crontab:1:1: minute "*/90": the step is too long for 0 to 59 and selects only 0
}
