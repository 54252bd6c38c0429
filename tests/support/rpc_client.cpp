#include "support/rpc_client.hpp"

#include <stdexcept>
#include <utility>

namespace rkllm_mcp::test {
namespace {

using Clock = std::chrono::steady_clock;

// So long a lossy connection may be silent before what is missing is asked for.
constexpr std::chrono::milliseconds kSilence{100};
// So long a gap in a stream may last before it is asked for once more.
constexpr std::chrono::milliseconds kGap{20};

}  // namespace

int RpcClient::send(std::string_view method, Json params) {
  const std::string text = Json{{"jsonrpc", "2.0"}, {"id", next_id_}, {"method", method}, {"params", params}}.dump();
  if (!connection_->reliable()) unanswered_[next_id_] = text;
  connection_->send(text);
  return next_id_++;
}

void RpcClient::send_again(const Json& id) {
  if (const auto request = unanswered_.find(id); request != unanswered_.end()) connection_->send(request->second);
}

std::optional<Json> RpcClient::receive(Duration patience) {
  if (!kept_.empty()) {
    Json message = std::move(kept_.front());
    kept_.pop_front();
    return message;
  }
  const auto deadline = Clock::now() + patience;
  for (;;) {
    const auto text = connection_->receive(deadline);
    if (!text) return std::nullopt;
    Json message = Json::parse(*text);
    if (!is_late(message)) return message;
  }
}

bool RpcClient::is_late(const Json& message) const {
  if (!message.is_object() || !message.contains("id") || !ended_.contains(message["id"])) return false;
  constexpr int kChunksGone = 4003;
  return message.contains("error") ? message["error"]["code"] == kChunksGone : message.contains("method");
}

Json RpcClient::receive_or_throw(Duration patience) {
  auto message = receive(patience);
  if (!message) throw std::runtime_error("no message came in time");
  return std::move(*message);
}

Json RpcClient::initialize(std::string_view revision) {
  return result("initialize", {{"protocolVersion", revision},
                               {"capabilities", Json::object()},
                               {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
}

Json RpcClient::call(std::string_view method, Json params) { return answer(send(method, std::move(params))); }

Json RpcClient::answer(const Json& id) {
  const auto deadline = Clock::now() + kPatience;
  for (std::deque<Json> others;;) {
    auto message = receive(connection_->reliable() ? kPatience : kSilence);
    if (!message && (connection_->reliable() || Clock::now() > deadline)) {
      throw std::runtime_error("no answer came in time");
    }
    if (!message) {
      send_again(id);
      continue;
    }
    if (message->contains("id") && (*message)["id"] == id) {
      kept_.insert(kept_.begin(), others.begin(), others.end());
      unanswered_.erase(id);
      return std::move(*message);
    }
    others.push_back(std::move(*message));
  }
}

Json RpcClient::result(std::string_view method, Json params) {
  Json message = call(method, std::move(params));
  if (!message.contains("result")) throw std::runtime_error(std::string(method) + ": " + message.dump());
  return message["result"];
}

std::string RpcClient::init(const std::string& model, Json param) {
  param["model_path"] = model;
  return result("rkllm_init", {{"param", param}}).at("handle").get<std::string>();
}

int RpcClient::run_async(const std::string& handle, const std::string& prompt) {
  return send("rkllm_run_async", run_params(handle, prompt));
}

StreamCheck RpcClient::watch(const Json& id, std::string_view method) const {
  return {id, method, connection_->reliable() ? StreamCheck::Delivery::kInOrder : StreamCheck::Delivery::kLossy};
}

StreamCheck RpcClient::stream(const Json& id, std::string_view method) {
  StreamCheck stream = watch(id, method);
  read_stream(stream, [&stream] { return stream.ended(); });
  return stream;
}

void RpcClient::read_stream(StreamCheck& stream, const std::function<bool()>& enough) {
  ended_.erase(stream.id());
  auto deadline = Clock::now() + kPatience;  // for some progress, not for all of it
  std::size_t chunks = stream.chunks();
  std::deque<Json> others;
  std::optional<std::uint64_t> asked_for;
  Clock::time_point asked_at;
  while (!enough()) {
    const auto patience = connection_->reliable() ? kPatience : stream.has_gap() ? kGap : kSilence;
    const auto message = receive(patience);
    if (message && !stream.take(*message)) others.push_back(*message);
    if (std::exchange(chunks, stream.chunks()) != stream.chunks()) deadline = Clock::now() + kPatience;
    // A gap is asked for at once, since the server keeps so many chunks only; silence, each time.
    const bool is_asked = asked_for == stream.missing() && Clock::now() < asked_at + kGap;
    if (message && (!stream.has_gap() || is_asked)) continue;
    if (connection_->reliable() || Clock::now() > deadline) {
      throw std::runtime_error("the stream came to a halt after " + std::to_string(stream.chunks()) + " chunks");
    }
    if (stream.chunks() == 0 && !stream.has_gap() && unanswered_.contains(stream.id())) {
      send_again(stream.id());
      continue;
    }
    asked_for = stream.missing();
    asked_at = Clock::now();
    connection_->send(
        Json{{"jsonrpc", "2.0"}, {"id", stream.id()}, {"method", "poll"}, {"params", {{"from_seq", stream.missing()}}}}
            .dump());
  }
  kept_.insert(kept_.begin(), others.begin(), others.end());
  if (!connection_->reliable() && stream.ended()) ended_.insert(stream.id());
}

Json run_params(const std::string& handle, const std::string& prompt) {
  return {{"handle", handle}, {"rkllm_input", {{"prompt_input", prompt}}}};
}

}  // namespace rkllm_mcp::test
