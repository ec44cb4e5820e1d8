package draft

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"recount/targets/specfile"
)

// What a server calls its role, its term and its leader is guessed by the names that servers give them, and by what stands there.

// guess is what of some answers tells who leads; a nil leaf is what nothing tells.
type guess struct {
	role, term, leader, id *told
	words                  roleWords
	pattern                string // of the server's own names for nodes, as {named: …} has it
}

// told is one field, and its values in the answers: "" where one does not have it.
type told struct {
	leaf
	values []string
	place  int // in the order of the answers
	rank   int // how likely it is
}

// bare is a name in small letters, without what stands between its words.
func bare(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// Names by which servers tell it, and how likely they mean that.
var (
	roleNames = map[string]int{
		"role": 10, "raftrole": 10, "noderole": 10, "serverrole": 10, "raftstate": 9, "serverstate": 8, "nodestate": 8, "hastate": 8, "state": 8, "mode": 7,
		"leadership": 7, "zkserverstate": 9, "status": 4, "type": 3,
	}
	flagNames = map[string]int{
		"isleader": 9, "amileader": 9, "iamleader": 9, "leader": 6, "leading": 8, "ismaster": 9, "master": 6, "isprimary": 9, "primary": 6, "isself": 7,
		"iscoordinator": 9, "iswritableprimary": 9, "leaderelectionmasterstatus": 9, "isactive": 7, "elected": 6, "iselected": 7,
	}
	termNames = map[string]int{
		"term": 10, "currentterm": 10, "raftterm": 10, "electionterm": 10, "leaderterm": 9, "epoch": 9, "currentepoch": 9, "electionepoch": 9, "leaderepoch": 9,
		"fencingtoken": 9, "ballot": 8, "generation": 7, "viewnumber": 7, "view": 6, "token": 6, "leadertransitions": 6, "leasetransitions": 6, "timeline": 5, "round": 5,
	}
	leaderNames = map[string]int{
		"leader": 10, "leaderid": 10, "leadername": 10, "currentleader": 10, "leadernode": 10, "raftleader": 9, "lead": 9, "leaderaddr": 9, "leaderaddress": 9, "leaderhost": 8,
		"leaderurl": 8, "leaderuuid": 8, "masterid": 8, "mastername": 8, "masterhost": 8, "coordinator": 8, "holder": 7, "holderidentity": 8, "master": 7, "primary": 6, "activenode": 6, "dc": 6,
	}
	idNames = map[string]int{
		"nodeid": 10, "id": 9, "serverid": 9, "memberid": 9, "localid": 9, "raftid": 9, "nodename": 8, "myid": 8, "self": 7, "me": 7, "name": 7, "uuid": 6, "localaddr": 6,
		"address": 5, "addr": 5, "identity": 7,
	}
	partNames = map[string]int{"id": 10, "name": 9, "addr": 9, "address": 9, "host": 8, "node": 8, "uuid": 8, "url": 7} // of an object that is somebody
)

// guessed looks for what tells who leads in answers of one form, of one node or of several.
func guessed(answers [][]leaf) (g guess) {
	all := inCommon(answers)
	g.role = best(all, rankRole)
	g.term = best(all, rankTerm)
	without := slices.DeleteFunc(slices.Clone(all), func(t told) bool { return g.role != nil && t.field == g.role.field })
	ids := slices.DeleteFunc(slices.Clone(without), func(t told) bool { return rankID(t) == 0 })
	g.leader = best(without, func(t told) int { return rankLeader(t, ids) })
	if g.role != nil {
		g.words = wordsOf(*g.role)
	}
	if g.leader == nil {
		return g
	}
	if called := g.leader.values; !slices.ContainsFunc(called, isUnclear) {
		return g
	}
	others := slices.DeleteFunc(ids, func(t told) bool { return t.field == g.leader.field })
	if g.id = best(others, func(t told) int {
		if slices.ContainsFunc(t.values, func(v string) bool { return v != "" && slices.Contains(g.leader.values, v) }) {
			return rankID(t)
		}
		return 0
	}); g.id != nil {
		return g
	}
	if g.pattern = patternOf(g.leader.values); g.pattern == "" {
		g.id = best(others, rankID)
	}
	return g
}

// inCommon are the fields of answers, with their values in each.
func inCommon(answers [][]leaf) (all []told) {
	at := map[string]int{}
	for i, leaves := range answers {
		for _, l := range leaves {
			k, known := at[l.field]
			if !known {
				k = len(all)
				at[l.field] = k
				all = append(all, told{leaf: l, values: make([]string, len(answers)), place: k})
			}
			all[k].values[i] = l.value
			all[k].flag = all[k].flag || l.flag
		}
	}
	return all
}

// best is the field that ranks highest, the first of several; nil where none ranks above 0.
func best(all []told, rank func(told) int) (most *told) {
	for _, t := range all {
		if t.rank = rank(t); t.rank > 0 && (most == nil || t.rank > most.rank) {
			most = &t
		}
	}
	return most
}

// rankRole is how likely a field is the node's role. Words that are no role's say that it is not.
func rankRole(t told) int {
	own := bare(t.own())
	if t.flag || allOf(t.values, isBit) {
		return rankFlag(own, t.flag)
	}
	known := 0
	for _, v := range t.values {
		if _, is := roleOf(v); is {
			known++
		}
	}
	rank := roleNames[own]
	if known == 0 || rank == 0 {
		return 0
	}
	if differ(t.values) {
		rank += 5
	}
	return rank + known
}

// rankFlag is how likely what has this name says whether the node leads. A number that is 0 or 1 may be a node's, too, unless it surely
// says yes or no.
func rankFlag(own string, surely bool) (rank int) {
	for flag, its := range flagNames {
		question := strings.HasPrefix(flag, "is") || strings.HasPrefix(flag, "am") || strings.HasPrefix(flag, "iam")
		if own == flag && (surely || question) || question && strings.HasSuffix(own, flag) {
			rank = max(rank, its)
		}
	}
	return rank
}

func isBit(v string) bool { return v == "0" || v == "1" }

// rankTerm is how likely a field is the term: a whole number.
func rankTerm(t told) int {
	if !allOf(t.values, func(v string) bool { _, err := strconv.ParseUint(v, 10, 64); return err == nil }) {
		return 0
	}
	own := bare(t.own())
	if rank := termNames[own]; rank > 0 {
		return rank
	}
	for _, past := range []string{"log", "snapshot", "prev", "vote", "applied", "commit"} { // terms of something else
		if strings.Contains(own, past) {
			return 0
		}
	}
	if strings.HasSuffix(own, "term") || strings.HasSuffix(own, "epoch") {
		return 4
	}
	return 0
}

// rankLeader is how likely a field names the leader, beside those that may be a node's own id.
func rankLeader(t told, ids []told) int {
	own := bare(t.own())
	rank := leaderNames[own]
	if within := leaderNames[bare(t.within())]; within > 0 {
		if part := partNames[own]; part > 0 {
			rank = within + part - 9
		}
	}
	if rank == 0 || t.flag || allOf(t.values, func(v string) bool { v = strings.ToLower(v); return v == "true" || v == "false" }) {
		return 0
	}
	switch {
	case !slices.ContainsFunc(t.values, isUnclear):
		rank += 3 // as Recount itself calls nodes
	case slices.ContainsFunc(ids, func(o told) bool {
		return o.field != t.field && slices.ContainsFunc(o.values, func(v string) bool { return v != "" && slices.Contains(t.values, v) })
	}):
		rank += 3
	}
	return rank
}

// rankID is how likely a field is what the node calls itself.
func rankID(t told) int {
	if t.flag || leaderNames[bare(t.within())] > 0 {
		return 0
	}
	return idNames[bare(t.own())]
}

// allOf reports whether all values are such, of which there is one at least.
func allOf(values []string, are func(string) bool) bool {
	some := false
	for _, v := range values {
		if v == "" {
			continue
		}
		if some = true; !are(v) {
			return false
		}
	}
	return some
}

func differ(values []string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return v != values[0] })
}

var ownName = regexp.MustCompile(`^n?[1-9][0-9]{0,2}$`)

// isUnclear reports whether a value names a node by no name that Recount knows it by: n1, 1, an address, a URL, or nobody.
func isUnclear(v string) bool {
	if specfile.MeansNobody(v) || ownName.MatchString(v) {
		return false
	}
	host := v
	if u, err := url.Parse(v); err == nil && u.Host != "" {
		host = u.Host
	}
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	_, err := netip.ParseAddr(host)
	return err != nil && !ownName.MatchString(host)
}

var numberedName = regexp.MustCompile(`^([A-Za-z][A-Za-z_.-]*)([0-9]+)$`)

// patternOf is how names that end with a number are made: node-{{.ID}}, or node-{{.Index}} where one ends with 0.
func patternOf(called []string) string {
	prefix, from := "", "{{.ID}}"
	for _, v := range called {
		if specfile.MeansNobody(v) {
			continue
		}
		m := numberedName.FindStringSubmatch(v)
		if m == nil || prefix != "" && m[1] != prefix || strings.HasPrefix(m[2], "0") && len(m[2]) > 1 {
			return ""
		}
		if prefix = m[1]; m[2] == "0" {
			from = "{{.Index}}"
		}
	}
	return prefix + from
}

// roleWords are the words of a server for roles.
type roleWords struct {
	leads, campaigns, follows []string
	sure                      bool // a word for who leads was seen, not only one for who does not
	whole                     bool // each word that was seen is one of these
	omitted                   bool // an answer did without it, as encoders make them that leave out what is false
}

// families are words for roles that go together: who leads, who follows, who campaigns.
var families = []struct {
	leads     string
	follows   []string
	campaigns []string
}{
	{"leader", []string{"follower"}, []string{"candidate", "precandidate"}},
	{"leading", []string{"following"}, []string{"looking"}},
	{"master", []string{"slave", "replica", "backup"}, nil},
	{"primary", []string{"secondary", "replica", "standby", "backup"}, nil},
	{"active", []string{"standby", "passive", "inactive"}, nil},
	{"coordinator", []string{"participant", "member"}, nil},
}

// part of an election that a word stands for.
type standing uint8

const (
	leads standing = iota + 1
	follows
	campaigns
)

// roleOf is what a word means, if it is one for a role.
func roleOf(word string) (standing, bool) {
	w := strings.TrimPrefix(bare(word), "state")
	for _, f := range families {
		switch {
		case w == f.leads:
			return leads, true
		case slices.Contains(f.follows, w):
			return follows, true
		case slices.Contains(f.campaigns, w):
			return campaigns, true
		}
	}
	return 0, false
}

// wordsOf are the words of a field that is a role. Where only followers were seen, the word for leaders is what goes with theirs, in
// their spelling.
func wordsOf(role told) (w roleWords) {
	w.whole = true
	for _, v := range role.values {
		if v == "" {
			w.omitted = true
			continue
		}
		of, known := roleOf(v)
		to := map[standing]*[]string{leads: &w.leads, follows: &w.follows, campaigns: &w.campaigns}[of]
		if w.whole = w.whole && known; known && !slices.Contains(*to, v) {
			*to = append(*to, v)
		}
	}
	w.sure = len(w.leads) > 0
	if !w.sure && len(w.follows)+len(w.campaigns) > 0 {
		seen := slices.Concat(w.follows, w.campaigns)[0]
		for _, f := range families {
			if low := strings.TrimPrefix(bare(seen), "state"); slices.Contains(slices.Concat(f.follows, f.campaigns), low) {
				w.leads = []string{spelledAs(f.leads, seen)}
				break
			}
		}
	}
	return w
}

// spelledAs writes a word as another is written: small, capital, or with State before it.
func spelledAs(word, other string) string {
	capital := strings.ToUpper(word[:1]) + word[1:]
	switch rest, state := strings.CutPrefix(other, "State"); {
	case state && rest != "":
		return "State" + capital
	case other == strings.ToUpper(other):
		return strings.ToUpper(word)
	case unicode.IsUpper([]rune(cmp.Or(other, "x"))[0]):
		return capital
	}
	return word
}
