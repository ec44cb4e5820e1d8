package claims

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// drawing is a plot of curves to be made.
type drawing struct {
	name, title, x, y string
	logX, logY        bool
	curves            []curve
}

// curve is points joined in their order. A dashed one is what was claimed.
type curve struct {
	name   string
	points plotter.XYs
	claim  bool
	dots   bool // show the points, too
}

// inks can be told apart on white by most eyes; with more curves than inks they come again.
var inks = []color.RGBA{
	{0x1d, 0x6f, 0xb8, 255}, {0xc2, 0x66, 0x0a, 255}, {0x0b, 0x7f, 0x63, 255}, {0x8b, 0x4f, 0xa9, 255}, {0x3a, 0x9a, 0xb8, 255},
	{0x8a, 0x5a, 0x33, 255}, {0xcc, 0x1f, 0x2d, 255}, {0x6c, 0x7a, 0x14, 255}, {0x4b, 0x52, 0xb8, 255}, {0x5a, 0x63, 0x72, 255},
}

// sans is the font of all writing, and sansCSS what a reader without it gets: one of the same widths.
const (
	sans    = "Liberation Sans"
	sansCSS = "'Liberation Sans',Arial,Helvetica,sans-serif"
)

// draw makes the plot.
func (d drawing) draw() (Plot, error) {
	p := plot.New()
	for _, style := range []*draw.TextStyle{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle,
	} {
		style.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: 10}
		style.Color = color.RGBA{0x1b, 0x1f, 0x27, 255}
	}
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = d.title, d.x, d.y
	p.Title.Padding, p.X.Label.Padding, p.Y.Label.Padding = 8, 4, 4
	p.BackgroundColor = color.White
	p.Legend.Top, p.Legend.Left = false, false
	p.Legend.Padding, p.Legend.ThumbnailWidth = 2, 20
	if d.logX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logTicks{}
	}
	if d.logY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logTicks{}
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{230}, color.Gray{230}
	p.Add(grid)
	ink := 0
	for _, l := range d.curves {
		points := slices.DeleteFunc(slices.Clone(l.points), func(q plotter.XY) bool {
			return math.IsNaN(q.Y) || d.logY && q.Y <= 0 || d.logX && q.X <= 0
		})
		if len(points) == 0 {
			continue
		}
		drawn, err := plotter.NewLine(points)
		if err != nil {
			return Plot{}, fmt.Errorf("plot %s: %w", d.name, err)
		}
		drawn.Width = 1.4
		drawn.Color = inks[ink%len(inks)]
		if l.claim {
			drawn.Color, drawn.Dashes = color.Gray{90}, []vg.Length{4, 3}
		} else {
			ink++
		}
		p.Add(drawn)
		if l.dots {
			dots, err := plotter.NewScatter(points)
			if err != nil {
				return Plot{}, fmt.Errorf("plot %s: %w", d.name, err)
			}
			dots.Color, dots.Shape, dots.Radius = drawn.Color, draw.CircleGlyph{}, 2
			p.Add(dots)
		}
		if l.name != "" {
			p.Legend.Add(l.name, drawn)
		}
	}
	return d.write(p)
}

// write draws with the legend at the side, so that it hides nothing.
func (d drawing) write(p *plot.Plot) (Plot, error) {
	const width, height, side = 18 * vg.Centimeter, 10 * vg.Centimeter, 4.2 * vg.Centimeter
	c := vgsvg.New(width, height)
	all := draw.New(c)
	all.SetColor(color.White)
	all.Fill(all.Path())
	legend := p.Legend
	p.Legend = plot.NewLegend()
	p.Draw(draw.Crop(all, 4, -side, 4, -6))
	legend.Left, legend.Top = true, true
	legend.Draw(draw.Crop(all, width-side+8, -2, 4, -30))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return Plot{}, fmt.Errorf("plot %s: %w", d.name, err)
	}
	svg := bytes.ReplaceAll(b.Bytes(), []byte("font-family:"+sans), []byte("font-family:"+sansCSS))
	return Plot{Name: d.name, Title: d.title, svg: svg}, nil
}

// logTicks label the powers of ten, and what lies between them at 2 and 5.
type logTicks struct{}

// Ticks are the marks from low to high.
func (logTicks) Ticks(low, high float64) (ticks []plot.Tick) {
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for k := 1.0; k < 10; k++ {
			v := k * math.Pow(10, e)
			if v < low*0.999 || v > high*1.001 {
				continue
			}
			t := plot.Tick{Value: v}
			if k == 1 || (k == 2 || k == 5) && high/low < 2000 {
				t.Label = fmt.Sprintf("%g", v)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// cumulative is the line of the share of values that are no larger, thinned out so that a file stays small.
func cumulative(values []float64) (points plotter.XYs) {
	const most = 150
	sorted := slices.Sorted(slices.Values(values))
	for i := range sorted {
		if stride := max(len(sorted)/most, 1); i%stride == 0 || i == len(sorted)-1 {
			points = append(points, plotter.XY{X: sorted[i], Y: float64(i+1) / float64(len(sorted))})
		}
	}
	return points
}
