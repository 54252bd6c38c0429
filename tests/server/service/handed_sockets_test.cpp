#include "service/handed_sockets.hpp"

#include "process/descriptor.hpp"
#include "support/catch.hpp"
#include "support/environment.hpp"
#include "support/process.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

enum class Listens { kYes, kNo };

Descriptor internet_socket(int type, Listens listens, in_addr_t on = INADDR_LOOPBACK) {
  Descriptor made(::socket(AF_INET, type, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(on);
  REQUIRE(::bind(made.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  if (listens == Listens::kYes) REQUIRE(::listen(made.number(), 1) == 0);
  return made;
}

Descriptor tcp(in_addr_t on = INADDR_LOOPBACK) { return internet_socket(SOCK_STREAM, Listens::kYes, on); }
Descriptor udp(in_addr_t on = INADDR_LOOPBACK) { return internet_socket(SOCK_DGRAM, Listens::kNo, on); }

// At a path, or with an abstract name (@NAME).
Descriptor unix_socket(const std::string& name, int type = SOCK_STREAM) {
  Descriptor made(::socket(AF_UNIX, type, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  if (name.front() == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  REQUIRE(::bind(made.number(), reinterpret_cast<const sockaddr*>(&address), size) == 0);
  if (type == SOCK_STREAM) REQUIRE(::listen(made.number(), 1) == 0);
  return made;
}

std::uint16_t port_of(int descriptor) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return ntohs(address.sin_port);
}

// These sockets stand at the descriptors from 3 on while this lives, as a service manager hands them over. What this
// process has there comes back afterwards.
class HandedOver {
 public:
  explicit HandedOver(std::vector<Descriptor> sockets, const std::string& names = {},
                      const std::string& process = std::to_string(::getpid()))
      : process_("LISTEN_PID", process),
        count_("LISTEN_FDS", std::to_string(sockets.size())),
        names_("LISTEN_FDNAMES", names) {
    constexpr int kOutOfTheWay = 100;
    std::vector<Descriptor> moved;
    for (const Descriptor& socket : sockets) moved.emplace_back(::fcntl(socket.number(), F_DUPFD, kOutOfTheWay));
    sockets.clear();
    int at = 3;
    for (const Descriptor& socket : moved) {
      before_.emplace_back(::fcntl(at, F_DUPFD_CLOEXEC, kOutOfTheWay));
      REQUIRE(::dup2(socket.number(), at) == at);
      ++at;
    }
  }
  HandedOver(const HandedOver&) = delete;
  HandedOver& operator=(const HandedOver&) = delete;
  ~HandedOver() {
    int at = 3;
    for (const Descriptor& before : before_) {
      if (before.number() >= 0) {
        ::dup2(before.number(), at);
      } else {
        ::close(at);
      }
      ++at;
    }
  }

 private:
  Environment process_;
  Environment count_;
  Environment names_;
  std::vector<Descriptor> before_;
};

std::vector<Descriptor> sockets_of(Descriptor one) {
  std::vector<Descriptor> all;
  all.push_back(std::move(one));
  return all;
}

std::vector<Descriptor> sockets_of(Descriptor one, Descriptor two) {
  auto all = sockets_of(std::move(one));
  all.push_back(std::move(two));
  return all;
}

Settings all_enabled() {
  Settings settings;
  settings.tcp.enabled = settings.udp.enabled = settings.http.enabled = settings.ws.enabled = true;
  settings.auth.insecure = false;
  settings.auth.tokens.clear();
  return settings;
}

// What is said against these sockets.
std::string complaint_about(std::vector<Descriptor> sockets, const std::string& names, const Settings& settings) {
  const HandedOver handed(std::move(sockets), names);
  try {
    take_handed_sockets(settings);
    return "nothing";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

bool is_none(const HandedSockets& sockets) {
  return !sockets.tcp && !sockets.udp && !sockets.http && !sockets.ws && !sockets.unix_socket;
}

}  // namespace

TEST_CASE("sockets are taken by their names, with the place where each is bound, and no child gets them") {
  const TemporaryDirectory folder;
  auto sockets = sockets_of(udp(), tcp());
  sockets.push_back(tcp());
  sockets.push_back(tcp());
  sockets.push_back(unix_socket(folder / "socket"));
  const HandedOver handed(std::move(sockets), "udp:ws:tcp:http:unix");
  const HandedSockets taken = take_handed_sockets(all_enabled());
  int at = 3;
  for (const auto& each : {taken.udp, taken.ws, taken.tcp, taken.http}) {
    REQUIRE(each);
    CHECK(each->descriptor == at);
    CHECK(each->address == "127.0.0.1");
    CHECK(each->port == port_of(at));
    ++at;
  }
  REQUIRE(taken.unix_socket);
  CHECK(taken.unix_socket->descriptor == at);
  CHECK(taken.unix_socket->address == folder / "socket");
  CHECK(taken.unix_socket->port == 0);
  for (int each = 3; each <= at; ++each) CHECK(::fcntl(each, F_GETFD) == FD_CLOEXEC);
}

TEST_CASE("the variables leave the environment, also where they are meant for another process, whose they stay") {
  for (const std::string& process : {std::to_string(::getpid()), std::string("1"), std::string("x"), std::string()}) {
    INFO(process);
    const HandedOver handed(sockets_of(tcp()), "tcp", process);
    CHECK(is_none(take_handed_sockets(all_enabled())) == (process != std::to_string(::getpid())));
    for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) CHECK(std::getenv(name) == nullptr);
  }
  CHECK(is_none(take_handed_sockets(all_enabled())));
}

TEST_CASE("a socket without a name of ours goes to the one transport that takes its kind") {
  const std::string name = "@rkllm-mcp-handed-" + std::to_string(::getpid());
  const HandedOver handed(sockets_of(unix_socket(name), udp()), "rkllm-mcp.socket");
  const HandedSockets taken = take_handed_sockets(all_enabled());
  REQUIRE(taken.unix_socket);
  CHECK(taken.unix_socket->address == name);
  REQUIRE(taken.udp);
  CHECK(taken.udp->descriptor == 4);
}

TEST_CASE("a TCP socket without a name is refused where several transports may be meant, and taken where one is left") {
  CHECK(complaint_about(sockets_of(tcp()), "unit.socket", all_enabled()) ==
        "socket activation: descriptor 3: \"unit.socket\" may be for tcp or http; say which with FileDescriptorName=");
  Settings settings = all_enabled();
  settings.http.enabled = false;
  // The second one, which has a name, is placed first.
  const HandedOver handed(sockets_of(tcp(), tcp()), "unit.socket:tcp");
  const HandedSockets taken = take_handed_sockets(settings);
  REQUIRE(taken.tcp);
  CHECK(taken.tcp->descriptor == 4);
  REQUIRE(taken.ws);
  CHECK(taken.ws->descriptor == 3);
}

TEST_CASE("a socket of another kind than its name takes is refused, and both are told") {
  const TemporaryDirectory folder;
  CHECK_THAT(complaint_about(sockets_of(udp()), "tcp", all_enabled()),
             has_text("descriptor 3: tcp takes a listening TCP socket, and this is a UDP socket"));
  CHECK_THAT(complaint_about(sockets_of(tcp()), "udp", all_enabled()),
             has_text("udp takes a UDP socket, and this is a listening TCP socket"));
  CHECK_THAT(complaint_about(sockets_of(unix_socket(folder / "a")), "http", all_enabled()),
             has_text("this is a listening Unix stream socket"));
  CHECK_THAT(complaint_about(sockets_of(unix_socket(folder / "b", SOCK_DGRAM)), "unix", all_enabled()),
             has_text("unix takes a listening Unix stream socket, and this is something else"));
  CHECK_THAT(complaint_about(sockets_of(internet_socket(SOCK_STREAM, Listens::kNo)), "ws", all_enabled()),
             has_text("ws takes a listening TCP socket, and this is something else"));
}

TEST_CASE("what no transport can be meant by is refused") {
  DescriptorPair pipe = make_pipe();
  CHECK_THAT(complaint_about(sockets_of(std::move(pipe.first)), "", all_enabled()),
             has_text("\"\", which is something else, is for no transport"));
  CHECK_THAT(complaint_about(sockets_of(udp(), udp()), "x:y", all_enabled()), has_text("descriptor 4: \"y\""));
}

TEST_CASE("a transport takes one socket") {
  CHECK_THAT(complaint_about(sockets_of(tcp(), tcp()), "http:http", all_enabled()),
             has_text("descriptor 4: http has a socket already"));
}

TEST_CASE("a socket for a transport that is switched off is refused") {
  Settings settings = all_enabled();
  settings.udp.enabled = false;
  CHECK_THAT(complaint_about(sockets_of(udp()), "udp", settings), has_text("udp is switched off (udp.enabled=false)"));
  CHECK_THAT(complaint_about(sockets_of(udp()), "any", settings), has_text("is for no transport that is switched on"));
}

TEST_CASE("a socket that other machines reach is taken only with authentication, or where that is accepted") {
  CHECK_THAT(complaint_about(sockets_of(tcp(INADDR_ANY)), "http", all_enabled()),
             has_text("http on 0.0.0.0 can be reached from other machines"));
  CHECK_THAT(complaint_about(sockets_of(udp(INADDR_ANY)), "", all_enabled()), has_text("udp on 0.0.0.0"));
  Settings accepted = all_enabled();
  accepted.auth.insecure = true;
  CHECK(complaint_about(sockets_of(tcp(INADDR_ANY)), "http", accepted) == "nothing");
  Settings guarded = all_enabled();
  guarded.auth.tokens = "/etc/tokens";
  CHECK(complaint_about(sockets_of(tcp(INADDR_ANY)), "http", guarded) == "nothing");
}

TEST_CASE("a number of sockets beyond those that are open is refused, however large") {
  const HandedOver handed(sockets_of(tcp()), "tcp");
  ::close(3);
  CHECK_THROWS_WITH(take_handed_sockets(all_enabled()),
                    "socket activation: LISTEN_FDS names descriptor 3, which is not open");
  for (const char* count : {"2147483645", "4294967296", "18446744073709551615"}) {
    INFO(count);
    const Environment process("LISTEN_PID", std::to_string(::getpid()));
    const Environment many("LISTEN_FDS", count);
    CHECK_THROWS_AS(take_handed_sockets(all_enabled()), std::runtime_error);
  }
}

TEST_CASE("no number of sockets is none") {
  for (const char* count : {"", "0", "-1", "one"}) {
    INFO(count);
    const Environment process("LISTEN_PID", std::to_string(::getpid()));
    const Environment none("LISTEN_FDS", count);
    CHECK(is_none(take_handed_sockets(all_enabled())));
  }
}

}  // namespace rkllm_mcp::test
