package memory

// Away has each transaction of the store committed only after away was called, as if the rows were elsewhere.
func Away(s *Store, away func()) *Store {
	s.home.mu.Lock()
	defer s.home.mu.Unlock()
	s.home.away = away
	return s
}
