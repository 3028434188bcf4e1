// What was measured, as Markdown, as JSON and as a picture.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace morello::bench {

// Ours with sizes that are known when it is generated, beside one that takes them as arguments.
inline constexpr const char* kKnownSizes = "known sizes";

struct Timed {
  std::string name, runs;
  double seconds = 0, spread = 0;
  double error = 0;  // as a share of what is allowed
  int threads = 1;

  bool right() const { return error <= 1; }
};

struct Compared {
  std::string name, spec;
  double operations = 0, bytes = 0;
  int threads = 1;
  std::optional<double> fma, read;  // limits: operations and bytes a second
  std::vector<Timed> times;         // with all threads; ours is the first
  // The same by one thread, where `threads` is more.
  std::vector<Timed> alone;
  std::optional<double> fma_alone;

  // Every kernel of ours computed what it should.
  bool ours_right() const;
  double rate(const Timed& t) const { return operations / t.seconds; }
  // Of the read bandwidth when b is read once, else of the arithmetic.
  std::optional<double> of_limit(const Timed& t) const;
  // Among those with the right result and not ours; null without any.
  const Timed* best_peer() const;
};

// With one instruction set.
struct Column {
  std::string isa;
  std::vector<Compared> works;
};

// Of lines that begin with "work", "time" or "limit" and have their fields behind tabs.
std::vector<Compared> parse(const std::string& lines);

std::string markdown(const std::vector<Column>& columns);
std::string json(const std::vector<Column>& columns, int rounds);
// The speed of everybody over ours, logarithmic; what is right of the line is faster.
std::string svg(const std::vector<Column>& columns);

}  // namespace morello::bench
