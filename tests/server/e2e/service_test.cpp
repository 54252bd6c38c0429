// The real server under a service manager: this test opens its sockets and listens to what it says.
#include "arrived_whole.hpp"
#include "support/catch.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/rpc_client.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr int kOutOfTheWay = 50;  // of the descriptors that the program is to find

void expect(int result) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), "service manager");
}

// Sockets as a service manager opens them, to be found by the program that is started with command().
class HandedOver {
 public:
  HandedOver() = default;
  HandedOver(const HandedOver&) = delete;
  HandedOver& operator=(const HandedOver&) = delete;
  ~HandedOver() {
    for (const int each : descriptors_) ::close(each);
  }

  // On a free port, which it gives. `address` is of IPv4 or IPv6.
  std::uint16_t add_internet(const std::string& name, int type, const std::string& address = "127.0.0.1") {
    sockaddr_storage storage{};
    auto* const v4 = reinterpret_cast<sockaddr_in*>(&storage);
    auto* const v6 = reinterpret_cast<sockaddr_in6*>(&storage);
    const bool is_v4 = ::inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1;
    storage.ss_family = is_v4 ? AF_INET : AF_INET6;
    if (!is_v4) expect(::inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) - 1);
    socklen_t size = is_v4 ? sizeof *v4 : sizeof *v6;
    const int descriptor = add(name, storage.ss_family, type, reinterpret_cast<const sockaddr*>(&storage), size);
    expect(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&storage), &size));
    return ntohs(is_v4 ? v4->sin_port : v6->sin6_port);
  }
  void add_unix(const std::string& name, const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    add(name, AF_UNIX, SOCK_STREAM, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }

  // What to start the program with. The shell's process becomes the program's.
  std::vector<std::string> command() const {
    std::string script = "exec";
    for (std::size_t at = 0; at < descriptors_.size(); ++at) {
      script += " " + std::to_string(3 + at) + "<&" + std::to_string(descriptors_[at]);
    }
    for (const int each : descriptors_) script += " " + std::to_string(each) + "<&-";
    script += "; export LISTEN_PID=$$ LISTEN_FDS=" + std::to_string(descriptors_.size()) + "; exec \"$@\"";
    return {"bash", "-c", script, "bash"};
  }
  std::pair<std::string, std::string> names() const { return {"LISTEN_FDNAMES", names_}; }

 private:
  int add(const std::string& name, int family, int type, const sockaddr* address, socklen_t size) {
    const int opened = ::socket(family, type, 0);
    expect(opened);
    const int descriptor = ::fcntl(opened, F_DUPFD, kOutOfTheWay);  // which children inherit
    ::close(opened);
    expect(descriptor);
    descriptors_.push_back(descriptor);
    names_ += (descriptors_.size() > 1 ? ":" : "") + name;
    expect(::bind(descriptor, address, size));
    if (type == SOCK_STREAM) expect(::listen(descriptor, SOMAXCONN));
    return descriptor;
  }

  std::vector<int> descriptors_;
  std::string names_;
};

// Listens where $NOTIFY_SOCKET points to.
class Notices {
 public:
  // "/PATH" or "@NAME"
  explicit Notices(const std::string& place) : descriptor_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    expect(descriptor_);
    constexpr timeval kPatience{60, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    place.copy(address.sun_path, sizeof address.sun_path - 1);
    if (place[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + place.size());
    expect(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), size));
  }
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;
  ~Notices() { ::close(descriptor_); }

  std::string next() const {
    std::array<char, 4096> buffer{};
    const auto size = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    expect(static_cast<int>(size));
    return {buffer.data(), static_cast<std::size_t>(size)};
  }

 private:
  const int descriptor_;
};

LiveServer::Options served_on(const HandedOver& sockets, std::vector<std::string> set = {}) {
  LiveServer::Options options;
  options.set = std::move(set);
  options.launcher = sockets.command();
  options.env = {sockets.names()};
  return options;
}

// What a start-up with these sockets is refused with; empty if it is not.
std::string refusal(const HandedOver& sockets, std::vector<std::string> set = {}) {
  try {
    const LiveServer server(served_on(sockets, std::move(set)));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

// What a process has open at descriptors from `first` to `last`, as the kernel names it: "socket:[4711]".
std::set<std::string> open_files(pid_t process, int first, int last) {
  std::set<std::string> files;
  for (const auto& each : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd")) {
    const int descriptor = std::stoi(each.path().filename());
    if (descriptor < first || descriptor > last) continue;
    std::error_code closed_meanwhile;
    files.insert(std::filesystem::read_symlink(each.path(), closed_meanwhile).string());
  }
  return files;
}

std::string environment_of(pid_t process) { return read_file("/proc/" + std::to_string(process) + "/environ"); }

}  // namespace

TEST_CASE("sockets handed over by name take the place of the transports' own, and calls stream on each") {
  TemporaryDirectory directory;
  const std::string path = directory / "handed";
  HandedOver sockets;
  const auto http = sockets.add_internet("http", SOCK_STREAM);
  const auto udp = sockets.add_internet("udp", SOCK_DGRAM);
  const auto tcp = sockets.add_internet("tcp", SOCK_STREAM, "::1");
  const auto ws = sockets.add_internet("ws", SOCK_STREAM);
  sockets.add_unix("unix", path);
  {
    LiveServer server(served_on(sockets));
    CHECK(server.port(Transport::kHttp) == http);
    CHECK(server.port(Transport::kUdp) == udp);
    CHECK(server.port(Transport::kTcp) == tcp);
    CHECK(server.port(Transport::kWebSocket) == ws);
    const Json open = server.health()["transports"];
    CHECK(open["tcp"]["address"] == "::1");
    CHECK(open["unix"]["path"] == path);

    int id = 100;
    for (auto endpoint :
         {server.endpoint(Transport::kHttp), server.endpoint(Transport::kUdp),
          client::Endpoint{client::Protocol::kTcp, "::1", tcp, ""}, server.endpoint(Transport::kWebSocket),
          client::Endpoint{client::Protocol::kUnix, "", 0, path}}) {
      INFO(endpoint.authority());
      RpcClient client(client::connect(endpoint, std::chrono::steady_clock::now() + Process::kPatience), ++id * 10);
      if (id == 101) client.init(shipped_model("fast"));
      const std::string prompt = "@n=500 @seed=" + std::to_string(id);
      const auto stream = client.stream(client.run_async("llm-1", prompt));
      CHECK(difference(server, stream, prompt, 500) == "");
    }
    CHECK_FALSE(std::filesystem::exists(server.directory() / "unix"));  // the one of the settings

    // Whoever the server starts does not believe itself spoken to, and finds no socket.
    const Json handle = server.health()["runtime"]["handles"].at(0);
    if (handle["process"].is_number()) {
      const auto worker = handle["process"].get<pid_t>();
      CHECK(environment_of(worker).find("LISTEN_") == std::string::npos);
      const auto handed = open_files(server.process().pid(), 3, 7);
      CHECK(handed.size() == 5);
      for (const auto& file : open_files(worker, 0, 1000)) CHECK(handed.count(file) == 0);
    }
    server.process().signal(SIGTERM);
    CHECK(server.process().wait() == 0);
  }
  struct stat file {};
  CHECK(::stat(path.c_str(), &file) == 0);  // the service manager's
}

TEST_CASE("a socket without a name goes to the only transport that it can be meant for") {
  TemporaryDirectory directory;
  HandedOver sockets;
  sockets.add_unix("rkllm-mcp.socket", directory / "handed");
  const auto udp = sockets.add_internet("unknown", SOCK_DGRAM);
  sockets.add_internet("http", SOCK_STREAM);
  const auto tcp = sockets.add_internet("", SOCK_STREAM);
  LiveServer server(served_on(sockets, {"ws.enabled=false"}));
  CHECK(server.port(Transport::kUdp) == udp);
  CHECK(server.port(Transport::kTcp) == tcp);
  CHECK(server.health()["transports"]["unix"]["path"] == directory / "handed");
}

TEST_CASE("a socket that cannot be meant, is of the wrong kind or open to others is a start-up error that says so") {
  SECTION("one of three") {
    HandedOver sockets;
    sockets.add_internet("rkllm-mcp.socket", SOCK_STREAM);
    CHECK_THAT(refusal(sockets),
               has_text("\"rkllm-mcp.socket\" may be for tcp or http; say which with FileDescriptorName="));
  }
  SECTION("the wrong kind") {
    HandedOver sockets;
    sockets.add_internet("http", SOCK_STREAM);
    sockets.add_internet("tcp", SOCK_DGRAM);
    CHECK_THAT(refusal(sockets), has_text("descriptor 4: tcp takes a listening TCP socket, and this is a UDP socket"));
  }
  SECTION("twice") {
    HandedOver sockets;
    sockets.add_internet("http", SOCK_STREAM);
    sockets.add_internet("http", SOCK_STREAM, "::1");
    CHECK_THAT(refusal(sockets), has_text("http has a socket already"));
  }
  SECTION("switched off") {
    HandedOver sockets;
    sockets.add_internet("tcp", SOCK_STREAM);
    CHECK_THAT(refusal(sockets, {"tcp.enabled=false"}), has_text("tcp is switched off (tcp.enabled=false)"));
  }
  SECTION("open to others") {
    HandedOver sockets;
    sockets.add_internet("http", SOCK_STREAM, "0.0.0.0");
    CHECK_THAT(refusal(sockets), has_text("http on 0.0.0.0 can be reached from other machines"));
    CHECK(refusal(sockets, {"auth.insecure=true"}) == "");
  }
}

TEST_CASE("sockets that are meant for another process are left alone") {
  LiveServer server({.env = {{"LISTEN_PID", "1"}, {"LISTEN_FDS", "3"}, {"LISTEN_FDNAMES", "tcp:http:ws"}}});
  CHECK(RpcClient(server.connect(Transport::kTcp)).call("ping").contains("result"));
}

TEST_CASE("the service manager is told that the server is ready, reads its settings again, and ends") {
  TemporaryDirectory directory;
  const std::string place =
      GENERATE(false, true) ? directory / "notify" : "@rkllm-mcp-test-" + std::to_string(::getpid());
  const Notices notices(place);
  LiveServer server({.env = {{"NOTIFY_SOCKET", place}}});
  const std::string ready = "READY=1\nSTATUS=Serving: tcp on 127.0.0.1:" + std::to_string(server.port(Transport::kTcp));
  CHECK_THAT(notices.next(), has_text(ready));
  server.process().signal(SIGHUP);
  CHECK_THAT(notices.next(), has_text("RELOADING=1\nMONOTONIC_USEC="));
  CHECK_THAT(notices.next(), has_text(ready));
  server.process().signal(SIGTERM);
  CHECK_THAT(notices.next(), has_text("STOPPING=1\n"));
  CHECK(server.process().wait() == 0);
}

TEST_CASE("the service manager is told that the server is ready before models are loaded") {
  TemporaryDirectory directory;
  const Notices notices(directory / "notify");
  LiveServer server(
      {.set = {R"(models={"m":{"autoload":true,"param":{"model_path":")" + shipped_model("fast") + "\"}}}"},
       .env = {{"NOTIFY_SOCKET", directory / "notify"}}});
  CHECK_THAT(notices.next(), has_text("READY=1\n"));
  CHECK(server.process().wait_for_error_text("model m is loaded"));
}

TEST_CASE("a watchdog hears of the server again and again, one that watches another process does not") {
  TemporaryDirectory directory;
  const Notices notices(directory / "notify");
  SECTION("this one") {
    LiveServer server({.env = {{"NOTIFY_SOCKET", directory / "notify"}, {"WATCHDOG_USEC", "100000"}}});
    CHECK_THAT(notices.next(), has_text("READY=1\n"));
    const auto begun = std::chrono::steady_clock::now();
    for (int count = 0; count < 5; ++count) CHECK(notices.next() == "WATCHDOG=1\n");
    server.process().signal(SIGTERM);
    CHECK(server.process().wait() == 0);
    CHECK(std::chrono::steady_clock::now() - begun >= std::chrono::milliseconds(150));
  }
  SECTION("another") {
    LiveServer server(
        {.env = {{"NOTIFY_SOCKET", directory / "notify"}, {"WATCHDOG_USEC", "1000"}, {"WATCHDOG_PID", "1"}}});
    CHECK_THAT(notices.next(), has_text("READY=1\n"));
    server.process().signal(SIGTERM);
    CHECK_THAT(notices.next(), has_text("STOPPING=1\n"));
  }
}

}  // namespace rkllm_mcp::test
