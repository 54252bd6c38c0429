#include "tools/html/page_reading.hpp"

#include "jsonrpc/bounded_json.hpp"
#include "process/descriptor.hpp"
#include "tools/html/html_document.hpp"
#include "tools/tool_failure.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <new>
#include <stdexcept>
#include <system_error>

namespace rkllm_mcp {
namespace {

// A process under a sanitizer has reserved terabytes of addresses, and reserves more as it goes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif
#else
constexpr bool kIsSanitized = false;
#endif

std::string_view word_of(PageForm form) {
  switch (form) {
    case PageForm::kReadable: return "readable";
    case PageForm::kDuckDuckGo: return "duckduckgo";
  }
  return {};
}

// A process that reads a page, killed and waited for when this ends.
class PageProcess {
 public:
  PageProcess(const std::string& program, PageForm form, const std::string& address, std::chrono::seconds computing,
              const Descriptor& its_end) {
    std::array<std::string, 5> words{"rkllm-mcp", "read-page", std::string(word_of(form)), address,
                                     std::to_string(computing.count())};
    std::array<char*, 6> argv{words[0].data(), words[1].data(), words[2].data(),
                              words[3].data(), words[4].data(), nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, its_end.number(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, its_end.number(), STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    const int error = ::posix_spawn(&id_, program.c_str(), &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      throw ToolFailure("the page cannot be read: cannot start " + program + ": " +
                        std::generic_category().message(error));
    }
  }
  PageProcess(const PageProcess&) = delete;
  PageProcess& operator=(const PageProcess&) = delete;
  ~PageProcess() {
    if (id_ < 0) return;
    ::kill(id_, SIGKILL);
    wait_for_end();
  }

  int wait_for_end() {  // gives its status as waitpid() does
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
    return status;
  }

 private:
  pid_t id_ = -1;
};

// False if the other side takes no more.
bool send_all(const Descriptor& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return ::shutdown(socket.number(), SHUT_WR) == 0;
}

std::string read_all(int descriptor, std::size_t most) {
  std::string bytes;
  std::array<char, 65536> buffer{};
  for (;;) {
    const auto count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || bytes.size() > most) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::string complaint_about(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
    return "the page takes too long to read: it is nested too deeply, or has too many attributes";
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == HtmlDocument::kExitTooMuchMemory) {
    return "the page takes too much memory to read";
  }
  return "the page cannot be read: what reads it has died of it";
}

// 512 MiB beside what the process has by now; no bound where that is not known.
void bound_memory() {
  constexpr rlim_t kMore = rlim_t{512} << 20U;
  std::ifstream file("/proc/self/statm");  // begins with the pages of its addresses
  rlim_t pages = 0;
  rlimit memory{};
  if (kIsSanitized || !(file >> pages) || ::getrlimit(RLIMIT_AS, &memory) != 0) return;
  memory.rlim_cur = std::min(memory.rlim_cur, pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + kMore);
  ::setrlimit(RLIMIT_AS, &memory);
}

// Bounds this process: killed when the thread that started it ends; computing_s of processor time; memory; no files
// written.
void prepare_page_process(int computing_s) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  const auto seconds = static_cast<rlim_t>(computing_s);
  const rlimit computing{seconds, seconds + 1};
  ::setrlimit(RLIMIT_CPU, &computing);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::setrlimit(RLIMIT_FSIZE, &none);
  bound_memory();
}

Json answer_about(const PageOptions& options, const HtmlDocument& document) {
  const Url address = parse_url(options.address);
  if (options.form == word_of(PageForm::kDuckDuckGo)) return read_duckduckgo_page(document, address);
  ReadablePage page = readable_page(document, address);
  return Json{{"title", std::move(page.title)}, {"text", std::move(page.text)}};
}

}  // namespace

Json PageReading::read(PageForm form, const std::string& address, std::string_view page, StopSignal& stop) const {
  DescriptorPair line = make_stream_pair();
  PageProcess process(program_, form, address, computing_, line.second);
  line.second.close();
  stop.watch(line.first.number());
  std::string answer;
  if (send_all(line.first, page)) answer = read_all(line.first.number(), HtmlDocument::kLongestAnswer);
  // Nothing more is written or read here: the process must not wait for that.
  ::shutdown(line.first.number(), SHUT_RDWR);
  if (stop.is_stopped()) throw ToolFailure("stopped");
  const int status = process.wait_for_end();
  Json read = parse_bounded(answer).value_or(nullptr);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS || !read.is_object()) {
    throw ToolFailure(complaint_about(status));
  }
  return read;
}

int run_page_reading(const PageOptions& options) try {
  prepare_page_process(options.computing_s);
  constexpr std::size_t kLongestPage = std::size_t{64} << 20U;
  const HtmlDocument document(read_all(STDIN_FILENO, kLongestPage));
  const std::string answer = answer_about(options, document).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (answer.size() > HtmlDocument::kLongestAnswer) return HtmlDocument::kExitTooMuchMemory;
  for (std::string_view rest = answer; !rest.empty();) {
    const auto written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written <= 0) return EXIT_FAILURE;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return EXIT_SUCCESS;
} catch (const std::bad_alloc&) {
  return HtmlDocument::kExitTooMuchMemory;
} catch (const std::length_error&) {
  return HtmlDocument::kExitTooMuchMemory;
}

}  // namespace rkllm_mcp
