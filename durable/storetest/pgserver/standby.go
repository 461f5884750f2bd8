package pgserver

import "strconv"

// Standby makes a copy of the cluster, and starts a server in it that follows this
// one, with settings of its own.
func (s *Server) Standby(settings ...string) (*Server, error) {
	return start(&Server{Version: s.Version, bin: s.bin, settings: settings}, func(copied *Server) error {
		_, err := copied.output("pg_basebackup", "--pgdata", copied.data(), "--write-recovery-conf", "--checkpoint=fast",
			"--host=127.0.0.1", "--port", strconv.Itoa(s.Port), "--username=postgres")
		return err
	})
}
