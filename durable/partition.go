package durable

// Partition assigns the job to a part of its kind, such as a customer, for handlers with PartitionLimit: 1 to MaxKey
// bytes of UTF-8 without control characters. For other handlers it only sets Job.Partition.
func Partition(name string) Option {
	return func(j *addition) error {
		j.Partition = name
		return checkName("partition", name, MaxKey)
	}
}

// PartitionLimit bounds how many jobs of each partition of the kind, at least one, all nodes together hold at the same
// time, as GlobalLimit does for the whole kind. Partitions take turns: a partition waits for at most one job of each of
// the others, however many jobs those have, and jobs beyond the limit of one partition do not delay the others.
// Priority comes before turns. A job without a Partition is not bounded; it may have to wait until most of the jobs of
// its kind and priority that were due before it have been claimed, whatever their partitions. If Replace or a
// registration gives a job another Partition while it runs, the job counts for the new partition at once.
//
// All programs must set the same n; if they differ, each uses its own. Handle panics if the store of j is not a
// [store.Limiter]. The default is no bound, and no turns.
func PartitionLimit(n int) HandlerOption {
	return func(k *kind) error {
		if n < 1 {
			return invalid("partition limit %d of kind %q: it must be positive", n, k.Name)
		}
		k.PerPartition = n
		return nil
	}
}
