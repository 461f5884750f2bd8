package durable

import (
	"time"

	"github.com/executor-go/executor/durable/store"
)

// These are for authors of stores, who find them in package store.
type (
	Begin           = store.Begin
	ClaimRequest    = store.ClaimRequest
	ClaimResult     = store.ClaimResult
	CommitRequest   = store.CommitRequest
	CommitResult    = store.CommitResult
	Confirm         = store.Confirm
	DeadJob         = store.DeadJob
	HeartbeatResult = store.HeartbeatResult
	KindLimit       = store.KindLimit
	Listener        = store.Listener
	Placement       = store.Placement
	Ref             = store.Ref
	Report          = store.Report
	TxStore         = store.TxStore
	Watch           = store.Watch
)

// ReapDelay is store.ReapDelay.
func ReapDelay(lost Ref, attempt int) time.Duration { return store.ReapDelay(lost, attempt) }
