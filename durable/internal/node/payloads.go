package node

import (
	"github.com/executor-go/executor/durable/store"
)

// maxPayloads is how many bytes of payloads a node holds, more or less: it learns how large they are when it has them.
const maxPayloads = 64 << 20

// payloads are those of the runs that the node holds. It is a part of the ledger.
type payloads struct {
	held int // bytes
	mean int // bytes of one, as of the latest claims
}

// room returns how many more jobs there is room for: at least one, if the node holds nothing.
func (p *payloads) room() int {
	if p.held == 0 {
		return max(maxPayloads/max(p.mean, 1), 1)
	}
	return (maxPayloads - p.held) / max(p.mean, 1)
}

// learn takes in what a claim has had.
func (p *payloads) learn(jobs []store.Job) {
	if len(jobs) == 0 {
		return
	}
	bytes := 0
	for i := range jobs {
		bytes += len(jobs[i].Payload)
	}
	p.mean = max(bytes/len(jobs), p.mean/4)
}
