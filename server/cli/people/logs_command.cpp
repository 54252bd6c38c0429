#include "cli/run_command.hpp"

#include "cli/people/log_line.hpp"
#include "cli/people/server_link.hpp"
#include "cli/serve_options.hpp"
#include "client/connection.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

constexpr const char* kUnit = "rkllm-mcp";  // of systemd

[[noreturn]] void fail_with_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// Prints what is read of the log: as it stands, or each line as JSON.
class Printer {
 public:
  explicit Printer(bool json) : json_(json) {}

  // A line may come in pieces.
  void print(std::string_view text) {
    if (!json_) {
      std::fwrite(text.data(), 1, text.size(), stdout);
      return;
    }
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      line_ += text.substr(0, end);
      finish_line();
      text.remove_prefix(end + 1);
    }
    line_ += text;
  }

  // To be called when nothing follows: what has come of a last line is printed as a line.
  void finish() {
    if (!line_.empty()) finish_line();
    std::fflush(stdout);
  }

 private:
  void finish_line() {
    const std::string json = log_line_as_json(line_) + "\n";
    std::fwrite(json.data(), 1, json.size(), stdout);
    line_.clear();
  }

  const bool json_;
  std::string line_;
};

// The log's file, read from any place on; another file of that name takes its place when the log has been rotated.
class LogFile {
 public:
  LogFile(std::string path, Printer& printer) : path_(std::move(path)), printer_(printer), descriptor_(open_path()) {
    if (descriptor_ < 0) fail_with_errno(path_ + " (log.file)");
  }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  ~LogFile() { ::close(descriptor_); }

  // Leaves out all but the last lines.
  void skip_to_last(int lines) {
    if (lines == 0) at_ = size();
    std::array<char, 65536> bytes = {};
    off_t at = size();
    bool is_last = true;  // a newline at the end of the file begins no line
    while (at > 0 && lines > 0) {
      const off_t begin = std::max<off_t>(at - static_cast<off_t>(bytes.size()), 0);
      const auto count = ::pread(descriptor_, bytes.data(), static_cast<std::size_t>(at - begin), begin);
      if (count <= 0) return;
      for (auto i = static_cast<std::size_t>(count); i-- > 0;) {
        if (bytes[i] == '\n' && !std::exchange(is_last, false) && --lines == 0) {
          at_ = begin + static_cast<off_t>(i) + 1;
          return;
        }
        is_last = false;
      }
      at = begin;
    }
  }

  // Prints what there is now.
  void print_rest() {
    if (size() < at_) at_ = 0;  // emptied in place
    print_this_file();
    const int other = open_path();
    if (other < 0) return;  // between two files
    if (is_same_file(other)) {
      ::close(other);
      return;
    }
    print_this_file();  // what came between
    printer_.finish();
    ::close(std::exchange(descriptor_, other));
    at_ = 0;
    print_this_file();
  }

 private:
  int open_path() const { return ::open(path_.c_str(), O_RDONLY | O_CLOEXEC); }
  off_t size() const {
    struct stat status {};
    return ::fstat(descriptor_, &status) == 0 ? status.st_size : 0;
  }
  bool is_same_file(int other) const {
    struct stat one {};
    struct stat two {};
    return ::fstat(descriptor_, &one) == 0 && ::fstat(other, &two) == 0 && one.st_ino == two.st_ino &&
           one.st_dev == two.st_dev;
  }
  void print_this_file() {
    std::array<char, 65536> bytes = {};
    for (;;) {
      const auto count = ::pread(descriptor_, bytes.data(), bytes.size(), at_);
      if (count <= 0) break;
      printer_.print({bytes.data(), static_cast<std::size_t>(count)});
      at_ += count;
    }
    std::fflush(stdout);
  }

  const std::string path_;
  Printer& printer_;
  int descriptor_;
  off_t at_ = 0;
};

// Wakes up when anything in the file's folder changes. Where that cannot be known, a few times a second.
class FolderWatch {
 public:
  explicit FolderWatch(const std::string& path) : descriptor_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    const std::string folder = std::filesystem::absolute(path).parent_path().string();
    if (descriptor_ >= 0) ::inotify_add_watch(descriptor_, folder.c_str(), IN_MODIFY | IN_CREATE | IN_MOVED_TO);
  }
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;
  ~FolderWatch() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  void wait() const {
    constexpr int kWithoutNewsMs = 1000;
    pollfd news{descriptor_, POLLIN, 0};
    ::poll(&news, 1, kWithoutNewsMs);
    std::array<char, 4096> events;
    while (::read(descriptor_, events.data(), events.size()) > 0) {
    }
  }

 private:
  const int descriptor_;
};

struct EndJournal {
  void operator()(std::FILE* journal) const { ::pclose(journal); }
};

// What the service has said, without what the journal puts in front of it.
int show_journal_as_json(const LogsOptions& options) {
  const std::string command = std::string("journalctl --output=cat --unit=") + kUnit +
                              " --lines=" + std::to_string(options.lines) +
                              (options.follows ? " --follow" : " --no-pager");
  std::unique_ptr<std::FILE, EndJournal> journal(::popen(command.c_str(), "re"));
  if (!journal) fail_with_errno("journalctl");
  Printer printer(true);
  std::array<char, 4096> bytes = {};
  // Line by line: a block would be waited for.
  while (std::fgets(bytes.data(), static_cast<int>(bytes.size()), journal.get()) != nullptr) {
    printer.print(bytes.data());
    std::fflush(stdout);
    if (std::ferror(stdout) != 0) return kExitFailed;  // nobody reads any more
  }
  printer.finish();
  return ::pclose(journal.release()) == 0 ? kExitOk : kExitFailed;
}

[[noreturn]] void show_journal(const LogsOptions& options) {
  std::vector<std::string> words{"journalctl", "--unit", kUnit, "--lines", std::to_string(options.lines)};
  words.emplace_back(options.follows ? "--follow" : "--no-pager");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  fail_with_errno("journalctl");
}

int show_the_journal(const LogsOptions& options) {
  if (options.json) return show_journal_as_json(options);
  show_journal(options);
}

bool has_systemd() { return std::filesystem::exists("/run/systemd/system"); }

bool runs_as_service() {
  const std::string command = std::string("systemctl is-active --quiet ") + kUnit + " 2>/dev/null";
  return has_systemd() && std::system(command.c_str()) == 0;
}

// The lines of one answer of GET /log. Returns from which on to ask next.
std::uint64_t print_part(const Json& part, std::size_t most, Printer& printer) {
  const Json lines = part.value("lines", Json::array());
  for (std::size_t at = lines.size() - std::min(lines.size(), most); at < lines.size(); ++at) {
    if (lines[at].is_string()) printer.print(lines[at].get<std::string>() + "\n");
  }
  std::fflush(stdout);
  return part.value("next", std::uint64_t{0});
}

int show_log_of_server(const LogsOptions& options, ServerLink& server) {
  constexpr std::chrono::seconds kBetweenLooks{1};
  Printer printer(options.json);
  std::uint64_t next = print_part(server.get("/log"), static_cast<std::size_t>(options.lines), printer);
  while (options.follows) {
    std::this_thread::sleep_for(kBetweenLooks);
    const Json part = server.get("/log?from=" + std::to_string(next));
    next = print_part(part, part.value("lines", Json::array()).size(), printer);
    if (std::ferror(stdout) != 0) return kExitFailed;  // nobody reads any more
  }
  return kExitOk;
}

// Where the log is no file.
int show_what_there_is(const LogsOptions& options, const SettingsRequest& request) {
  if (runs_as_service()) return show_the_journal(options);
  ServerLink server(options.remote, request);
  try {
    return show_log_of_server(options, server);
  } catch (const client::Unreachable&) {
    if (has_systemd()) return show_the_journal(options);  // of earlier runs
    throw std::runtime_error("no server runs at " + server.url() +
                             ", and log.file is empty: nothing is left of earlier runs. Start it: rkllm-mcp serve" +
                             as_options(request) + "; with a log that stays: rkllm-mcp serve" + as_options(request) +
                             " --set log.file=/tmp/rkllm-mcp.log");
  }
}

}  // namespace

int run_logs(const LogsOptions& options, const SettingsRequest& request) {
  if (!options.remote.to.empty()) {
    ServerLink server(options.remote, request);
    return show_log_of_server(options, server);
  }
  const std::string path = load_settings(request).values.log.file;
  if (path.empty()) return show_what_there_is(options, request);
  const FolderWatch watch(path);  // before the first look, so that nothing falls between
  Printer printer(options.json);
  LogFile log(path, printer);
  log.skip_to_last(options.lines);
  log.print_rest();
  while (options.follows) {
    watch.wait();
    log.print_rest();
    if (std::ferror(stdout) != 0) return kExitFailed;  // nobody reads any more
  }
  printer.finish();
  return kExitOk;
}

}  // namespace rkllm_mcp
