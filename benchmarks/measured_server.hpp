// What measurements of the whole program share: a server of their own, a client that costs little, processor time.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace benchmarks {

using Clock = std::chrono::steady_clock;
using rkllm_mcp::Json;

inline double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

inline void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

// --- a client -------------------------------------------------------------------------------------------------------

// A socket that is connected to this machine.
inline int connected(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  require(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "cannot connect");
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

// A socket that listens on a free port of this machine, and the port.
inline std::pair<int, std::uint16_t> listening() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  require(::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(listener, 1) == 0 &&
              ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0,
          "cannot listen");
  return {listener, ntohs(address.sin_port)};
}

class Line {
 public:
  explicit Line(std::uint16_t port) : socket_(connected(port)) {}
  ~Line() { ::close(socket_); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void send(std::string text) const {
    text += '\n';
    require(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()),
            "cannot send");
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
inline double cpu_of(pid_t process) {
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
  // `more` settings, "name=value".
  Server(const std::string& program, const std::string& library, const std::vector<std::string>& more) {
    const std::string ports = folder_ + "/ports.json";
    std::vector<std::string> words{program, "serve", "--ports-file", ports, "--settings", folder_ + "/settings.json"};
    std::vector<std::string> settings{
        "runtime.library=" + library, "tcp.port=0", "udp.port=0", "http.port=0", "ws.port=0", "log.level=error"};
    settings.insert(settings.end(), more.begin(), more.end());
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    for (const int each : {0, 1, 2}) ::posix_spawn_file_actions_addopen(&files, each, "/dev/null", O_RDWR, 0);
    require(::posix_spawn(&process_, program.c_str(), &files, nullptr, argv.data(), environ) == 0,
            "cannot start the server");
    ::posix_spawn_file_actions_destroy(&files);
    while (!std::filesystem::exists(ports)) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ports_ = Json::parse(std::ifstream(ports));
  }
  ~Server() {
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
    std::filesystem::remove_all(folder_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port(const char* transport = "tcp") const {
    return ports_.at(transport).at("port").get<std::uint16_t>();
  }
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
  Json ports_;
};

}  // namespace benchmarks
