// What worker processes cost: the same runs and calls with runtime.isolation=thread and =process, beside floors.
// Usage: benchmark_isolation RKLLM_MCP LIBRARY FAST_MODEL. Printed are medians of rounds that take turns.
#include <rkllm_mcp/json.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using rkllm_mcp::Json;

constexpr int kRounds = 5;
constexpr int kTokens = 2'000'000;
constexpr int kSingleTokens = 500'000;
constexpr int kCalls = 20'000;
constexpr int kPacedPerSecond = 50;
constexpr int kPacedTokens = 400;

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

// --- a client -------------------------------------------------------------------------------------------------------

class Line {
 public:
  explicit Line(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    require(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "cannot connect");
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Line() { ::close(socket_); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void send(std::string text) const {
    text += '\n';
    require(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()), "cannot send");
  }
  std::string receive() {
    std::size_t end = 0;
    while ((end = received_.find('\n')) == std::string::npos) read_more();
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    return line;
  }
  Json call(const char* method, const Json& params) {
    send(Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}}.dump());
    return Json::parse(receive());
  }
  // Reads on until a message says that the stream has ended; keeps no more than the end of what came.
  void read_to_end() {
    constexpr std::string_view kEnd = R"("end":true)";
    constexpr std::size_t kLastMessage = 4096;
    while (received_.find(kEnd) == std::string::npos || received_.back() != '\n') {
      if (received_.size() > kLastMessage) received_.erase(0, received_.size() - kLastMessage);
      read_more();
    }
    received_.clear();
  }

 private:
  void read_more() {
    static std::array<char, 1 << 18> bytes;
    const ssize_t size = ::recv(socket_, bytes.data(), bytes.size(), 0);
    require(size > 0, "the server closed the connection");
    received_.append(bytes.data(), static_cast<std::size_t>(size));
  }

  const int socket_;
  std::string received_;
};

// --- the server -----------------------------------------------------------------------------------------------------

// What the threads of a process have used of the processors so far, in seconds.
double cpu_of(pid_t process) {
  double nanoseconds = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    std::ifstream file(thread.path() / "schedstat");
    double used = 0;
    file >> used;
    nanoseconds += used;
  }
  return nanoseconds / 1e9;
}

class Server {
 public:
  Server(const std::string& program, const std::string& library, const std::string& isolation) {
    const std::string ports = folder_ + "/ports.json";
    std::vector<std::string> words{program, "serve", "--ports-file", ports, "--settings", folder_ + "/settings.json"};
    for (const std::string& setting : {"runtime.library=" + library, "runtime.isolation=" + isolation,
                                       std::string("tcp.port=0"), std::string("udp.port=0"), std::string("http.port=0"),
                                       std::string("ws.port=0"), std::string("log.level=error")}) {
      words.insert(words.end(), {"--set", setting});
    }
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    for (const int each : {0, 1, 2}) ::posix_spawn_file_actions_addopen(&files, each, "/dev/null", O_RDWR, 0);
    require(::posix_spawn(&process_, program.c_str(), &files, nullptr, argv.data(), environ) == 0, "cannot start the server");
    ::posix_spawn_file_actions_destroy(&files);
    while (!std::filesystem::exists(ports)) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    port_ = Json::parse(std::ifstream(ports)).at("tcp").at("port").get<std::uint16_t>();
  }
  ~Server() {
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
    std::filesystem::remove_all(folder_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const { return port_; }
  // Of the server and its workers.
  double cpu() const {
    double seconds = cpu_of(process_);
    for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(process_) + "/task")) {
      std::ifstream children(thread.path() / "children");
      for (pid_t child = 0; children >> child;) seconds += cpu_of(child);
    }
    return seconds;
  }

 private:
  static std::string make_folder() {
    std::string name = std::filesystem::temp_directory_path() / "rkllm-benchmark-XXXXXX";
    require(::mkdtemp(name.data()) != nullptr, "cannot make a folder");
    return name;
  }
  const std::string folder_ = make_folder();
  pid_t process_ = -1;
  std::uint16_t port_ = 0;
};

// --- what is measured -----------------------------------------------------------------------------------------------

struct Figures {
  std::vector<double> joined, joined_cpu, single, call, paced;
};

Json run_params(const std::string& handle, int tokens) {
  return {{"handle", handle}, {"rkllm_input", {{"prompt_input", "@n=" + std::to_string(tokens)}}}};
}

std::string load(Line& line, const std::string& model) {
  return line.call("rkllm_init", {{"param", {{"model_path", model}}}}).at("result").at("handle").get<std::string>();
}

// Seconds that a streamed run takes.
double stream(Line& line, const Json& params) {
  const auto begun = Clock::now();
  line.send(Json{{"jsonrpc", "2.0"}, {"id", 2}, {"method", "rkllm_run_async"}, {"params", params}}.dump());
  line.read_to_end();
  return seconds_since(begun);
}

void measure_speed(const Server& server, const std::string& handle, Figures& figures) {
  Line line(server.port());
  const double cpu = server.cpu();
  figures.joined.push_back(kTokens / stream(line, run_params(handle, kTokens)));
  figures.joined_cpu.push_back((server.cpu() - cpu) / kTokens * 10'000);
  Json apart = run_params(handle, kSingleTokens);
  apart["include"] = {"token_id"};
  figures.single.push_back(kSingleTokens / stream(line, apart));
  std::vector<double> times;
  for (int each = 0; each < kCalls; ++each) {
    const auto begun = Clock::now();
    line.call("rkllm_get_kv_cache_size", {{"handle", handle}});
    times.push_back(1e6 * seconds_since(begun));
  }
  figures.call.push_back(median(times));
}

void measure_paced(const Server& server, const std::string& handle, Figures& figures) {
  Line line(server.port());
  const double cpu = server.cpu();
  stream(line, run_params(handle, kPacedTokens));
  figures.paced.push_back(1e6 * (server.cpu() - cpu) / kPacedTokens);
}

// A thread that writes 120 bytes so many times a second: microseconds of processor time each.
double paced_floor() {
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "cannot make sockets");
  std::thread reader([&] {
    std::array<char, 4096> bytes;
    while (::recv(ends[1], bytes.data(), bytes.size(), 0) > 0) {
    }
  });
  double used = 0;
  std::thread writer([&] {
    const std::string text(120, 'x');
    const auto begun = Clock::now();
    for (int each = 0; each < kPacedTokens; ++each) {
      std::this_thread::sleep_until(begun + each * std::chrono::milliseconds(1000 / kPacedPerSecond));
      require(::send(ends[0], text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()), "cannot send");
    }
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    used = 1e6 * (static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9) / kPacedTokens;
  });
  writer.join();
  ::shutdown(ends[0], SHUT_RDWR);
  reader.join();
  for (const int end : ends) ::close(end);
  return used;
}

// Microseconds for a line of a call's size to a thread of this process and back.
double echo_floor() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  require(::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(listener, 1) == 0 &&
              ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0,
          "cannot listen");
  std::thread echo([listener] {
    const int client = ::accept(listener, nullptr, nullptr);
    const int on = 1;
    ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::array<char, 4096> bytes;
    for (ssize_t got = 0; (got = ::recv(client, bytes.data(), bytes.size(), 0)) > 0;) {
      if (::send(client, bytes.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) != got) break;
    }
    ::close(client);
  });
  std::vector<double> times;
  {
    Line line(ntohs(address.sin_port));
    for (int each = 0; each < kCalls; ++each) {
      const auto begun = Clock::now();
      line.call("rkllm_get_kv_cache_size", {{"handle", "llm-1"}});
      times.push_back(1e6 * seconds_since(begun));
    }
  }
  echo.join();
  ::close(listener);
  return median(times);
}

void print(const char* name, double floor, const std::vector<double>& thread, const std::vector<double>& process,
           int digits) {
  const double one = median(thread);
  const double other = median(process);
  if (floor > 0) {
    std::printf("%-42s %12.*f %12.*f %12.*f %8.2f\n", name, digits, floor, digits, one, digits, other, other / one);
  } else {
    std::printf("%-42s %12s %12.*f %12.*f %8.2f\n", name, "", digits, one, digits, other, other / one);
  }
}

std::string write_paced_model(const std::string& fast) {
  Json model = Json::parse(std::ifstream(fast));
  model["decode_tokens_per_s"] = kPacedPerSecond;
  const std::string path = std::filesystem::temp_directory_path() / ("rkllm-paced-" + std::to_string(::getpid()) + ".json");
  std::ofstream(path) << model;
  return path;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    const std::string paced_model = write_paced_model(argv[3]);
    const Server in_thread(argv[1], argv[2], "thread");
    const Server in_process(argv[1], argv[2], "process");
    struct Place {
      const Server& server;
      Figures figures{};
      std::string fast{}, paced{};
    };
    std::array places{Place{in_thread}, Place{in_process}};
    for (Place& place : places) {
      Line line(place.server.port());
      place.fast = load(line, argv[3]);
      place.paced = load(line, paced_model);
      stream(line, run_params(place.fast, 10'000));
    }
    for (int round = 0; round < kRounds; ++round) {
      for (Place& place : places) measure_speed(place.server, place.fast, place.figures);
    }
    for (int round = 0; round < 2; ++round) {
      for (Place& place : places) measure_paced(place.server, place.paced, place.figures);
    }
    std::filesystem::remove(paced_model);
    const auto& [thread, process] = places;
    std::printf("%-42s %12s %12s %12s %8s\n", "isolation", "floor", "thread", "process", "ratio");
    print("tokens/s, joined", 0, thread.figures.joined, process.figures.joined, 0);
    print("tokens/s, a message each", 0, thread.figures.single, process.figures.single, 0);
    print("CPU s per 10,000 tokens, joined", 0, thread.figures.joined_cpu, process.figures.joined_cpu, 4);
    print("a call, us (floor: TCP echo)", echo_floor(), thread.figures.call, process.figures.call, 1);
    print("CPU us per token at 50/s (floor: a thread)", paced_floor(), thread.figures.paced, process.figures.paced, 1);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "benchmark_isolation: %s\n", error.what());
    return 1;
  }
}
