package etcd

import (
	"context"
	"log/slog"
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// zapLogger returns a logger for etcd whose errors l gets, and nothing else: etcd has much to tell of what goes well.
// When quiet is set, it gets nothing: of the end of a member etcd says that it fails to go on. What is fatal panics, rather
// than end the program of the user.
func zapLogger(l *slog.Logger, quiet *atomic.Bool) *zap.Logger {
	return zap.New(logCore{l.Handler(), quiet}, zap.WithFatalHook(zapcore.WriteThenPanic))
}

type logCore struct {
	handler slog.Handler
	quiet   *atomic.Bool
}

func (c logCore) Enabled(l zapcore.Level) bool {
	return l >= zapcore.ErrorLevel && !c.quiet.Load() && c.handler.Enabled(context.Background(), slog.LevelError)
}

func (c logCore) With(fields []zapcore.Field) zapcore.Core {
	return logCore{c.handler.WithAttrs(attrs(fields)), c.quiet}
}

func (c logCore) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return to.AddCore(e, c)
	}
	return to
}

func (c logCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	r := slog.NewRecord(e.Time, slog.LevelError, "etcd: "+e.Message, 0)
	r.AddAttrs(attrs(fields)...)
	return c.handler.Handle(context.Background(), r)
}

func (c logCore) Sync() error { return nil }

// attrs returns fields as attributes.
func attrs(fields []zapcore.Field) (all []slog.Attr) {
	m := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(m)
	}
	for k, v := range m.Fields {
		all = append(all, slog.Any(k, v))
	}
	return all
}
