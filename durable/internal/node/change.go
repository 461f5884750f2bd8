package node

// QueuesChanged is called when Config.Queues has changed. What has not begun of queues that the node does not serve any
// more is given back, and what waits in others is asked for. On a nil node it does nothing.
func (n *Node) QueuesChanged() {
	if n == nil {
		return
	}
	n.ledger.giveBack(func(r *run) bool { return !n.cfg.serves(r.job.Queue) })
	n.news.wake()
	n.Wake()
}

// PauseHere pauses or resumes a kind without waiting for the next heartbeat.
func (n *Node) PauseHere(kind string, pause bool) { n.announcePaused(n.ledger.pauseHere(kind, pause)) }

// announcePaused makes poll release what was dropped and claim what goes on, and logs it.
func (n *Node) announcePaused(paused, resumed []string) {
	if len(paused)+len(resumed) == 0 {
		return
	}
	n.Wake()
	for _, kind := range paused {
		n.cfg.Log().Info("durable: jobs of a kind are paused", "kind", kind)
	}
	for _, kind := range resumed {
		n.cfg.Log().Info("durable: jobs of a kind are resumed", "kind", kind)
	}
}
