#include "worker/worker_connection.hpp"

#include "backend/logged_errors.hpp"
#include "faults.hpp"
#include "jsonrpc/envelope.hpp"
#include "jsonrpc/unread.hpp"
#include "worker/token_pump.hpp"

#include <csignal>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::chrono::seconds kForItsEnd{1};
constexpr int kLooksForItsEnd = 5;

// The worker is looked at so often while nothing arrives: it may have printed something. Seldom during a run, where
// each look wakes a thread for nothing.
constexpr std::chrono::milliseconds kLook{250};
constexpr std::chrono::seconds kLookDuringRun{1};

struct Hanging {};

std::string name_of_signal(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : "SIG" + std::string(name);
}

// What a worker that cannot work says before it exits; empty if it has not.
std::string own_words(const std::vector<std::string>& last_errors) {
  constexpr std::string_view kWorker = "E worker: ";
  for (const std::string& line : last_errors) {
    if (line.starts_with(kWorker)) return line.substr(kWorker.size());
  }
  return {};
}

// What a worker that has ended printed during its last call. If the reason of its end is not among that, the worker may
// have given it before the call began: then all that it has printed.
std::vector<std::string> errors_before_end(const ProcessOutput& log, std::vector<std::string> of_call) {
  if (!own_words(of_call).empty()) return of_call;
  std::vector<std::string> all = log.errors_since(0);
  return own_words(all).empty() ? of_call : all;
}

// What is said where a worker has closed the sockets of a model without a word, and goes on.
RpcError no_room(const std::vector<std::string>& last_errors) {
  const RpcError error = runtime_unavailable(
      "the worker process has no room for another model: too many files are open in it, or too many threads run");
  Json data = error.data();
  data["log"] = last_errors;
  return {error.code(), error.what(), std::move(data)};
}

// How a frame CALL begins: how arrays are encoded, and the method, if it is a call of one.
std::string beginning_of(const CallRequest& request) {
  const std::string_view method = request.method == nullptr ? std::string_view() : request.method->name;
  std::string beginning(1, request.encoding == ArrayEncoding::kBase64 ? '\1' : '\0');
  beginning += static_cast<char>(method.size());
  beginning += method;
  return beginning;
}

}  // namespace

RpcError worker_died(const WorkerProcess::End& end, const std::vector<std::string>& last_errors) {
  const std::string words = end.signal == 0 ? own_words(last_errors) : std::string();
  const std::string how = end.signal != 0 ? "was killed by " + name_of_signal(end.signal)
                                          : "has exited with code " + std::to_string(end.exit_code);
  const RpcError error = runtime_unavailable(words.empty() ? "the process that ran the model " + how : words);
  Json data = error.data();
  if (end.signal != 0) data["signal"] = name_of_signal(end.signal);
  if (!has_fault("who has lost its worker is not told what that has said")) data["log"] = last_errors;
  return {error.code(), error.what(), std::move(data)};
}

WorkerConnection::WorkerConnection(WorkerProcess& process, Descriptor socket, std::chrono::milliseconds hang,
                                   asio::io_context& loop)
    : process_(process), hang_(hang), loop_(loop), socket_(std::move(socket)) {
  socket_.look_while_waiting(kLook, [this] { look(); });
}

WorkerConnection::End WorkerConnection::call(const CallRequest& request, Run* run) {
  const std::uint32_t number = run == nullptr ? new_number() : run->number;
  log_lines_ = lines_at_last_sign_ = process_.log().line_count();
  last_sign_ = Clock::now();
  std::string fault;
  bool is_half_said = false;  // what is left would be taken for a part of the next call
  try {
    FrameHead head{.type = FrameType::kCall, .call = number};
    if (has_unread(request.params)) head.flags |= kHasUnread;
    {  // the texts go when they are sent: both they and the run may be long
      const std::string beginning = beginning_of(request);
      const std::string params = to_text(request.params);
      is_half_said = true;
      socket_.send(head, beginning, params);
    }
    ReplyReader reader(number, run);
    End end = await_end(reader, run != nullptr);
    is_half_said = false;
    has_answered_ = true;
    if (end.handle_values) handle_values_ = *std::exchange(end.handle_values, std::nullopt);
    // What was printed before the call returned has arrived; those who hear it belong to the call, and end with it.
    process_.log().read();
    if (end.outcome.error) add_logged_errors(logged_errors(), end.outcome);
    return end;
  } catch (const PeerGone&) {
    // A model that is used has had its room since it was loaded; ping() has no method.
    const bool uses_model = request.method != nullptr && request.method->handle == HandleRole::kUses;
    const bool may_be_refused = !has_answered_ && !uses_model;
    const bool is_refused = may_be_refused && !process_.wait_for_end(kForItsEnd) && process_.takes_models();
    if (is_refused) throw no_room(logged_errors());
    worker_gone({});
  } catch (const Hanging&) {
    fault = "it gave no sign of life for " + std::to_string(hang_.count() / 1000) + " s";
  } catch (const BadFrame& error) {
    fault = std::string("it did not speak as it should: ") + error.what();
  } catch (const std::system_error& error) {
    fault = std::string("it cannot be spoken to: ") + error.what();
  } catch (const std::exception& error) {  // a bug, or no memory
    if (!is_half_said) throw;
    process_.kill();  // first: there may be no memory for the reason either
    fault = std::string("its answer could not be taken: ") + error.what();
  }
  process_.kill();
  worker_gone(fault);
}

WorkerConnection::End WorkerConnection::await_end(ReplyReader& reader, bool is_run) {
  Frame frame = is_run ? pump_tokens(reader) : socket_.receive();
  while (true) {
    if (auto end = reader.take(frame)) return *std::move(end);
    last_sign_ = Clock::now();  // after what may have waited for a slow reader
    frame = socket_.receive();
  }
}

Frame WorkerConnection::pump_tokens(ReplyReader& reader) {
  std::shared_ptr<TokenPump> pump;
  try {
    pump = std::make_shared<TokenPump>(loop_, socket_, reader);
  } catch (const std::system_error&) {
    return socket_.receive();  // too many files are open: this thread takes the tokens, too
  }
  pump->start();
  std::uint64_t signs = 0;
  return pump->await(kLookDuringRun, [&](std::uint64_t now) {
    if (std::exchange(signs, now) != now) last_sign_ = Clock::now();
    look();
  });
}

void WorkerConnection::look() {
  if (process_.ended()) throw PeerGone();  // a process that it has left behind may hold the socket
  const std::uint64_t lines = process_.log().line_count();
  if (std::exchange(lines_at_last_sign_, lines) != lines) last_sign_ = Clock::now();
  if (has_fault("a worker that hangs is waited for")) return;
  const auto patience = has_fault("a worker that is slow is taken for one that hangs") ? hang_ / 60 : hang_;
  if (Clock::now() - last_sign_ >= patience) throw Hanging();
}

bool WorkerConnection::stop(std::uint32_t run) { return socket_.try_send({.type = FrameType::kStop, .call = run}); }

void WorkerConnection::worker_gone(const std::string& suspicion) {
  auto end = process_.wait_for_end(kForItsEnd);
  if (!end) process_.kill();  // it does not speak as it should
  for (int looks = 0; !end && looks < kLooksForItsEnd; ++looks) end = process_.wait_for_end(kForItsEnd);
  if (!end) end = WorkerProcess::End{SIGKILL, 0};  // a driver still holds the process, which ends later
  const RpcError died = worker_died(*end, errors_before_end(process_.log(), logged_errors()));
  if (suspicion.empty()) throw RpcError(died);
  Json data = died.data();
  data["reason"] = data["reason"].get<std::string>() + ": " + suspicion;
  if (has_fault("the end of a worker is an error of nobody's")) throw std::runtime_error(suspicion);
  throw RpcError(died.code(), std::string(died.what()) + ": " + suspicion, std::move(data));
}

}  // namespace rkllm_mcp
