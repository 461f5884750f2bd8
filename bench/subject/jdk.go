package subject

import (
	"github.com/executor-go/executor/bench/drive"
	"github.com/executor-go/executor/bench/workload"
)

// jdk runs elsewhere: package jdk starts a Java program, which does all kinds
// of work by itself.
var jdk = Subject{
	ID: "jdk", Title: "JDK", Charts: true,
	How:    "`newFixedThreadPool(n)` and `ScheduledThreadPoolExecutor(n)` with `setRemoveOnCancelPolicy(true)`, by the `java` on the PATH with its own choice of collector and heap. The workload is repeated for seconds before it is done in full and then measured.",
	Choose: "on the JVM.",
	Can: drive.Can{
		workload.Execute: nil, workload.SubmitBatch: nil, workload.SubmitPingpong: nil,
		workload.ScheduleZero: nil, workload.ScheduleRandom: nil, workload.ScheduleCancel: nil,
		workload.CancelRandom: nil, workload.Pending: nil, workload.Fire: nil,
		workload.Lateness: nil, workload.Idle: nil,
	},
}
