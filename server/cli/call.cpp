#include "cli/run_command.hpp"

#include "cli/answer_follower.hpp"
#include "cli/help/terminal.hpp"
#include "cli/target.hpp"
#include "client/connection.hpp"
#include "client/endpoint.hpp"
#include "clock.hpp"
#include "jsonrpc/bounded_json.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp {
namespace {

// Where messages may get lost: how long silence lasts until the request is sent again (the server recognises it while
// it is executed and for 30 s after its answer), and how long until chunks are asked for again.
constexpr std::chrono::milliseconds kSilenceBeforeAnswer{1000};
constexpr std::chrono::milliseconds kSilenceInStream{200};
constexpr std::chrono::milliseconds kBetweenRecoveries{25};

client::Endpoint endpoint_of(const CallOptions& options, const SettingsRequest& request) {
  const bool names_transport = options.to && options.to->find("://") != std::string::npos;  // settings have no say
  const Settings settings = names_transport ? Settings{} : load_settings(request).values;
  if (options.to) {
    auto endpoint = target_of(*options.to, settings, client::Protocol::kTcp);
    endpoint.token = options.token;
    endpoint.ca_file = options.ca_file;
    return endpoint;
  }
  return {settings.tcp.tls ? client::Protocol::kTcps : client::Protocol::kTcp,
          settings.tcp.address,
          settings.tcp.port,
          "",
          options.token,
          trusted_file(options.ca_file, settings)};
}

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

// Whether the server tells, with error 4002, that there is no handle at all.
bool names_no_handles(const Json& error) {
  const Json data = error.value("data", Json());
  return data.is_object() && data.value("handles", Json::array()).empty();
}

// What a server answers as an error, or a tool in its result, and what to do next where the server does not say so.
std::string words_of_failure(const Json& error) {
  if (!error.is_object()) return error.dump();
  const Json content = error.value("content", Json());
  if (content.is_array()) {
    for (const Json& each : content) {
      const Json type = each.is_object() ? each.value("type", Json()) : Json();
      const Json text = each.is_object() ? each.value("text", Json()) : Json();
      if (type == "text" && text.is_string()) return text.get<std::string>();
    }
  }
  const Json message = error.value("message", Json());
  const Json code = error.value("code", Json());
  std::string words = message.is_string() ? message.get<std::string>() : error.dump();
  if (code.is_number_integer()) words += " (error " + code.dump() + ")";
  if (code == static_cast<int>(ErrorCode::kUnknownHandle) && names_no_handles(error)) {
    words += "; rkllm-mcp load MODEL loads one, whose name is its handle";
  }
  if (code == static_cast<int>(ErrorCode::kRuntimeUnavailable)) words += "; rkllm-mcp doctor says more";
  if (code == static_cast<int>(ErrorCode::kUnauthorized))
    words += "; the token is given by --token, or RKLLM_MCP_TOKEN";
  if (code == static_cast<int>(ErrorCode::kMethodNotFound) && words.find("did you mean") == std::string::npos) {
    words += "; rkllm-mcp tools list --all shows what there is";
  }
  return words;
}

class Call {
 public:
  Call(const CallOptions& options, const client::Endpoint& endpoint)
      : options_(options),
        connection_(client::connect(endpoint, deadline())),
        reader_(kId, connection_->reliable() ? AnswerFollower::Delivery::kReliable
                                             : AnswerFollower::Delivery::kUnreliable) {}

  int run() {
    request_ =
        Json{{"jsonrpc", "2.0"}, {"id", kId}, {"method", options_.method}, {"params", Json::parse(options_.params)}}
            .dump();
    connection_->send(request_);
    while (reader_.state() == AnswerFollower::State::kOpen) take(next_message());
    const bool is_done = reader_.state() == AnswerFollower::State::kSucceeded;
    if (options_.output == CallOptions::Output::kText && (is_done || reader_.has_begun())) print("\n");
    if (options_.output == CallOptions::Output::kJson) print_json(report());
    if (is_done) return kExitOk;
    std::fprintf(stderr, "rkllm-mcp: %s: %s\n", options_.method.c_str(),
                 without_control_characters(words_of_failure(reader_.error())).c_str());
    return kExitFailed;
  }

 private:
  static constexpr int kId = 1;

  Clock::time_point deadline() const { return Clock::now() + std::chrono::seconds(options_.patience_s); }

  std::string next_message() {
    const auto give_up = deadline();
    const auto silence = reader_.has_begun() ? kSilenceInStream : kSilenceBeforeAnswer;
    for (;;) {
      const auto until = connection_->reliable() ? give_up : std::min(give_up, Clock::now() + silence);
      if (auto message = connection_->receive(until)) return *std::move(message);
      if (Clock::now() >= give_up) {
        throw client::ConnectionError("no answer within " + std::to_string(options_.patience_s) + " s");
      }
      if (reader_.has_begun()) {
        recover();
      } else {
        connection_->send(request_);
      }
    }
  }

  void recover() {
    connection_->send(reader_.recovery().dump());
    asked_at_ = Clock::now();
    asked_for_ = reader_.next_seq();
  }

  // A gap is asked for at once, since the server keeps so many chunks only; the same one again after a while.
  bool has_new_gap() const {
    return reader_.has_gap() && (asked_for_ != reader_.next_seq() || Clock::now() - asked_at_ > kBetweenRecoveries);
  }

  void take(const std::string& line) {
    const auto message = parse_bounded(line);
    if (!message) throw client::ConnectionError("the server sent something that is no JSON message: " + line);
    const std::string text = reader_.take(*message);
    if (has_new_gap()) recover();
    switch (options_.output) {
      case CallOptions::Output::kMessages: print(line + "\n"); break;
      case CallOptions::Output::kText: print(text); break;
      case CallOptions::Output::kJson: text_ += text; break;
    }
  }

  // What was generated: as it has come, or whole in the result of a run that is not streamed.
  Json generated() const {
    if (reader_.has_begun()) return text_;
    const Json& result = reader_.result();
    return result.is_object() ? result.value("text", Json()) : Json();
  }

  Json report() const {
    return {
        {"method", options_.method}, {"text", generated()}, {"result", reader_.result()}, {"error", reader_.error()}};
  }

  const CallOptions& options_;
  std::unique_ptr<client::Connection> connection_;
  AnswerFollower reader_;
  std::string request_;
  std::string text_;              // that has come, for a report at the end
  Clock::time_point asked_at_{};  // for chunks again
  std::optional<std::uint64_t> asked_for_;
};

}  // namespace

int run_call(const CallOptions& options, const SettingsRequest& request) {
  try {
    return Call(options, endpoint_of(options, request)).run();
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "rkllm-mcp: --to %s\n", error.what());
    return kExitUsage;
  }
}

}  // namespace rkllm_mcp
