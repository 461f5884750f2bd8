package main

// cronMutants break cron schedules.
var cronMutants = []mutant{
	{
		file: "cron/zone.go", what: "a fixed time in a gap is due before the gap",
		old: "due := max(wall-e.offset, e.start); due < e.end",
		new: "due := wall - e.offset; due < e.end",
	},
	{
		file: "cron/zone.go", what: "a fixed time is due in both passes of a repeated hour",
		old: "		latest = max(latest, e.end-1+e.offset)\n",
		new: "",
	},
	{
		file: "cron/zone.go", what: "Next may be the time asked about",
		old: "from := now + 1\n",
		new: "from := now\n",
	},
	{
		file: "cron/zone.go", what: "a starred spec leaves out the repeated hour",
		old: "if e.end-from >= maxShift {",
		new: "if e.end-from >= 0 {",
	},
	{
		file: "cron/calendar.go", what: "a day must satisfy both day fields",
		old: "		set |= c.days\n",
		new: "		set &= c.days\n",
	},
	{
		file: "cron/calendar.go", what: "one day field with a star is enough",
		old: "		set &= c.days\n",
		new: "		set |= c.days\n",
	},
	{
		file: "cron/calendar.go", what: "1900 is a leap year",
		old: "year%4 == 0 && (year%100 != 0 || year%400 == 0)",
		new: "year%4 == 0",
	},
	{
		file: "cron/calendar.go", what: "the week begins on a Monday",
		old: "first + 4 - 7*floorDiv(first+4, 7)",
		new: "first + 3 - 7*floorDiv(first+3, 7)",
	},
	{
		file: "cron/calendar.go", what: "a minute that has begun is due",
		old: "floorDiv(wall+59, 60)",
		new: "floorDiv(wall, 60)",
	},
	{
		file: "cron/calendar.go", what: "another day begins at the minute asked about",
		old: "					clock, _ = c.clockFrom(0)\n",
		new: "					_ = clock\n",
	},
	{
		file: "cron/calendar.go", what: "days below zero are rounded up",
		old: "	if x%n < 0 {\n\t\tq--\n\t}\n",
		new: "",
	},
	{
		file: "cron/field.go", what: "7 is not Sunday",
		old: "		set = set&^(1<<7) | 1\n",
		new: "		set &^= 1 << 7\n",
	},
	{
		file: "cron/field.go", what: "a range leaves out its last value",
		old: "for v := low; v <= high; v += step {",
		new: "for v := low; v < max(high, low+1); v += step {",
	},
	{
		file: "cron/cron.go", what: "@every wraps round at the end of time",
		old: "		if !next.After(after) { // wrapped round at the end of time\n\t\t\treturn time.Time{}\n\t\t}\n",
		new: "",
	},
}
