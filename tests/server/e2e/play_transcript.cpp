#include "pattern.hpp"
#include "support/live_server.hpp"
#include "support/rpc_client.hpp"
#include "transcript.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

namespace rkllm_mcp::test {
namespace {

// Whatever should not have come would come before the answer to this.
constexpr const char* kLastWord = R"({"jsonrpc":"2.0","id":"the last word","method":"ping"})";

// What a pattern finds under this name is compared with what the simulator generated last.
constexpr const char* kGenerated = "generated";

class Player {
 public:
  Player(LiveServer& server, const Transcript& transcript, Transport transport, const std::string& version)
      : server_(server), client_(server.connect(transport)), transport_(transport) {
    variables_["fast"] = shipped_model("fast");
    const bool is_before_1_3_0 = version != "1.3.0";
    variables_["version"] = version;
    variables_["running"] = is_before_1_3_0 ? 0 : 1;  // what rkllm_is_running returns
    variables_["idle"] = is_before_1_3_0 ? 1 : 0;
    variables_["perf"] = version < "1.2.1" || version == "1.2.1b1" ? "$null" : "$object";
    variables_["dir"] = server.directory().path();
    for (const auto& [name, content] : transcript.files) {
      const std::string path = server.directory() / name;
      write_file(path, content);
      variables_[name] = path;
    }
  }

  void play(const TranscriptLine& line) {
    const std::string text = substitute(line.text, variables_);
    switch (line.kind) {
      case TranscriptLine::Kind::kSend: return client_.send_text(text);
      case TranscriptLine::Kind::kExpect: return expect(Json::parse(text));
      case TranscriptLine::Kind::kBegin: return begin_stream(text);
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
    const std::string complaint = unmatched(pattern, message, variables_);
    if (!complaint.empty()) throw std::runtime_error(complaint + "\n  in " + message.dump());
  }

  // Replies may come in any order, so that the one with the id is looked for.
  void expect(const Json& pattern) {
    variables_.erase(kGenerated);
    match(pattern, pattern.contains("id") ? client_.answer(pattern["id"]) : client_.receive_or_throw());
    if (variables_.contains(kGenerated)) compare_with_record(variables_[kGenerated].get<std::string>());
  }

  // On a transport that may lose messages the stream asks for what is missing.
  StreamCheck& stream_of(const StreamLine& line) {
    return streams_.try_emplace(line.id.dump(), client_.watch(line.id, line.method)).first->second;
  }

  void begin_stream(const std::string& text) {
    StreamCheck& stream = stream_of(read_stream_line(text + " {}"));
    client_.read_stream(stream, [&stream] { return stream.chunks() > 0 || stream.ended(); });
  }

  void follow_stream(const std::string& text) {
    const StreamLine expected = read_stream_line(text);
    StreamCheck& stream = stream_of(expected);
    client_.read_stream(stream, [&stream] { return stream.ended(); });
    if (transport_ != Transport::kHttp && !stream.announcement().is_null()) {
      throw std::runtime_error("only HTTP announces a stream");
    }
    match(expected.ending, stream.ending());
    if (!stream.ending().contains("error")) compare_with_record(stream.text());
    variables_["token_count"] = stream.token_ids().size();
    streams_.erase(expected.id.dump());
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
      if (end) return compare_with_record(joined);
    }
  }

  // What arrived is what the simulator says it delivered.
  void compare_with_record(const std::string& text) const {
    const auto runs = server_.recorded_runs();
    if (runs.empty()) throw std::runtime_error("the simulator has recorded no run");
    if (runs.back().text != text) {
      throw std::runtime_error("the text differs from the simulator's record:\n  arrived  " + text + "\n  recorded " +
                               runs.back().text);
    }
  }

  LiveServer& server_;
  RpcClient client_;
  const Transport transport_;
  Variables variables_;
  std::map<std::string, StreamCheck> streams_;  // those that have begun, by id
};

}  // namespace

void play(const Transcript& transcript, Transport transport, const std::string& version) {
  LiveServer::Options options;
  options.runtime = {"--library", simulator_of(version)};
  options.set = transcript.settings;
  options.with_stdio = transport == Transport::kStdio;
  LiveServer server(options);
  Player player(server, transcript, transport, version);
  for (const auto& line : transcript.lines) {
    const auto is_for = [](const auto& listed, const auto& asked) {
      return std::find(listed.begin(), listed.end(), asked) != listed.end();
    };
    if (!is_for(line.transports, transport) || !is_for(line.versions, version)) continue;
    try {
      player.play(line);
    } catch (const std::exception& error) {
      throw std::runtime_error(transcript.name + ":" + std::to_string(line.number) + " over " +
                               std::string(name_of(transport)) + " with runtime " + version + ": " + error.what());
    }
  }
  player.expect_silence();  // nothing that the dialogue did not mention is left
}

}  // namespace rkllm_mcp::test
