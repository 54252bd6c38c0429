#include "worker/served_model.hpp"

#include "clock.hpp"
#include "jsonrpc/envelope.hpp"
#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr int kExitBadFrame = 4;

Json outcome_as_json(const CallOutcome& outcome) {
  Json json{{"result", outcome.result}, {"aborted", outcome.aborted}};
  if (!outcome.state.empty()) json["state"] = outcome.state;
  if (!outcome.values.is_null()) json["values"] = outcome.values;
  if (outcome.error) {
    const RpcError error = as_rpc_error(outcome.error);
    json["error"] = {{"code", static_cast<int>(error.code())}, {"message", error.what()}, {"data", error.data()}};
  }
  return json;
}

void send_end(FrameSocket& socket, std::uint32_t call, const Json& end) {
  socket.send({.type = FrameType::kEnd, .call = call}, {}, to_text(end));
}

[[noreturn]] void end_process(const BadFrame& error) {
  std::fprintf(stderr, "E worker: %s\n", error.what());
  std::_Exit(kExitBadFrame);
}

}  // namespace

struct ServedModel::ReceivedCall {
  std::uint32_t number = kNone;
  CallRequest request;
};

ServedModel::ServedModel(Engine& engine, std::span<const Method> methods, const std::string& id, DescriptorPair sockets,
                         NamedFunction named)
    : engine_(engine),
      methods_(methods),
      model_(engine.new_model(id, [](const RpcError&) {})),
      named_(std::move(named)),
      tokens_(std::make_shared<TokenWriter>(std::move(sockets.first))),
      in_order_(tokens_->socket()),
      beside_(std::move(sockets.second)),
      thread_([this] { serve_in_order(); }) {}

ServedModel::~ServedModel() {
  end();
  thread_.join();
}

void ServedModel::end() {
  in_order_.shut_down();
  stop_running();
}

// Makes what one thread has written visible to the other. The server may send a call on the second socket as soon as it
// has a result from the first, but to C++ sockets order nothing: so the lock is taken by serve_in_order() before it
// sends a result, and by serve_beside() before it makes a call.
void ServedModel::synchronize() { const std::lock_guard lock(stopping_); }

void ServedModel::stop_running() {
  const std::lock_guard lock(stopping_);
  if (running_ != kNone) model_->stop_run();
}

bool ServedModel::wait_for_end(Clock::time_point deadline) const {
  std::unique_lock lock(ending_);
  return ended_news_.wait_until(lock, deadline, [this] { return ended_; });
}

void ServedModel::serve_in_order() {
  std::thread beside;
  Model::Values told;  // the server has been told of the model
  try {
    beside = std::thread([this] { serve_beside(); });
    while (true) {
      const ReceivedCall received = take_call(in_order_, in_order_.receive());
      Json end = outcome_as_json(make(received));
      if (tokens_->nobody_reads()) throw PeerGone();
      synchronize();
      end["loaded"] = model_->loaded();
      Model::Values values = model_->values();
      if (values != told) end["handle_values"] = told = std::move(values);
      send_end(in_order_, received.number, end);
    }
  } catch (const PeerGone&) {
    // The server needs the model no more.
  } catch (const BadFrame& error) {
    end_process(error);
  } catch (const std::system_error& error) {  // no thread can be started, or a socket fails: the server sees the end
    std::fprintf(stderr, "E rkllm-mcp: %s\n", error.what());
    in_order_.shut_down();
  }
  beside_.shut_down();
  if (beside.joinable()) beside.join();  // the model is not destroyed during a call
  destroy();
  const std::lock_guard lock(ending_);
  ended_ = true;
  ended_news_.notify_all();
}

void ServedModel::serve_beside() {
  try {
    while (true) {
      const Frame frame = beside_.receive();
      if (frame.head.type == FrameType::kStop) {
        stop(frame.head.call);
        continue;
      }
      const ReceivedCall received = take_call(beside_, frame);
      if (received.request.method == nullptr) throw BadFrame("a call of no method");
      synchronize();
      send_end(beside_, received.number, outcome_as_json(model_->call_beside(received.request)));
    }
  } catch (const PeerGone&) {
    stop_running();  // nobody calls any more
  } catch (const BadFrame& error) {
    end_process(error);
  }
}

// CALL: u8 encoding, u8 bytes of the method's name, the name, the parameters. Without a name: whether somebody is
// there.
ServedModel::ReceivedCall ServedModel::take_call(FrameSocket& socket, const Frame& first) const {
  ReceivedCall received{first.head.call, {}};
  const bool has_unread_parts = (first.head.flags & kHasUnread) != 0;
  FramedText whole(std::numeric_limits<std::size_t>::max());  // the server has its limits
  for (Frame frame = first;; frame = socket.receive()) {
    if (frame.head.type != FrameType::kCall || frame.head.call != received.number) throw BadFrame("expected a call");
    if (whole.add(frame)) break;
  }
  const std::string content = whole.take();
  if (content.size() < 2) throw BadFrame("a call without a method");
  const auto name_bytes = static_cast<unsigned char>(content[1]);
  const std::string_view name = std::string_view(content).substr(2, name_bytes);
  if (name.empty()) return received;
  received.request.method = find_method(methods_, name);
  if (received.request.method == nullptr) throw BadFrame("a call of an unknown method");
  if (content[0] != 0) received.request.encoding = ArrayEncoding::kBase64;
  const std::string_view params = std::string_view(content).substr(2U + name.size());
  received.request.params = has_unread_parts ? unread_part(params) : Json::parse(params, nullptr, false);
  if (received.request.params.is_discarded()) throw BadFrame("a call whose parameters are no JSON");
  return received;
}

CallOutcome ServedModel::make(const ReceivedCall& received) {
  const Method* const method = received.request.method;
  if (method == nullptr) return {};
  if (method->handle == HandleRole::kCreates) {
    const std::filesystem::path path = model_path_in(received.request.params);
    if (path.has_stem()) named_(path.stem().string());
  }
  if (method->handle == HandleRole::kNone) return engine_.call(received.request);
  if (!method->streams) return model_->call(received.request);
  const auto frames = tokens_->open(received.number);
  begin_run(received.number, *frames);
  CallOutcome outcome = model_->call(received.request);
  end_run();
  return outcome;
}

void ServedModel::begin_run(std::uint32_t call, CallObserver& observer) {
  const std::lock_guard lock(stopping_);
  model_->begin_run(observer);
  running_ = call;
  if (stopped_ == call) model_->stop_run();
}

void ServedModel::end_run() {
  {
    const std::lock_guard lock(stopping_);
    running_ = kNone;
  }
  tokens_->close();
}

void ServedModel::stop(std::uint32_t call) {
  const std::lock_guard lock(stopping_);
  stopped_ = call;
  if (running_ == call) model_->stop_run();
}

void ServedModel::destroy() {
  const Method* const method = find_method(methods_, HandleRole::kDestroys);
  if (method != nullptr && model_->loaded()) model_->call({method, Json::object()});
}

}  // namespace rkllm_mcp
