#include "bench/svg.h"

#include <fmt/format.h>

namespace morello::bench {

Svg::Svg(int width, int height)
    : body_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
                        "font-family=\"sans-serif\" font-size=\"11\">\n"
                        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
                        width, height)) {}

void Svg::text(double x, double y, std::string_view words, std::string_view fill) {
  body_ +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n", x, y, fill, words);
}

void Svg::square(double x, double y, double side, std::string_view stroke) {
  body_ += fmt::format(
      "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{2:.1f}\" fill=\"none\" "
      "stroke=\"{3}\"/>\n",
      x, y, side, stroke);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view stroke) {
  body_ +=
      fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n",
                  x1, y1, x2, y2, stroke);
}

void Svg::circle(double x, double y, double radius, std::string_view fill) {
  body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\"/>\n", x, y,
                       radius, fill);
}

}  // namespace morello::bench
