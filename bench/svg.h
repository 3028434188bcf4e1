// Pictures of measurements, as SVG.
#pragma once

#include <string>
#include <string_view>

namespace morello::bench {

// A white page; what is drawn later lies on top.
class Svg {
 public:
  Svg(int width, int height);

  void text(double x, double y, std::string_view words, std::string_view fill = "#000");
  // No fill: only the outline.
  void square(double x, double y, double side, std::string_view stroke);
  void line(double x1, double y1, double x2, double y2, std::string_view stroke);
  void circle(double x, double y, double radius, std::string_view fill);

  // The whole document.
  std::string str() const { return body_ + "</svg>\n"; }

 private:
  std::string body_;
};

}  // namespace morello::bench
