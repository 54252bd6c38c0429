#include "worker/worker_line.hpp"

#include "backend/logged_errors.hpp"
#include "client/bounded_json.hpp"
#include "jsonrpc/envelope.hpp"
#include "jsonrpc/unread.hpp"

#include <csignal>
#include <cstring>
#include <utility>

namespace rkllm_mcp {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kForItsEnd{1};
constexpr int kLooksForItsEnd = 5;

// The worker is looked at so often while nothing arrives: it may have printed something.
constexpr std::chrono::milliseconds kLook{250};

// What a worker may say of the end of a call, and the longest row of floats.
constexpr std::size_t kMostEndBytes = std::size_t{64} << 20U;
constexpr std::size_t kMostColumns = std::size_t{16} << 20U;

struct Hanging {};

std::string name_of_signal(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : "SIG" + std::string(name);
}

RpcError to_error(const Json& error) {
  return {static_cast<ErrorCode>(error.value("code", static_cast<int>(ErrorCode::kInternalError))),
          error.value("message", std::string("the worker gave no reason")), error.value("data", Json())};
}

// What a worker that cannot work says before it exits; empty if it has not.
std::string own_words(const std::vector<std::string>& last_errors) {
  constexpr std::string_view kWorker = "E worker: ";
  for (const std::string& line : last_errors) {
    if (line.starts_with(kWorker)) return line.substr(kWorker.size());
  }
  return {};
}

}  // namespace

RpcError worker_died(const WorkerProcess::End& end, std::vector<std::string> last_errors) {
  const std::string words = end.signal == 0 ? own_words(last_errors) : std::string();
  const std::string how = end.signal != 0 ? "was killed by " + name_of_signal(end.signal)
                                          : "has exited with code " + std::to_string(end.exit_code);
  const RpcError error = runtime_unavailable(words.empty() ? "the process that ran the model " + how : words);
  Json data = error.data();
  if (end.signal != 0) data["signal"] = name_of_signal(end.signal);
  data["log"] = std::move(last_errors);
  return {error.code(), error.what(), std::move(data)};
}

WorkerLine::WorkerLine(std::shared_ptr<WorkerProcess> process, Descriptor socket, std::chrono::milliseconds hang)
    : process_(std::move(process)), hang_(hang), socket_(std::move(socket)) {
  socket_.set_patience(kLook);
}

WorkerLine::End WorkerLine::call(const CallRequest& request, Run* run) {
  return exchange(request.method->name, request, run);
}

void WorkerLine::ping() { exchange({}, {nullptr, Json::object()}, nullptr); }

WorkerLine::End WorkerLine::exchange(std::string_view method, const CallRequest& request, Run* run) {
  log_lines_ = process_->log().lines();
  ++call_;
  try {
    send(method, request);
    End end = await_end(run);
    // What was printed before the call returned has arrived; those who hear it belong to the call, and end with it.
    give_on_log();
    return end;
  } catch (const PeerGone&) {
    worker_gone({});
  } catch (const BadFrame& error) {
    process_->kill();
    worker_gone(std::string("it did not speak as it should: ") + error.what());
  } catch (const Hanging&) {
    process_->kill();
    worker_gone("it gave no sign of life for " + std::to_string(hang_.count() / 1000) + " s");
  }
}

void WorkerLine::send(std::string_view method, const CallRequest& request) {
  std::string prefix(1, request.encoding == ArrayEncoding::kBase64 ? '\1' : '\0');
  prefix += static_cast<char>(method.size());
  prefix += method;
  FrameHead head{.type = FrameType::kCall, .call = call_};
  if (has_unread(request.params)) head.flags |= kHasUnread;
  socket_.send_text(head, prefix, to_text(request.params));
}

WorkerLine::End WorkerLine::await_end(Run* run) {
  FramedText end(kMostEndBytes);
  RowsReader rows(kMostColumns);
  bool stopped = false;
  while (true) {
    const Frame frame = receive();
    if (frame.head.call != call_) throw BadFrame("a frame of another call");
    if (frame.head.type == FrameType::kEnd) {
      if (end.add(frame)) return read_end(end.take());
      continue;
    }
    if (run == nullptr) throw BadFrame("tokens of a call that is no run");
    if (frame.head.type == FrameType::kTokens) {
      give_on(frame, *run);
    } else if (frame.head.type == FrameType::kRows) {
      rows.add(frame, [run](const FloatRows& whole) { run->observer.on_rows(whole); });
    } else {
      throw BadFrame("a frame that is for workers");
    }
    if (!stopped && run->observer.wants_to_stop()) {
      stopped = true;
      run->stop();
    }
  }
}

void WorkerLine::give_on(const Frame& tokens, Run& run) {
  std::string_view content = tokens.content;
  while (!content.empty()) {
    const TokenRecord token = take_token(content);
    if (token.batch >= run.entries) throw BadFrame("a token of an entry that the batch has not");
    run.observer.on_token(token.batch, token.text, token.id);
  }
}

Frame WorkerLine::receive() {
  auto last_sign = Clock::now();
  std::uint64_t lines = process_->log().lines();
  while (true) {
    if (const auto frame = socket_.receive()) return *frame;
    const std::uint64_t now = process_->log().lines();
    if (std::exchange(lines, now) != now) last_sign = Clock::now();
    if (Clock::now() - last_sign >= hang_) throw Hanging();
  }
}

WorkerLine::End WorkerLine::read_end(const std::string& text) {
  auto read = client::parse_bounded(text);
  if (!read || !read->is_object()) throw BadFrame("an end that is no JSON object");
  Json& json = *read;
  End end;
  try {
    end.loaded = json.value("loaded", false);
    const Json session = json.value("session", Json::object());
    for (const auto& [name, value] : session.items()) {
      end.session[name] = value.get<std::int64_t>();
    }
    end.outcome.state = json.value("state", std::string());
    end.outcome.aborted = json.value("aborted", false);
    end.outcome.values = json.value("values", Json());
    end.outcome.result = json.value("result", Json());
    const auto error = json.find("error");
    if (error == json.end()) return end;
    RpcError thrown = to_error(*error);
    if (thrown.code() == ErrorCode::kCallFailed) {
      give_on_log();
      if (auto errors = logged_errors(); !errors.empty()) thrown = with_log(thrown, std::move(errors));
    }
    end.outcome.error = std::make_exception_ptr(thrown);
  } catch (const Json::exception& error) {
    throw BadFrame(error.what());
  }
  return end;
}

void WorkerLine::stop(std::uint32_t call) {
  try {
    socket_.send({.type = FrameType::kStop, .call = call}, {});
  } catch (const PeerGone&) {
    // The worker has gone, and with it the run.
  }
}

void WorkerLine::worker_gone(const std::string& suspicion) {
  auto end = process_->wait_for_end(kForItsEnd);
  if (!end) process_->kill();  // it does not speak as it should
  for (int looks = 0; !end && looks < kLooksForItsEnd; ++looks) end = process_->wait_for_end(kForItsEnd);
  if (!end) end = WorkerProcess::End{SIGKILL, 0};  // a driver holds it; it goes when that lets it
  const RpcError died = worker_died(*end, logged_errors());
  if (suspicion.empty()) throw died;
  Json data = died.data();
  data["reason"] = data["reason"].get<std::string>() + ": " + suspicion;
  throw RpcError(died.code(), std::string(died.what()) + ": " + suspicion, std::move(data));
}

}  // namespace rkllm_mcp
