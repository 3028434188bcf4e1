// What was measured, as Markdown, as JSON and as a picture.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace morello::bench {

inline constexpr const char* kOurs = "Morello";
// Ours with sizes that are known when it is generated, beside one that takes them as arguments.
inline constexpr const char* kKnownSizes = "known sizes";
// Several kernels of ours in place of one, and the first of these alone.
inline constexpr const char* kUnfused = "unfused";
inline constexpr const char* kFirstStep = "first step";
bool is_ours(const std::string& name);

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
  std::map<std::string, double> facts;  // what else is known of this row

  // Every kernel of ours computed what it should.
  bool ours_right() const;
  double rate(const Timed& t) const { return operations / t.seconds; }
  // Of the read bandwidth when b is read once, else of the arithmetic.
  std::optional<double> of_limit(const Timed& t) const;
  // Null when it does not do this.
  const Timed* by(const std::string& name) const;
  // Among those with the right result and not ours; null without any.
  const Timed* best_peer() const;
};

// With one instruction set.
struct Column {
  std::string isa;
  std::vector<Compared> works;
};

// Of lines that begin with "work", "time", "limit" or "fact" and have their fields behind tabs.
std::vector<Compared> parse(const std::string& lines);

// The peers of a column, in the order in which they are met.
std::vector<std::string> peers_of(const Column& column, bool threads = false);
// Without our own other ways.
std::vector<std::string> others_of(const Column& column);
// Geometric means of the ratios to the best peer, and to each, of all rows of a kind, which is what
// their names begin with, by so many threads: lines of Markdown.
std::string means(const Column& column);
// What everybody said that runs.
std::string what_ran(const Column& column);
std::string markdown(const std::vector<Column>& columns);
std::string json(const std::vector<Column>& columns, int rounds);
// The speed of everybody over ours, logarithmic; what is right of the line is faster.
std::string svg(const std::vector<Column>& columns);

}  // namespace morello::bench
