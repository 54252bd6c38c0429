// What surrounds a handle in a test: model files, directories, the environment, what is written to stdout and stderr.
#pragma once

#include "support/environment.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace simulated {

using rkllm_mcp::test::Environment;
using Json = nlohmann::ordered_json;

inline std::string model(const std::string& name) { return std::string(SIMULATOR_MODELS) + "/" + name + ".json"; }

// A directory that goes away with the object.
class Directory {
 public:
  Directory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rkllm-sim-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return file(name);
  }
  // fast.json with other fields.
  std::string model(const Json& changes) const {
    std::ifstream fast(simulated::model("fast"));
    Json content = Json::parse(fast);
    content.update(changes);
    return write("model.json", content.dump());
  }

 private:
  std::filesystem::path path_;
};

inline std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What the process writes to stdout and stderr.
struct Written {
  std::string out;
  std::string err;
};

// What is written while `action` runs. Nothing may be checked inside it: what Catch says would be caught as well.
inline Written written_by(const std::function<void()>& action) {
  const Directory directory;
  const auto redirect = [&](int descriptor, const char* name) {
    std::fflush(descriptor == 1 ? stdout : stderr);
    const int before = ::dup(descriptor);
    const int file = ::open(directory.file(name).c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    ::dup2(file, descriptor);
    ::close(file);
    return before;
  };
  const auto restore = [](int descriptor, int before) {
    std::fflush(descriptor == 1 ? stdout : stderr);
    ::dup2(before, descriptor);
    ::close(before);
  };
  const int out = redirect(1, "out");
  const int err = redirect(2, "err");
  action();
  restore(1, out);
  restore(2, err);
  return {read(directory.file("out")), read(directory.file("err"))};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace simulated
