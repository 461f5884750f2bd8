// Package etcd keeps jobs in etcd, which is embedded in the program: three programs are a cluster by themselves, and
// nothing else is installed. Each of them is a member of etcd, which keeps all rows, and may be a node of package
// durable, which runs jobs. If one of three machines is lost, the others go on.
//
//	store, err := etcd.Join(ctx, etcd.Member{
//		Peers: []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, // the same on each machine
//		Dir:   "/var/lib/jobs",
//		TLS:   &etcd.TLS{CA: "ca.crt", Cert: "machine.crt", Key: "machine.key"}, // see Certificates
//	})
//	jobs, err := durable.New(durable.Config{Store: store, Executor: pool})
//
// [Dial] is for programs that are no members, and for a cluster of etcd that runs already.
//
// What is committed is on the disks of a majority of the members. Without a majority nothing is committed, and nothing
// is lost. Each program has all rows in memory, about a kilobyte for each job, and is told of each change: the store is
// for up to about a million jobs, 10,000 runs a second, 8 GB, and some twenty programs. It has no transactions with
// other data: AddTx and CompleteTx fail with an error that matches executor.ErrInvalid.
//
// The clock of the store is that of the member that leads, or of the others if that differs from most of them by more than
// a second. Clocks of members that differ by less make it step when the lead changes hands, so have NTP set them. A cluster of etcd that others run does not tell its time: then each program uses
// the clock of its machine.
package etcd
