// Package linear decides whether what clients did to an object has an order that the object allows (Herlihy and Wing,
// "Linearizability", 1990), and finds the least that shows that it has none.
//
//	o := linear.NewObject(false) // a register
//	o.Add(linear.Op{Call: 1, Return: 2, Kind: linear.Put, Value: o.Number("7")})
//	o.Add(linear.Op{Call: 3, Return: 4, Kind: linear.Get, Value: o.Number("8")})
//	found := o.Decide(ctx)        // Illegal
//	shown := o.Evidence(ctx, found) // of which the second operation is enough
//
// A register and a lock are Objects. A resource guarded by fencing tokens goes level by level (DecideFence). Whatever
// shape a question has left after that is put to porcupine (Ask), which also draws what was found.
//
// An answer is never guessed: what takes more memory or time than the context allows (WithMemory) is Unknown.
package linear
