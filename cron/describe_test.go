package cron_test

import (
	"os"
	"testing"
	"time"

	"github.com/executor-go/executor/cron"
)

// Describe says in words when a schedule is due.
func TestScheduleDescribe(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{"CRON_TZ=Europe/Berlin 30 2 * * mon-fri", "at 02:30 on Monday to Friday, Europe/Berlin"},
		{"* * * * *", "every minute, UTC"},
		{"*/15 * * * *", "every 15 minutes, UTC"},
		{"5/20 * * * *", "every 20 minutes from 00:05 to 23:45, UTC"},
		{"*/7 * * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour, UTC"},
		{"0,20 * * * *", "at minutes 0 and 20 of every hour, UTC"},
		{"0,15,30 9-17 * * *", "at minutes 0, 15 and 30 of hours 9 to 17, UTC"},
		{"0 0-12/3 * * *", "at minute 0 of hours 0, 3, 6, 9 and 12, UTC"},
		{"@hourly", "every hour at minute 0, UTC"},
		{"0,30 9-17 * * 1-5", "every 30 minutes from 09:00 to 17:30 on Monday to Friday, UTC"},
		{"0 */2 * * *", "every 2 hours from 00:00 to 22:00, UTC"},
		{"0 9-17 * * *", "every hour from 09:00 to 17:00, UTC"},
		{"*/20 1,5 * * *", "at minutes 0, 20 and 40 of hours 1 and 5, UTC"},
		{"15 0,12 * * *", "at 00:15 and 12:15 every day, UTC"},
		{"@yearly", "at 00:00 on the 1st of January, UTC"},
		{"0 0 2,3,11,12,13,21,22,23 * *",
			"at 00:00 on the 2nd, the 3rd, the 11th to the 13th and the 21st to the 23rd of the month, UTC"},
		{"0 0 * 3-5 *", "at 00:00 every day in March to May, UTC"},
		{"0 0 * 3 fri", "at 00:00 on Friday in March, UTC"},
		{"0 0 * * sat,sun", "at 00:00 on Saturday and Sunday, UTC"},
		{"0 0 13 * fri", "at 00:00 on the 13th of the month or on Friday, UTC"},
		{"0 0 13 3 fri", "at 00:00 on the 13th of March or on Friday in March, UTC"},
		{"0 0 */2 * fri", "at 00:00 on Friday, only on every 2nd day from the 1st to the 31st of the month, UTC"},
		{"0 0 1-31 * fri", "at 00:00 every day, UTC"},
		{"@every 90m", "every 1h30m"},
		{"@extended 0 0 13 * +fri", "at 00:00 on Friday, only on the 13th of the month, UTC"},
		{"@extended 0 0 L * *", "at 00:00 on the last day of the month, UTC"},
		{"@extended 0 0 L-3,LW,15W * *", "at 00:00 on the weekday nearest to the 15th, " +
			"the weekday nearest to the last day and the day 3 days before the last of the month, UTC"},
		{"@extended 0 0 * * fri#2,monL", "at 00:00 on the second Friday and the last Monday of the month, UTC"},
		{"@extended 0 0 L 3 fri#1", "at 00:00 on the last day of March or on the first Friday of March, UTC"},
		{"@extended */10 * * * * *", "every 10 seconds, UTC"},
		{"@extended */10 * 9-17 * * *", "every 10 seconds from 09:00:00 to 17:59:50, UTC"},
		{"@extended */10 30 2 * * *", "every 10 seconds of the minute 02:30 every day, UTC"},
		{"@extended 0,10 * * * * *", "at seconds 0 and 10 of every minute of every hour, UTC"},
		{"@extended 5 30 2 * * *", "at 02:30:05 every day, UTC"},
		{"@extended 5 */5 * * * *", "every 5 minutes at second 5, UTC"},
		{"@extended 5 0 * * * *", "every hour at minute 0 and second 5, UTC"},
		{"@extended 0 0 12 * * * 2027", "at 12:00 every day in 2027, UTC"},
		{"@extended 0 0 12 1 1 * 2027-2030,2040", "at 12:00 on the 1st of January 2027 to 2030 and 2040, UTC"},
		{"@extended 0 0 12 L * * 2027", "at 12:00 on the last day of the month in 2027, UTC"},
	} {
		if got := in(t, time.UTC, tt.spec).Describe(); got != tt.want {
			t.Errorf("%q:\n\tgot  %s\n\twant %s", tt.spec, got, tt.want)
		}
	}
	if got := cron.MustParse("@daily").Describe(); got != "at 00:00 every day, local time" {
		t.Errorf("in local time: %s", got)
	}
	if got := (cron.Schedule{}).Describe(); got != "never" {
		t.Errorf("the zero Schedule: %s", got)
	}
}

// Two schedules with the same words are due at the same times.
func TestScheduleDescribeIsUnambiguous(t *testing.T) {
	first := make(map[string]cron.Schedule)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	compared := 0
	times := 300
	if os.Getenv("EXECUTOR_LONG") == "" {
		times = 50
	}
	for _, seconds := range []string{"0", "7", "*/20", "5/20", "3,4", "0,20"} {
		for _, minutes := range []string{"0", "30", "*", "*/15", "0,15,30,45", "0-59", "5/15", "5-7", "*/7", "1,31", "0,15"} {
			for _, hours := range []string{"*", "0-23", "3", "*/6", "0,6,12,18", "1/6", "9-17", "2,3", "*/5", "1/2", "0,12", "0-12/6"} {
				for _, days := range []string{
					"* * *", "*/2 * *", "1/2 * *", "13 * fri", "13 * +fri", "1-31 * fri", "L * *", "L * fri", "L-1,2W * +mon#1",
					"* 3 sun", "* 3-5 5-7", "1 3 *", "1 3 mon", "* 2 monL", "* * 0-6", "1,3,5 1,7 *",
				} {
					s := in(t, time.UTC, "@extended "+seconds+" "+minutes+" "+hours+" "+days)
					text := s.Describe()
					other, ok := first[text]
					if !ok {
						first[text] = s
						continue
					}
					compared++
					at := start
					for range times {
						a, b := s.Next(at), other.Next(at)
						if !a.Equal(b) {
							t.Fatalf("%q and %q are both %q, but are due at %v and %v", s, other, text, a, b)
						}
						at = a
					}
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("%d pairs with the same words, want some", compared)
	}
}
