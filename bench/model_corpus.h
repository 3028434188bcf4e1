// Programs of one kernel with what the model says and what was measured, kept as text so that a
// changed model can be judged by times that were measured before.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/sample.h"
#include "spec/kernel_spec.h"

namespace morello::bench {

// A kernel the model is tried on.
struct Subject {
  std::string name;
  int threads = 1;
  std::string text;
};

struct Candidate {
  Sample sample;
  double seconds = 0;  // 0: not measured yet
  double spread = 0;   // (third quartile - first) / median of the rounds
};

// The programs of one subject. Problems point into the spec and the machine, so it stays where it
// is.
class Corpus {
 public:
  Corpus(Subject subject, const Machine& machine, const Isa& isa);
  Corpus(const Corpus&) = delete;

  const Subject& subject() const { return subject_; }
  const KernelSpec& spec() const { return spec_; }
  const Machine& machine() const { return machine_; }

  // Draws programs and adds those whose code is new.
  void draw(const SampleOptions& options);
  // Prices everything anew.
  void reprice();
  // Blocks of text: a head line, the family, the program. Programs that do not parse any more (the
  // space has changed) are dropped; how many is returned.
  std::string text() const;
  int parse(const std::string& text);

  std::vector<Candidate> programs;

 private:
  bool has(const Sample& s) const;

  Subject subject_;
  KernelSpec spec_;
  const Machine& machine_;
  const Isa& isa_;
};

}  // namespace morello::bench
