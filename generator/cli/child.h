// Running other programs.
#pragma once

#include <string>
#include <vector>

namespace morello {

// While an object lives, SIGINT, SIGTERM and SIGHUP end the child that runs, and run() throws a
// Failure: so everything on the stack is cleaned up.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};

// Runs a program found in PATH and returns what it wrote to standard output. Its standard error is
// ours. Throws a Failure if it cannot be started, or does not end with exit code 0.
std::string run(const std::vector<std::string>& words);

}  // namespace morello
