package process

// denied says nothing: modes tell nothing here.
func denied(string, string, *User) error { return nil }
