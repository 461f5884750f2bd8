package executor_test

func newBrief() brief { return brief{newHookable()} }
