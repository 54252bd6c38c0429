#include "pattern.hpp"
#include "support/live_server.hpp"
#include "support/rpc_client.hpp"
#include "transcript.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace rkllm_mcp::test {
namespace {

// A reply that should not come is given so long; after it the connection is asked something.
constexpr const char* kLastWord = R"({"jsonrpc":"2.0","id":"the last word","method":"ping"})";

class Player {
 public:
  Player(LiveServer& server, Transport transport)
      : server_(server), client_(server.connect(transport)), is_http_(transport == Transport::kHttp) {
    variables_["fast"] = shipped_model("fast");
    variables_["paced"] = server.paced_model(100);
    variables_["dir"] = server.directory().path();
  }

  void play(const TranscriptLine& line) {
    const std::string text = substitute(line.text, variables_);
    switch (line.kind) {
      case TranscriptLine::Kind::kSend: return client_.send_text(text);
      case TranscriptLine::Kind::kExpect: return match(Json::parse(text), client_.receive_or_throw());
      case TranscriptLine::Kind::kStream: return follow_stream(text);
      case TranscriptLine::Kind::kNotices: return follow_notices(text);
      case TranscriptLine::Kind::kSilence: return expect_silence();
    }
  }

  void expect_silence() {
    client_.send_text(kLastWord);
    match({{"jsonrpc", "2.0"}, {"id", "the last word"}, {"result", Json::object()}}, client_.receive_or_throw());
  }

 private:
  struct StreamLine {
    Json id;
    std::string method;
    Json ending;
  };

  // ID METHOD {ending}
  static StreamLine read_stream_line(const std::string& text) {
    std::istringstream words(text);
    std::string id;
    std::string method;
    std::string ending;
    words >> id >> method;
    std::getline(words, ending);
    return {Json::parse(id), method, Json::parse(ending)};
  }

  void match(const Json& pattern, const Json& message) {
    const std::string complaint = mismatch(pattern, message, variables_);
    if (!complaint.empty()) throw std::runtime_error(complaint + "\n  in " + message.dump());
  }

  void follow_stream(const std::string& text) {
    const StreamLine expected = read_stream_line(text);
    const StreamCheck stream = client_.stream(expected.id, expected.method);
    if (is_http_ == stream.announcement().is_null()) throw std::runtime_error("only HTTP announces a stream");
    match(expected.ending, stream.ending());
    note(stream.text());
    variables_["token_ids"] = stream.token_ids();
    variables_["token_count"] = stream.token_ids().size();
  }

  // Notifications: {"params":{"stream_id","seq","delta","end":false}}, the last with "end":true and the ending beside.
  void follow_notices(const std::string& text) {
    const StreamLine expected = read_stream_line(text);
    std::string joined;
    for (std::uint64_t seq = 0;; ++seq) {
      Json message = client_.receive_or_throw();
      const Json& params = message.at("params");
      const bool end = params.at("end").get<bool>();
      Json pattern{{"stream_id", expected.id}, {"seq", seq}, {"delta", "$string"}, {"end", end}};
      if (end) pattern.update(expected.ending);
      match({{"jsonrpc", "2.0"}, {"method", expected.method}, {"params", pattern}}, message);
      joined += params["delta"].get_ref<const std::string&>();
      if (end) return note(joined);
    }
  }

  // What arrived is what the simulator says it delivered.
  void note(const std::string& text) {
    variables_["text"] = text;
    const auto runs = server_.recorded_runs();
    if (runs.empty()) throw std::runtime_error("the simulator has recorded no run");
    if (runs.back().text != text) {
      throw std::runtime_error("the text differs from the simulator's record:\n  arrived  " + text +
                               "\n  recorded " + runs.back().text);
    }
  }

  LiveServer& server_;
  RpcClient client_;
  const bool is_http_;
  Variables variables_;
};

}  // namespace

void play(const Transcript& transcript, Transport transport) {
  LiveServer::Options options;
  options.set = transcript.settings;
  options.with_stdio = transport == Transport::kStdio;
  LiveServer server(options);
  Player player(server, transport);
  for (const auto& line : transcript.lines) {
    const auto& listed = line.transports;
    if (std::find(listed.begin(), listed.end(), transport) == listed.end()) continue;
    try {
      player.play(line);
    } catch (const std::exception& error) {
      throw std::runtime_error(transcript.name + ":" + std::to_string(line.number) + " over " +
                               std::string(name_of(transport)) + ": " + error.what());
    }
  }
  player.expect_silence();  // nothing that the dialogue did not mention is left
}

}  // namespace rkllm_mcp::test
