// Reading and writing files. Every error is a Failure with the path and the system's reason.
#pragma once

#include <string>
#include <vector>

namespace morello {

// "-" is standard input.
std::string read_file(const std::string& path);

// To standard output, checked: a full disk behind a redirection is an error.
void print_out(const std::string& text);

// The files of one command, written all or none: every text first goes to a temporary file beside
// its target, and only when all are complete they are renamed, in the order of add(). A file that
// has the right content already is not touched, so that nothing is rebuilt because of it. Failures
// and signals (short of SIGKILL) leave no temporary file behind.
class OutputFiles {
 public:
  // `always`: give the file a new time even if its content stays.
  void add(const std::string& option, const std::string& path, std::string text,
           bool always = false);
  void write();

 private:
  struct File {
    std::string option;  // "--header", for messages
    std::string path;
    std::string target;  // where it really lies: behind symbolic links
    std::string text;
    std::string temporary;  // empty: none exists
    bool always = false;
  };
  void prepare(File& f);

  std::vector<File> files_;
};

// An empty directory that disappears with everything in it at the end of its life.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace morello
