#include "call/caller.hpp"

#include "auth/access_tokens.hpp"
#include "call/push_reader.hpp"
#include "clock.hpp"
#include "faults.hpp"
#include "jsonrpc/envelope.hpp"
#include "limit.hpp"
#include "random_bytes.hpp"

#include <utility>

namespace rkllm_mcp {
namespace {

// If a polled run fails within this time, the request that started it gets the error, and not the first poll.
constexpr std::chrono::milliseconds kAnnouncePatience{20};

}  // namespace

RequestSource source_of_request(const RequestId& id, const Peer& peer) {
  return {id, name_of(peer.facts().transport), peer.facts().address};
}

Permission permission_for(const Method& method) {
  const bool is_admin = method.handle == HandleRole::kCreates || method.handle == HandleRole::kDestroys;
  return is_admin ? Permission::kAdmin : Permission::kCall;
}

void Caller::require_new_id(const Session& session, const Reply& reply, bool is_stream) {
  const RequestId& id = reply.id();
  if (session.shared() ? is_stream && session.find_stream(id, reply.peer()) != nullptr : session.is_active(id)) {
    throw RpcError(ErrorCode::kInvalidRequest, "invalid request: a request with id " + shortened(id) +
                                                   " is still streaming or being executed in this session");
  }
}

TokenStream::Options Caller::stream_options(const ResultOptions& options, TokenStream::WhenFull when_full) const {
  return {.buffer_bytes = limits_.stream_buffer_bytes,
          .values_bytes = limits_.stream_values_bytes,
          .stall = limits_.stall,
          .when_full = when_full,
          .tell_position = options.queue_position,
          .keep_tokens = options.keep_tokens,
          .memory = limits_.stream_memory,
          .counts = limits_.counts};
}

ValueWriting Caller::writing_of(const ResultOptions& options) const {
  return {options.encoding, limits_.reply_bytes, limits_.memory, limits_.counts};
}

Session::Key Caller::start(Session& session, Reply& reply, ActiveCall call, Target target) {
  reply.mark_as_call();
  const auto reader = call.reader;
  const auto key = session.add(std::move(call), reply.peer());
  const bool may_wait = !target.method->immediate && limits_.queue_timeout.count() > 0 &&
                        !has_fault("a call that has waited too long is waited for");
  auto source = source_of_request(reply.muted() ? RequestId() : reply.id(), reply.peer());
  if (session.principal != nullptr) source.holder = session.principal->name;
  try {
    const auto id = backend_.start({.method = target.method,
                                    .params = std::move(target.params),
                                    .encoding = target.options.encoding,
                                    .source = std::move(source),
                                    .memory = reply.memory(),
                                    .observer = reader->stream()});
    session.started(key, id, may_wait ? limit_waiting(id) : nullptr);
  } catch (...) {
    session.remove(key);  // or its id would be in use for ever
    throw;
  }
  return key;
}

std::unique_ptr<Timer> Caller::limit_waiting(Backend::CallId id) {
  auto timer = std::make_unique<Timer>(loop_, limits_.queue_timeout);
  timer->async_wait([this, id](const asio::error_code& error) {
    if (error) return;
    const auto seconds = limits_.queue_timeout.count();
    backend_.give_up(id, RpcError(ErrorCode::kQueueFull,
                                  "the call has waited " + std::to_string(seconds) + " s for its handle (" +
                                      std::string(name_of(Limit::kQueueTime)) + "); nothing of it was executed",
                                  Json{{"timeout_s", seconds}}));
  });
  return timer;
}

Session::Key Caller::collect(Session& session, Reply& reply, Target target, CollectReader::DoneFunction done,
                             CollectReader::ProgressFunction progress, CancelRule rule) {
  const CollectReader::Options options{limits_.answer_bytes, limits_.stream_memory, limits_.counts};
  target.options.queue_position = progress != nullptr;
  const auto reader =
      StreamReader::make<CollectReader>(loop_, stream_options(target.options, TokenStream::WhenFull::kWait), options,
                                        std::move(done), std::move(progress));
  const auto key = start(session, reply,
                         {.id = reply.id(),
                          .reader = reader,
                          .reply = reply.shared_from_this(),
                          .answers_when_cancelled = rule.answers,
                          .outlives_exchange = rule.outlives_exchange},
                         std::move(target));
  // The session is held weakly: the reader, which the RequestTable owns, must not keep it alive.
  reader->on_finished([weak = session.weak_from_this(), key] {
    if (const auto alive = weak.lock()) alive->remove(key);
  });
  return key;
}

void Caller::push(Session& session, Reply& reply, Target target, Chunks chunks) {
  const std::string stream_id = chunks == Chunks::kNotifications ? new_id() : std::string();
  const auto name = target.method->name;
  auto writer =
      stream_id.empty() ? ChunkWriter::replies(reply.id(), name) : ChunkWriter::notifications(name, stream_id);
  const std::size_t retained = reply.peer().facts().transport == TransportKind::kUdp ? limits_.retained_chunks : 0;
  const auto reader = StreamReader::make<PushReader>(
      loop_, stream_options(target.options, TokenStream::WhenFull::kWait), reply, std::move(writer),
      PushReader::Options{writing_of(target.options), &writing_, retained, limits_.stream_memory});
  if (!stream_id.empty()) reader->announce(result_message(reply.id(), Json{{"stream_id", stream_id}}));
  const auto key = start(session, reply,
                         {.id = reply.id(),
                          .stream_id = stream_id,
                          .reader = reader,
                          .pushed = retained > 0 ? reader.get() : nullptr,
                          .reply = reply.shared_from_this()},
                         std::move(target));
  reader->on_finished([this, weak = session.weak_from_this(), key, retained, pushing = pushing_] {
    const auto alive = weak.lock();
    if (!alive) return;
    if (retained == 0) return alive->remove(key);
    alive->retain(key);
    call_after(loop_, limits_.retained_for, [weak, key] {
      if (const auto still_alive = weak.lock()) still_alive->remove(key);
    });
  });
}

void Caller::offer(Session& session, Reply& reply, Target target) {
  const std::string stream_id = new_id();
  const auto name = target.method->name;
  const auto key = std::make_shared<Session::Key>(0);
  const auto reader =
      StreamReader::make<PollReader>(loop_, stream_options(target.options, TokenStream::WhenFull::kStop), loop_,
                                     ChunkWriter::replies(reply.id(), name),
                                     PollReader::Options{writing_of(target.options), &writing_, limits_.poll_timeout},
                                     [weak = session.weak_from_this(), key, counts = limits_.counts] {
                                       count(counts, Limit::kPollTimeout);
                                       if (const auto alive = weak.lock()) alive->cancel(*key);
                                     });
  reader->on_finished([this, weak = session.weak_from_this(), key, stream_id] {
    registry_.remove(stream_id);
    if (const auto alive = weak.lock()) alive->remove(*key);
  });
  registry_.add(stream_id, reader);
  const auto timeout = std::chrono::duration_cast<std::chrono::seconds>(limits_.poll_timeout).count();
  reader->announce(reply, result_message(reply.id(), name, Json{{"stream_id", stream_id}, {"poll_timeout_s", timeout}}),
                   kAnnouncePatience);
  ActiveCall call{.id = reply.id(), .stream_id = stream_id, .reader = reader, .polled = reader.get()};
  try {
    *key = start(session, reply, std::move(call), std::move(target));
  } catch (...) {
    registry_.remove(stream_id);
    throw;
  }
}

}  // namespace rkllm_mcp
