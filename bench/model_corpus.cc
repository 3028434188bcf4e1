#include "bench/model_corpus.h"

#include <algorithm>
#include <sstream>

namespace morello::bench {

Corpus::Corpus(Subject subject, const Machine& machine, const Isa& isa)
    : subject_(std::move(subject)), machine_(machine), isa_(isa) {
  Result<KernelSpec> spec = parse_spec(subject_.text);
  MORELLO_CHECK(spec.ok(), "{}", spec.error().str());
  spec_ = std::move(*spec);
}

bool Corpus::has(const Sample& s) const {
  return std::any_of(programs.begin(), programs.end(), [&](const Candidate& c) {
    return c.sample.problem.family == s.problem.family &&
           c.sample.problem.threads == s.problem.threads && equal(*c.sample.impl, *s.impl);
  });
}

void Corpus::draw(const SampleOptions& options) {
  SampleOptions own = options;
  own.threads = subject_.threads;
  for (Sample& s : sample(spec_.computation(), machine_, isa_, own))
    if (!has(s)) programs.push_back({std::move(s), 0, 0});
}

void Corpus::reprice() {
  for (Candidate& c : programs) c.sample.cost = price(Space(c.sample.problem), c.sample.impl);
}

std::string Corpus::text() const {
  std::string out;
  for (const Candidate& c : programs) {
    const Problem& p = c.sample.problem;
    out += fmt::format(
        "program threads {} seconds {:.6g} spread {:.3f} lines {}\n{}\n{}", p.threads, c.seconds,
        c.spread,
        [&] {
          const std::string text = print(p, *c.sample.impl);
          return std::count(text.begin(), text.end(), '\n');
        }(),
        p.family.str(spec_.computation()), print(p, *c.sample.impl));
  }
  return out;
}

int Corpus::parse(const std::string& text) {
  std::istringstream in(text);
  int dropped = 0;
  std::string word, line;
  for (Candidate c; in >> word;) {
    int threads = 1, lines = 0;
    in >> word >> threads >> word >> c.seconds >> word >> c.spread >> word >> lines;
    std::getline(in, line);
    std::string family, program;
    std::getline(in, family);
    for (int i = 0; i < lines && std::getline(in, line); ++i) program += line + "\n";
    Result<Family> f = parse_family(family, spec_.computation(), isa_);
    if (!f) {
      ++dropped;
      continue;
    }
    c.sample.problem = {&spec_.computation(), &machine_, std::move(*f), threads};
    Result<ImplPtr> impl = parse_impl(program, c.sample.problem);
    if (!impl) {
      ++dropped;
      continue;
    }
    c.sample.impl = *impl;
    programs.push_back(c);
  }
  return dropped;
}

}  // namespace morello::bench
