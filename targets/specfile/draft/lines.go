package draft

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Log is what one node wrote, and what was seen of it besides.
type Log struct {
	Lines []string
	Seen  bool     // something was, which is to be borne out
	Led   bool     // it was seen to lead
	Terms []uint64 // that it was seen to be in
}

// Terms says which lines tell a term.
type Terms uint8

// Whose lines do.
const (
	NoTerms Terms = iota
	LeadersTerms
	AllTerms
)

// becoming is what servers write when they take another part: "becomes leader", "entering follower state", "state changed to Candidate".
var becoming = regexp.MustCompile(`(?i)\b(?:becom(?:es?|ing)|became|entering|entered|promoted to|elected as|now|(?:changed|changing|switched|switching|transition(?:ed|ing|s)?|moved) to|-> ?)` +
	` *(?:the |an? |state |raft )*(?:State)?(leader|follower|candidate)\b`)

// winning is what some write of an election that they have won.
var winning = regexp.MustCompile(`(?i)\b(?:election won|won (?:the |an )?election)\b`)

// inTerm is a term, and what stands between it and what is before it.
var inTerm = regexp.MustCompile(`(?i)^.{0,40}?\b(?:term|epoch)["']?(?: ?[:=] ?| is | |)(\d+)\b`)

// Line is a pattern of lines by which nodes tell of a change, as logs has it.
type Line struct{ Role, Match string }

func (l Line) String() string { return "{match: " + quoted(l.Match) + ", role: " + l.Role + "}" }

// Lines are lines by which nodes tell of a change: of a leader's, and of others' where there are such. They are guessed by words; one is
// left out that a node has written which was not seen to lead, or with a term that it was not seen in, or of a leader with one term twice: a
// process of several elections writes so of each.
func Lines(logs []Log, terms Terms) (suggested []Line) {
	for _, role := range []string{"leader", "candidate", "follower"} {
		for _, pattern := range patternsOf(logs, role, terms == AllTerms || terms == LeadersTerms && role == "leader") {
			if borneOut(regexp.MustCompile(pattern), logs, role) {
				suggested = append(suggested, Line{role, pattern})
				break
			}
		}
		if len(suggested) == 0 {
			return nil // without leaders' the others' are of no use
		}
	}
	return suggested
}

// isLog reports whether a text is what a node writes as it goes: lines of which one tells of a change.
func isLog(text string) bool {
	return strings.Count(strings.TrimSpace(text), "\n") > 0 && (becoming.MatchString(text) || winning.MatchString(text))
}

// patternsOf are patterns of lines that may tell of that role, in the order in which such were written.
func patternsOf(logs []Log, role string, terms bool) (all []string) {
	for _, log := range logs {
		for _, line := range log.Lines {
			at := becoming.FindStringSubmatchIndex(line)
			if at != nil && !strings.EqualFold(line[at[2]:at[3]], role) {
				continue
			}
			if at == nil && role == "leader" {
				at = winning.FindStringIndex(line)
			}
			if at == nil {
				continue
			}
			pattern := regexp.QuoteMeta(line[at[0]:at[1]])
			if terms {
				rest := line[at[1]:]
				term := inTerm.FindStringSubmatchIndex(rest)
				if term == nil {
					continue
				}
				pattern += between(rest[:term[2]]) + `(?P<term>\d+)`
			}
			if printable(pattern) && !slices.Contains(all, pattern) {
				all = append(all, pattern)
			}
		}
	}
	return all
}

// between is a pattern of what stands between a role and its term: that itself, where it has nothing that may differ from line to line.
func between(text string) string {
	if words.MatchString(text) {
		return regexp.QuoteMeta(text)
	}
	return `.*\b` + regexp.QuoteMeta(lastTerm.FindString(text))
}

var (
	words    = regexp.MustCompile(`^[ A-Za-z:=,;()-]*$`)
	lastTerm = regexp.MustCompile(`(?i)(?:term|epoch)\W*$`)
)

// borneOut reports whether what nodes were seen to be is what they say by such lines.
func borneOut(pattern *regexp.Regexp, logs []Log, role string) bool {
	for _, log := range logs {
		if !log.Seen {
			continue
		}
		led := map[uint64]bool{}
		for _, line := range log.Lines {
			m := pattern.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			if role == "leader" && !log.Led {
				return false
			}
			if i := pattern.SubexpIndex("term"); i > 0 {
				term, err := strconv.ParseUint(m[i], 10, 64)
				if err != nil || role == "leader" && (led[term] || !slices.Contains(log.Terms, term)) {
					return false
				}
				led[term] = true
			}
		}
	}
	return true
}
