// Every dialogue in tests/transcripts, over every transport, against the real program.
#include "support/catch.hpp"
#include "support/live_server.hpp"
#include "support/rpc_client.hpp"
#include "transcript.hpp"

#include <algorithm>
#include <string>

namespace rkllm_mcp::test {
namespace {

void play_all(Transport transport, const std::string& version = kRuntimeVersions.back()) {
  for (const auto& transcript : all_transcripts()) {
    if (!transcript.is_for(transport)) continue;
    try {
      play(transcript, transport, version);
      CHECK(true);
    } catch (const std::exception& error) {
      FAIL_CHECK(error.what());
    }
  }
}

// What older runtimes do differently has nothing to do with transports: one that pushes streams, and one that is
// polled.
void play_pushed_and_polled(const std::string& version) {
  for (const Transport transport : {Transport::kTcp, Transport::kHttp}) play_all(transport, version);
}

// Whether some transcript sends a request for the method and expects something of it.
bool is_covered(const std::vector<Transcript>& transcripts, const std::string& method) {
  const std::string member = "\"method\":\"" + method + "\"";
  for (const auto& transcript : transcripts) {
    for (const auto& line : transcript.lines) {
      if (line.kind == TranscriptLine::Kind::kSend && line.text.find(member) != std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("the transcripts hold over stdio") { play_all(Transport::kStdio); }
TEST_CASE("the transcripts hold over TCP") { play_all(Transport::kTcp); }
TEST_CASE("the transcripts hold over a Unix socket") { play_all(Transport::kUnix); }
TEST_CASE("the transcripts hold over UDP") { play_all(Transport::kUdp); }
TEST_CASE("the transcripts hold over HTTP") { play_all(Transport::kHttp); }
TEST_CASE("the transcripts hold over WebSocket") { play_all(Transport::kWebSocket); }

TEST_CASE("the transcripts hold with runtime 1.1.4, pushed and polled") { play_pushed_and_polled("1.1.4"); }

TEST_CASE("the transcripts hold with runtime 1.2.0, pushed and polled") { play_pushed_and_polled("1.2.0"); }

TEST_CASE("the transcripts hold with runtime 1.2.1b1, pushed and polled") { play_pushed_and_polled("1.2.1b1"); }

TEST_CASE("the transcripts hold with runtime 1.2.3, pushed and polled") { play_pushed_and_polled("1.2.3"); }

TEST_CASE("every method of the server occurs in a transcript") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  const auto transcripts = all_transcripts();
  const Json list = client.result("tools/list");
  REQUIRE_FALSE(list.contains("nextCursor"));
  std::size_t functions = 0;
  for (const auto& tool : list["tools"]) {
    INFO(tool["name"]);
    if (!tool["name"].get<std::string>().starts_with("rkllm_")) continue;  // of a service, which has its own tests
    ++functions;
    CHECK(is_covered(transcripts, tool["name"].get<std::string>()));
  }
  CHECK(functions == 14);
}

}  // namespace rkllm_mcp::test
