package docker

import "sync"

// queue lets changes of one thing take turns, in the order in which they were asked for.
type queue struct{ last chan struct{} }

// stand takes a place in all the queues. wait returns when it is the turn in each of them; leave makes room for the next.
func stand(queues []*queue) (wait, leave func()) {
	var before []chan struct{}
	mine := make(chan struct{})
	for _, q := range queues {
		if q.last != nil && q.last != mine {
			before = append(before, q.last)
		}
		q.last = mine
	}
	wait = func() {
		for _, turn := range before {
			<-turn
		}
	}
	return wait, sync.OnceFunc(func() { close(mine) })
}
