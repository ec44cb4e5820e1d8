package specfile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Metric names a sample in Prometheus's text format: its name, labels that it must have, and the label that holds what
// is looked for, where it is not the sample's value. Of samples that differ in that label the one counts that is not 0.
type Metric struct {
	Name   string
	Labels map[string]string
	Label  string
}

var (
	metricRule = regexp.MustCompile(`^([A-Za-z_:][A-Za-z0-9_:]*)(?:\{(.*)\})?(?:#([A-Za-z_][A-Za-z0-9_]*))?$`)
	labelRule  = regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?`)
	sampleRule = regexp.MustCompile(`^([A-Za-z_:][A-Za-z0-9_:]*)(?:\s*\{((?:[^"{}]|"(?:[^"\\]|\\.)*")*)\}\s*|\s+)(\S+)(?:\s+-?[0-9.]+)?(?:\s+#.*)?$`)
	metricName = regexp.MustCompile(`^[A-Za-z_:][A-Za-z0-9_:]*`)
)

// parseMetric reads name, name{label="value"}, or name#label for the value of a label.
func parseMetric(text string) (m Metric, err error) {
	parts := metricRule.FindStringSubmatch(text)
	if parts == nil {
		return m, fmt.Errorf("%q names no metric", text)
	}
	m = Metric{Name: parts[1], Label: parts[3]}
	if m.Labels, err = parseLabels(parts[2]); err != nil {
		return m, fmt.Errorf("%q: %w", text, err)
	}
	return m, nil
}

func parseLabels(text string) (map[string]string, error) {
	labels := map[string]string{}
	for rest := text; strings.TrimSpace(rest) != ""; {
		m := labelRule.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf(`%q is not label="value"`, clip([]byte(rest)))
		}
		value, err := strconv.Unquote(`"` + m[2] + `"`)
		if err != nil {
			return nil, fmt.Errorf("label %s: %w", m[1], err)
		}
		labels[m[1]] = value
		rest = rest[len(m[0]):]
	}
	return labels, nil
}

// Sample is one line of the text format, or why it is none.
type Sample struct {
	Name   string
	Labels map[string]string
	Value  string
	Err    error
}

// ParseSamples reads the text format; comments and types are skipped. A line that cannot be read is the matter of whoever asks for its
// metric; an answer with no other is no such text.
func ParseSamples(text string) (all []Sample, err error) {
	sound := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		one := parseSample(line)
		if all, sound = append(all, one), sound || one.Err == nil; err == nil {
			err = one.Err
		}
	}
	if sound {
		err = nil
	}
	return all, err
}

func parseSample(line string) Sample {
	m := sampleRule.FindStringSubmatch(line)
	if m == nil {
		return Sample{Name: metricName.FindString(line), Err: fmt.Errorf("%q is no sample of a metric", clip([]byte(line)))}
	}
	labels, err := parseLabels(m[2])
	return Sample{m[1], labels, m[3], err}
}

// find returns the value of the metric, a whole number without a fraction: 1, not 1e+00.
func (m Metric) find(samples []Sample) (string, error) {
	var fits []Sample
	for _, s := range samples {
		switch {
		case s.Name != m.Name:
			continue
		case s.Err != nil:
			return "", s.Err
		}
		same := true
		for k, v := range m.Labels {
			same = same && s.Labels[k] == v
		}
		if same {
			fits = append(fits, s)
		}
	}
	if len(fits) == 0 {
		return "", absent{"metric " + m.String(), m.Name, func(yield func(string) bool) {
			for _, s := range samples {
				if !yield(s.Name) {
					return
				}
			}
		}}
	}
	if m.Label != "" {
		fits = slices.DeleteFunc(fits, func(s Sample) bool { return Whole(s.Value) == "0" })
		switch len(fits) {
		case 0:
			return "", nil
		case 1:
			return fits[0].Labels[m.Label], nil
		}
	}
	if len(fits) > 1 {
		return "", fmt.Errorf("the answer has %d samples of %s: give it labels", len(fits), m)
	}
	return Whole(fits[0].Value), nil
}

// Whole writes a number without a fraction as one: 1, not 1e+00. What is no such number stays as it is.
func Whole(value string) string {
	if _, err := strconv.ParseInt(value, 10, 64); err == nil {
		return value // as it is: floats end at 53 bits
	}
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || f != float64(int64(f)) {
		return value
	}
	return strconv.FormatInt(int64(f), 10)
}

func (m Metric) String() string {
	text := m.Name
	if len(m.Labels) > 0 {
		var parts []string
		for k, v := range m.Labels {
			parts = append(parts, fmt.Sprintf("%s=%q", k, v))
		}
		slices.Sort(parts)
		text += "{" + strings.Join(parts, ",") + "}"
	}
	return text
}
