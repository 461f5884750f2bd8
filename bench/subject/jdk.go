package subject

import (
	"github.com/executor-go/executor/bench/drive"
	"github.com/executor-go/executor/bench/workload"
)

// jdk runs in another process: package jdk starts a Java program, which supports all kinds
// of work without a database.
var jdk = Subject{
	ID: "jdk", Title: "JDK", Charts: true,
	How: "`newFixedThreadPool(n)` and `ScheduledThreadPoolExecutor(n)` with `setRemoveOnCancelPolicy(true)`, " +
		"by the `java` on the PATH with its default collector and heap. " +
		"The workload is repeated for seconds before it is run in full and then measured.",
	Choose: "on the JVM.",
	Funcs: drive.Funcs{
		workload.Execute: nil, workload.SubmitBatch: nil, workload.SubmitPingpong: nil,
		workload.ScheduleZero: nil, workload.ScheduleRandom: nil, workload.ScheduleCancel: nil,
		workload.CancelRandom: nil, workload.Pending: nil, workload.Fire: nil,
		workload.Lateness: nil, workload.Idle: nil,
	},
}
