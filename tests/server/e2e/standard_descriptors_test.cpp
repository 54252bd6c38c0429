// Hosts that start the server with standard descriptors that are of no use: a pipe for standard error that nobody
// reads, or none at all.
#include "support/catch.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/rpc_client.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

// A pipe of one page that somebody holds open and nobody reads.
class UnreadPipe {
 public:
  explicit UnreadPipe(const std::string& path) : path_(path) {
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(::fcntl(descriptor_, F_SETPIPE_SZ, 4096) == 4096);
  }
  UnreadPipe(const UnreadPipe&) = delete;
  UnreadPipe& operator=(const UnreadPipe&) = delete;
  ~UnreadPipe() { ::close(descriptor_); }

  // A command that runs what follows it with standard error in the pipe.
  std::vector<std::string> launcher() const { return {"/bin/sh", "-c", "exec \"$@\" 2>'" + path_ + "'", "sh"}; }

 private:
  const std::string path_;
  int descriptor_ = -1;
};

}  // namespace

TEST_CASE("a host that does not read standard error gets all its answers, and the server ends when it is told to") {
  const TemporaryDirectory directory;
  const UnreadPipe pipe(directory / "errors");
  LiveServer server({.with_stdio = true, .launcher = pipe.launcher()});
  RpcClient host(server.connect(Transport::kStdio));
  RpcClient other(server.connect(Transport::kTcp));
  host.init(shipped_model("fast"));
  for (int call = 0; call < 300; ++call) {  // each is a line of the log
    REQUIRE(host.result("rkllm_is_running")["running"] == false);
    REQUIRE(other.call("ping").contains("result"));
  }
  CHECK(host.result("rkllm_run", run_params("llm-1", "@n=20"))["status"] == 0);
  CHECK(server.health()["status"] == "healthy");
  server.process().signal(SIGTERM);
  CHECK(server.process().wait() == 0);
}

TEST_CASE("a server that is started without standard descriptors serves") {
  for (const char* const isolation : {"process", "thread"}) {
    for (const char* const closed : {"2>&-", "<&-", ">&-", "<&- >&- 2>&-"}) {
      INFO(isolation << ' ' << closed);
      LiveServer server({.set = {std::string("runtime.isolation=") + isolation},
                         .launcher = {"/bin/sh", "-c", std::string("exec \"$@\" ") + closed, "sh"}});
      RpcClient client(server.connect(Transport::kTcp));
      client.init(shipped_model("fast"));
      CHECK(client.result("rkllm_run", run_params("llm-1", "@n=20"))["status"] == 0);
      server.process().signal(SIGTERM);
      CHECK(server.process().wait() == 0);
    }
  }
}

TEST_CASE("a server that is to answer on a standard output that is closed does not start, and says so") {
  const auto finished = run_to_end({.args = {"/bin/sh", "-c", "echo '{}' | \"$0\" stdio --simulator >&-", kProgram},
                                    .env = {{"HOME", "/nonexistent"}}});
  CHECK(finished.status == 4);
  CHECK_THAT(finished.err, has_text("standard output, where the answers of stdio go, is closed"));
}

TEST_CASE("a server whose input is a pipe and whose output is closed serves all but stdio, and says so") {
  const TemporaryDirectory directory;
  const UnreadPipe pipe(directory / "input");
  LiveServer server({.launcher = {"/bin/sh", "-c", "exec \"$@\" <>'" + (directory / "input") + "' >&-", "sh"}});
  CHECK(RpcClient(server.connect(Transport::kTcp)).call("ping").contains("result"));
  CHECK_THAT(server.process().error_text(), has_text("standard input is not served: standard output"));
}

TEST_CASE("a bridge whose output cannot be written fails, and says so") {
  LiveServer server;
  for (const char* const output : {">&-", ">/dev/full"}) {
    const auto finished = run_to_end(
        {.args = {
             "/bin/sh", "-c",
             std::string("echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}' | \"$0\" connect \"$1\" ") + output,
             kProgram, server.endpoint(Transport::kTcp).url()}});
    INFO(output);
    CHECK(finished.status == 1);
    CHECK_THAT(finished.err, has_text("standard output could not be written"));
  }
}

}  // namespace rkllm_mcp::test
