package report

import (
	"io/fs"
	"net/url"
	"path"
	"strings"

	"recount/harness/record"
)

// What lies in a run's folder, for a page to link.

// file is something else that lies in the run's folder.
type file struct{ Path, About string }

// reports are those that Write writes together with the page, which cannot see them yet.
var reports = []string{record.VerdictsFile, record.RunFile, pageFile, textFile, junitFile, PictureFile}

// kinds are the files of a run's folder, the one to look at first before all.
var kinds = []file{
	{record.HistoryFile, "every op, a line each"},
	{record.MessagesFile, "what the nodes sent each other, a message a line"},
	{record.CoverageFile, "which statements of the nodes ran, for go tool cover"},
	{record.VerdictsFile, "the verdicts as data"},
	{record.RunFile, "what the run was"},
	{record.DefinitionFile, "the description of its target, as it was then"},
	{record.ReproFile, "the command that repeats it"},
	{pageFile, "this report as one page"},
	{textFile, "this report as text"},
	{junitFile, "for CI"},
	{PictureFile, "the timeline as a picture"},
}

// Href is the link to a file by its path with slashes, from the page's folder: names may have any characters.
func Href(path string) string { return (&url.URL{Path: path}).String() }

// maxFiles is how many files are linked.
const maxFiles = 200

// files lists what lies in a run's folder, and what will: first what it has of each kind, then what is only in some, then the pictures
// and the logs. Folders that are none of a run's own are left out.
func files(r *record.Run, lies fs.FS, soon ...string) (list []file) {
	if lies == nil {
		return nil
	}
	there := map[string]bool{}
	for _, name := range soon {
		there[name] = true
	}
	names := namesIn(lies, ".")
	for _, name := range names {
		there[name] = true
	}
	take := func(name, about string) {
		if there[name] && len(list) < maxFiles {
			list = append(list, file{name, about})
		}
		delete(there, name)
	}
	for _, k := range kinds {
		take(k.Path, k.About)
		take(k.Path+record.Compressed, k.About)
	}
	for i := range r.Verdicts {
		take(record.ScenarioFile(r.Verdicts[i].Property), "the scenario that shows it again")
	}
	for _, name := range names {
		take(name, "none of the run's own files")
	}
	for _, folder := range []file{{record.Drawings, "how the history was decided"}, {record.NodeLogs, "what the node printed"}} {
		for _, name := range namesIn(lies, folder.Path) {
			name = path.Join(folder.Path, name)
			there[name] = true
			take(name, folder.About)
		}
	}
	return list
}

// namesIn are the files in a folder, in order, besides those that are being written; none where it cannot be listed.
func namesIn(lies fs.FS, folder string) (names []string) {
	entries, err := fs.ReadDir(lies, folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.Type()&^fs.ModeIrregular == 0 && !strings.HasSuffix(e.Name(), ".part") {
			names = append(names, e.Name())
		}
	}
	return names
}
