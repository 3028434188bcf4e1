// How well the model ranks: Kendall's tau and regret, as a table, as JSON and as a picture.
#pragma once

#include <string>
#include <vector>

namespace morello::bench {

struct Point {
  double cycles = 0;  // what the model says
  double seconds = 0;
  std::string program;  // family and nest
};

struct Ranking {
  std::string name;
  std::vector<Point> points;

  // Kendall's tau-b between cost and time: 1 the same order, 0 none, -1 the opposite.
  double tau() const;
  // The same over pairs whose times differ by more than the share `clear`: what noise cannot turn.
  double tau(double clear) const;
  // Time of the program the model would choose, over the time of the fastest one.
  double regret() const;
  // The clock at which the median program takes what the model says, in GHz.
  double clock() const;
};

std::string table(const std::vector<Ranking>& rankings);
std::string json(const std::vector<Ranking>& rankings, const std::string& machine);
// Small multiples, time against cost, both logarithmic; the model's choice and the fastest program
// are marked.
std::string svg(const std::vector<Ranking>& rankings);

}  // namespace morello::bench
