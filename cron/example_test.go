package cron_test

import (
	"encoding/json"
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

// Every second Tuesday, at two in the afternoon with or without summer time.
func ExampleSchedule_Next_since() {
	s := cron.MustParse("CRON_TZ=Europe/Berlin @since 2026-03-17 14:00 every 14d")
	for t := range s.Upcoming(time.Date(2026, 3, 20, 0, 0, 0, 0, time.UTC)) {
		fmt.Println(t)
		if t.Month() == time.April {
			break
		}
	}
	// Output:
	// 2026-03-31 14:00:00 +0200 CEST
	// 2026-04-14 14:00:00 +0200 CEST
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

// The last working day of each month, at half past six and ten seconds, as Quartz writes it.
func ExampleExtended() {
	quartz := cron.Extended{Seconds: true, Years: true, SundayIsOne: true, Location: time.UTC}
	s, err := quartz.Parse("10 30 18 LW * ?")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Next(time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)))
	fmt.Println(s)
	// Output:
	// 2026-10-30 18:30:10 +0000 UTC
	// @extended 10 30 18 LW * *
}

// Jobs with an H in place of a minute are spread over the hour by their names.
func ExampleExtended_name() {
	for _, name := range []string{"backup", "report"} {
		s, err := cron.Extended{Name: name}.Parse("H 2 * * *")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, s)
	}
	// Output:
	// backup 13 2 * * *
	// report 11 2 * * *
}

// A spec that was written for a cron daemon, with a step that selects one value only.
func ExampleParseLenient() {
	s, notes, err := cron.ParseLenient("0 */24 * * *", time.UTC)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, note := range notes {
		fmt.Println(note)
	}
	fmt.Println(s.Next(time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)))
	// Output:
	// cron: hour "*/24" in "0 */24 * * *" (column 3): the step is too long for 0 to 23 and selects only 0; write "0" for a fixed time, or "@every 24h" for every 24 hours of real time
	// 2026-11-22 00:00:00 +0000 UTC
}

func ExampleSchedule_Prev() {
	s := cron.MustParse("TZ=UTC 30 2 * * mon")
	fmt.Println(s.Prev(time.Date(2026, 11, 21, 10, 40, 0, 0, time.UTC)))
	// Output: 2026-11-16 02:30:00 +0000 UTC
}

func ExampleSchedule_Describe() {
	fmt.Println(cron.MustParse("TZ=Europe/Berlin 30 2 * * mon-fri").Describe())
	fmt.Println(cron.MustParse("TZ=UTC */15 9-17 * * *").Describe())
	// Output:
	// at 02:30 on Monday to Friday, Europe/Berlin
	// every 15 minutes from 09:00 to 17:45, UTC
}

// A schedule in a JSON document.
func ExampleSchedule_MarshalText() {
	type job struct {
		Name string
		When cron.Schedule
	}
	data, err := json.Marshal(job{"backup", cron.MustParse("TZ=Europe/Berlin 30 2 * * *")})
	fmt.Println(string(data), err)
	// Output: {"Name":"backup","When":"CRON_TZ=Europe/Berlin 30 2 * * *"} <nil>
}
