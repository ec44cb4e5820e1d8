package docker

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLoopOrder(t *testing.T) {
	l := newLoop()
	require.Zero(t, l.Now())
	var got []int
	do := func(i int) func() { return func() { got = append(got, i) } }
	l.After(3*time.Millisecond, do(3))
	l.After(time.Millisecond, do(1))
	l.After(time.Millisecond, do(2))
	l.After(time.Hour, do(9))
	l.Post(do(0))
	require.NoError(t, l.Run(t.Context(), 5*time.Millisecond))
	require.Equal(t, []int{0, 1, 2, 3}, got)
	require.GreaterOrEqual(t, l.Now(), 5*time.Millisecond)
}

func TestLoopPost(t *testing.T) {
	l := newLoop()
	ctx, cancel := context.WithCancel(t.Context())
	var got, want []int
	for i := range 1000 {
		want = append(want, i)
	}
	go func() {
		for _, i := range want {
			l.Post(func() { got = append(got, i) })
		}
		l.Post(cancel)
	}()
	require.ErrorIs(t, l.Run(ctx, time.Hour), context.Canceled)
	require.Equal(t, want, got)
}

func TestLoopLost(t *testing.T) {
	l := newLoop()
	l.After(time.Hour, func() { t.Error("too late") })
	why := errors.New("gone")
	go func() {
		l.lose(why)
		l.lose(errors.New("gone again"))
	}()
	require.Equal(t, why, l.Run(t.Context(), time.Hour))
	require.Equal(t, why, l.Run(t.Context(), time.Hour))
}

func TestAPanicBesideTheLoopIsTheLoops(t *testing.T) {
	l := newLoop()
	go l.Guarded(func() { panic("oops") })
	defer func() {
		p, _ := recover().(string)
		require.Contains(t, p, "oops")
		require.Contains(t, p, "loop_test.go")
	}()
	_ = l.Run(t.Context(), time.Hour)
	t.Error("nothing was panicked with")
}
