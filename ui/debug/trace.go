package debug

import (
	"net/http"

	"github.com/executor-go/executor/ui/page"
)

// serveTrace answers with what the flight recorder has.
func (h *handler) serveTrace(w http.ResponseWriter, r *http.Request) {
	switch {
	case h.recorder == nil:
		http.Error(w, "debug: there is no flight recorder; pass one to the handler with debug.Recorder", http.StatusNotFound)
		return
	case !h.recorder.Enabled():
		http.Error(w, "debug: the flight recorder is not running; call its Start", http.StatusServiceUnavailable)
		return
	case !h.tracing.CompareAndSwap(false, true):
		w.Header().Set("Retry-After", "10")
		http.Error(w, "debug: another recording is being written; try again", http.StatusServiceUnavailable)
		return
	}
	defer h.tracing.Store(false)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="executors.trace"`)
	if r.Method == http.MethodHead {
		return
	}
	h.recorder.WriteTo(page.Paced(w)) // an error is of the connection, and the header is sent already
}
