package postgres

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// unescape makes a connection read bytes in both forms of bytea_output: where nothing outlasts a transaction they come
// as text, in the form that the role or the database has, and the driver knows hex only. To set it there would set it
// for another program, see isolate, and to decline the other would need the right to change it.
func unescape(conn *pgx.Conn) {
	conn.TypeMap().RegisterType(&pgtype.Type{Name: "bytea", OID: pgtype.ByteaOID, Codec: bytea{}})
}

// bytea is the driver's codec, for text of either form.
type bytea struct{ pgtype.ByteaCodec }

func (c bytea) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	plan := c.ByteaCodec.PlanScan(m, oid, format, target)
	if _, ok := target.(*[]byte); ok && format == pgtype.TextFormatCode {
		return escaped{plan}
	}
	return plan
}

// escaped reads text that is escaped, and leaves what begins as hex to the driver: nothing that is escaped does, as a
// backslash is followed by another or by digits.
type escaped struct{ hex pgtype.ScanPlan }

func (e escaped) Scan(src []byte, target any) error {
	if src == nil || bytes.HasPrefix(src, []byte(`\x`)) {
		return e.hex.Scan(src, target)
	}
	data := make([]byte, 0, len(src))
	for len(src) > 0 {
		switch {
		case src[0] != '\\':
			data, src = append(data, src[0]), src[1:]
		case bytes.HasPrefix(src, []byte(`\\`)):
			data, src = append(data, '\\'), src[2:]
		default:
			octal, err := strconv.ParseUint(string(src[1:min(4, len(src))]), 8, 8)
			if err != nil {
				return fmt.Errorf("durable/postgres: bytea: %w", err)
			}
			data, src = append(data, byte(octal)), src[min(4, len(src)):]
		}
	}
	*target.(*[]byte) = data
	return nil
}
