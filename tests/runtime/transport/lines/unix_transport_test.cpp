#include "transport/lines/unix_transport.hpp"

#include "../echo.hpp"
#include "../loop_thread.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/raw_socket.hpp"
#include "support/usual_limits.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

struct UnixEchoServer {
  explicit UnixEchoServer(const std::string& path, mode_t mode = 0600)
      : transport(loop, UnixOptions{path, mode, usual_limits<ConnectionLimits>()}, echo.accept(loop)) {}

  Echo echo;
  LoopThread loop;
  OnLoop<UnixTransport> transport;
};

std::string refusal(const std::string& path) {
  LoopThread loop;
  try {
    OnLoop<UnixTransport> transport(loop, UnixOptions{path, 0600, usual_limits<ConnectionLimits>()}, accept_nobody);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("Unix: messages go there and back, and a client that only stops sending gets its answers") {
  const TemporaryDirectory directory;
  UnixEchoServer server(directory / "socket");
  RawSocket client(directory / "socket");
  client.send("{one}\ntwo\n");
  client.finish_sending();
  CHECK(client.receive_rest() == "{one}\ntwo\n");
}

TEST_CASE("Unix: a connection that begins with another protocol is told so once, and nothing of it is executed") {
  const TemporaryDirectory directory;
  UnixEchoServer server(directory / "socket");
  RawSocket client(directory / "socket");
  client.send("POST / HTTP/1.1\r\n\r\n{\"method\":\"rkllm_destroy\"}\n");
  CHECK(client.receive_rest() == "another protocol\n");
  CHECK(server.loop.call([&] { return server.echo.messages.empty(); }));
}

TEST_CASE("Unix: the peer's address is who the kernel says it is") {
  const TemporaryDirectory directory;
  UnixEchoServer server(directory / "socket");
  RawSocket client(directory / "socket");
  REQUIRE(server.loop.eventually([&] { return server.echo.peers.size() == 1; }));
  CHECK(server.loop.call([&] { return server.echo.peers[0]->facts().address; }) ==
        "pid=" + std::to_string(getpid()) + ",uid=" + std::to_string(geteuid()));
}

TEST_CASE("Unix: the file has the mode that was asked for, whatever the umask, and goes with the server") {
  const TemporaryDirectory directory;
  const std::string path = directory / "socket";
  for (const mode_t mode : {0600U, 0660U, 0666U}) {
    const UnixEchoServer server(path, mode);
    struct stat file {};
    REQUIRE(stat(path.c_str(), &file) == 0);
    CHECK((file.st_mode & 0777U) == mode);
  }
  CHECK(access(path.c_str(), F_OK) != 0);
}

TEST_CASE("Unix: a path in use is refused, what a dead server left is replaced, other files are not touched") {
  const TemporaryDirectory directory;
  const std::string path = directory / "socket";
  {
    const UnixEchoServer server(path);
    CHECK(refusal(path) == "unix: cannot listen on " + path + ": address already in use by pid=" +
                               std::to_string(::getpid()) + ",uid=" + std::to_string(::getuid()));
    RawSocket still_served(path);
  }
  const int left_behind = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  REQUIRE(bind(left_behind, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  close(left_behind);
  CHECK(refusal(path) == "");

  write_file(path, "precious");
  CHECK(refusal(path) == "unix: cannot listen on " + path + ": a file of another kind is there");
  CHECK(read_file(path) == "precious");
  CHECK(refusal("/nowhere/socket").find("unix: cannot listen on /nowhere/socket: ") == 0);
  const std::string long_path = directory / std::string(200, 'x');
  CHECK(refusal(long_path) == "unix: cannot listen on " + long_path + ": the path is longer than 107 bytes");
}

TEST_CASE("Unix: a server that stops removes its own file, not its successor's") {
  const TemporaryDirectory directory;
  const std::string path = directory / "socket";
  UnixEchoServer first(path);
  REQUIRE(unlink(path.c_str()) == 0);
  const UnixEchoServer second(path);
  first.transport.call([](auto& transport) { transport.stop(); });
  RawSocket client(path);
  client.send("{hello}\n");
  client.finish_sending();
  CHECK(client.receive_rest() == "{hello}\n");
}

TEST_CASE("Unix: what one client makes the layer above throw ends that client's connection and nothing else") {
  const TemporaryDirectory directory;
  UnixEchoServer server(directory / "socket");
  server.loop.expect_faults();
  RawSocket guilty(directory / "socket");
  guilty.send("{fault}\n{after}\n");
  CHECK(guilty.receive_rest().empty());
  CHECK(server.loop.has_faults(1));
  RawSocket next(directory / "socket");
  next.send("{next}\n");
  next.finish_sending();
  CHECK(next.receive_rest() == "{next}\n");
}
