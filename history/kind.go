package history

// kind is what sets the operations of one F apart. Each registers itself in its own file; reading, writing and judging a
// history know none by name.
type kind struct {
	name   F
	alone  []Type   // seen to happen, not begun and ended: it has no invoke, and is of one of these types; nil for all others
	first  bool     // it can only be the first op of a history
	ofNode bool     // it is about a node, and must name it
	value  *payload // what it carries; nil: nothing
	when   when     // in which types it does

	// Where more must hold than that the value is one, and members are named: at first, or as those to be changed. Both may be nil.
	fits  func(*Op) error
	nodes func(*Op) []string

	heads [Info + 1][]byte // how a line says that, and each type: `,"type":"ok","f":"observe"`

	next *kind // of those with the same hash
}

// Of which types ops are that are told at once.
var (
	happened = []Type{OK}
	noticed  = []Type{Info, OK} // by who had nothing to do with it
)

// payload is a value that ops carry: in which of their fields, and how that is written and read.
//
// append and scan are called for each of millions of ops. What append writes, scan reads in the same way as encoding/json
// reads it into what into returns, or it leaves the scanner bad.
type payload struct {
	held   func(*Op) bool // whether op has one; nil: wherever it may
	append func(op *Op, b []byte) []byte
	into   func(*Op) any       // what encoding/json reads it into
	scan   func(*scanner, *Op) // nil for what is rare: encoding/json reads it
}

// pointed is a payload that an op points to. encoding/json writes and reads it.
func pointed[T any](field func(*Op) **T) *payload {
	return &payload{
		held:   func(op *Op) bool { return *field(op) != nil },
		append: func(op *Op, b []byte) []byte { return appendAny(b, *field(op)) },
		into: func(op *Op) any {
			*field(op) = new(T)
			return *field(op)
		},
	}
}

// valued is a payload in Op.Value, which is then a *T. encoding/json writes and reads it.
func valued[T any]() *payload {
	return &payload{
		held: func(op *Op) bool {
			v, _ := op.Value.(*T)
			return v != nil
		},
		append: func(op *Op, b []byte) []byte { return appendAny(b, op.Value) },
		into: func(op *Op) any {
			op.Value = new(T)
			return op.Value
		},
	}
}

// need says whether an op carries a value.
type need uint8

const (
	never need = iota
	may
	must
)

// when says of each type of op whether it carries a value.
type when [Info + 1]need

var (
	always = when{must, must, must, must, must}
	maybe  = when{may, may, may, may, may}
	whenOK = when{OK: must} // what only the end of an operation can tell

	// mayThenMust is for what is told at first as far as it is known, and whole if it happened.
	mayThenMust = when{Invoke: may, OK: must, Fail: may, Info: may}
)

// kinds are all that are registered, by a few of the bytes of their names: a run asks for one several times an op, and a
// map would take longer than all else that is done with it.
var kinds [256]*kind

// unknown stands for what is not registered.
var unknown kind

func hash(f F) uint8 {
	if f == "" {
		return 0
	}
	return uint8(len(f)*31) ^ f[0]*7 ^ f[len(f)-1]
}

// register adds a kind. It panics if there is one of its name, or it has none.
func register(k kind) {
	if k.name == "" {
		panic("history: a kind of op without a name")
	}
	if kindOf(k.name).known() {
		panic("history: two kinds of op are called " + string(k.name))
	}
	for t := range k.heads {
		k.heads[t] = appendHead(nil, Type(t), k.name)
	}
	at := &kinds[hash(k.name)]
	k.next = *at
	*at = &k
}

// kindOf returns the kind of that name, or unknown.
func kindOf(f F) *kind {
	for k := kinds[hash(f)]; k != nil; k = k.next {
		if k.name == f {
			return k
		}
	}
	return &unknown
}

func (k *kind) known() bool { return k != &unknown }

// need says whether an op of type t carries a value.
func (k *kind) need(t Type) need {
	if int(t) < len(k.when) {
		return k.when[t]
	}
	return never
}

// held reports whether op has a value.
func (k *kind) held(op *Op) bool {
	if k.value == nil {
		return false
	}
	if k.value.held != nil {
		return k.value.held(op)
	}
	return k.need(op.Type) != never
}
