package postgres

// Beat is the statement of a beat.
const Beat = beat
