package shards

// KeyShard returns the virtual shard of a key.
func KeyShard(key string) int { return hash("key", key) }

// ByShard returns the virtual shard of By.
func ByShard(name string) int { return hash("by", name) }
