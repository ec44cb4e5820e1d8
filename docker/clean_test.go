package docker

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/internal/testalone"
)

// A killed harness leaves containers. They must stop by themselves, and go with the next Clean, which must not touch
// what others are using.
func TestCleanAfterKill(t *testing.T) {
	testalone.Wait(t)
	e := engine(t)
	alive := up(t, e, runID(t)+"-alive", 1)
	dead := runID(t) + "-dead"
	process := exec.Command(os.Args[0], memberImage(t, e))
	process.Env = append(os.Environ(), beHarness+"="+dead)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "up\n", line)

	removed, err := e.Clean(t.Context(), false)
	if err != nil {
		require.NotContains(t, err.Error(), dead)
	}
	require.NotContains(t, strings.Join(removed, " "), dead, "it is still in use")
	require.NoError(t, process.Process.Kill())
	require.Error(t, process.Wait())
	require.Eventually(t, func() bool {
		containers, _, err := e.things(t.Context(), dead)
		require.NoError(t, err)
		for _, c := range containers {
			if c.alive {
				return false
			}
		}
		return true
	}, within, 10*time.Millisecond, "the agent ends what nobody waits for")

	removed, err = e.Clean(t.Context(), false)
	if err != nil {
		require.NotContains(t, err.Error(), dead) // an engine may be unable to part with what others left
	}
	for _, name := range []string{"", "-agent", "-n1", "-n1-anchor", "-n2", "-n2-anchor"} {
		require.Contains(t, removed, "recount-"+dead+name)
	}
	requireNothingLeft(t, e, dead)
	require.Equal(t, "ok", tell(t, alive, "n1", "ping"))
	require.NotContains(t, strings.Join(removed, " "), "-alive")
}

func TestOwner(t *testing.T) {
	own := ownLabel()
	require.NotEmpty(t, own)
	alive, known := ownerAlive(own)
	require.True(t, alive)
	require.True(t, known)

	part := strings.Split(own, "/")
	later := strings.Join(append(part[:3:3], part[3]+"0"), "/")
	alive, known = ownerAlive(later)
	require.False(t, alive, "another process has its number now")
	require.True(t, known)

	for _, foreign := range []string{"", "x/" + strings.Join(part[1:], "/"), part[0] + "/pid:[1]/" + part[2] + "/" + part[3]} {
		_, known = ownerAlive(foreign)
		require.False(t, known, foreign)
	}
}

// A harness that was killed owns nothing any more, whether or not its parent has taken note.
func TestAZombieOwnsNothing(t *testing.T) {
	process := exec.Command("sleep", "600")
	require.NoError(t, process.Start())
	label, err := processName(process.Process.Pid)
	require.NoError(t, err)
	alive, known := ownerAlive(label)
	require.True(t, alive && known)
	require.NoError(t, process.Process.Kill())
	require.Eventually(t, func() bool {
		alive, known := ownerAlive(label)
		return known && !alive
	}, within, time.Millisecond)
	require.Error(t, process.Wait())
}

func TestInUse(t *testing.T) {
	mine := map[string]string{labelOwner: ownLabel()}
	gone := map[string]string{labelOwner: ownLabel() + "0"}
	foreign := map[string]string{labelOwner: "elsewhere/pid:[1]/1/1"}
	extracted := map[string]string{labelRun: runExtract, labelOwner: foreign[labelOwner]}
	for _, tt := range []struct {
		name   string
		things []thing
		want   bool
	}{
		{"ours", []thing{{labels: mine}}, true},
		{"ours, beside those of one that has ended", []thing{{labels: gone}, {labels: mine}}, true},
		{"of one that has ended", []thing{{labels: gone}, {labels: foreign, role: roleAgent, alive: true}}, false},
		{"theirs, with an agent", []thing{{labels: foreign, role: roleNode}, {labels: foreign, role: roleAgent, alive: true}}, true},
		{"theirs, agent dead", []thing{{labels: foreign, role: roleNode, alive: true}, {labels: foreign, role: roleAgent}}, false},
		{"theirs, agent gone", []thing{{labels: foreign}}, false},
		{"being extracted, elsewhere", []thing{{labels: gone}, {labels: extracted, alive: true}}, true},
		{"extracted long ago, elsewhere", []thing{{labels: extracted}}, false},
	} {
		require.Equal(t, tt.want, inUse(tt.things), tt.name)
	}
}
