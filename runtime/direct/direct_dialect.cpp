#include "direct/direct_dialect.hpp"

#include "call/result_options.hpp"
#include "call/value_text.hpp"
#include "jsonrpc/envelope.hpp"
#include "run_loop.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <array>
#include <exception>
#include <optional>
#include <utility>

namespace rkllm_mcp {
namespace {

std::optional<bool> take_stream_option(const Method& method, Json& params) {
  if (!method.streams) return std::nullopt;
  const auto stream = take_member(params, "stream");
  if (!stream) return std::nullopt;
  if (!stream->is_boolean()) throw InvalidParams("params.stream", "expected true or false");
  return stream->get<bool>();
}

// The parameters of a poll.
struct PollParams {
  std::string stream_id;
  std::chrono::milliseconds wait{0};
  std::optional<std::uint64_t> from_seq;
};

std::uint64_t read_count(const Json& value, const std::string& path, std::uint64_t most) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
    throw InvalidParams(path, "expected an integer from 0 to " + std::to_string(most));
  }
  return value.get<std::uint64_t>();
}

constexpr std::array<std::string_view, 3> kPollParams{"stream_id", "wait_ms", "from_seq"};

// A run has no such parameters of its own; a client may have them all, and write null for those that it does not use.
void drop_absent_poll_params(Json& params) {
  for (const std::string_view name : kPollParams) {
    const auto found = params.find(std::string(name));
    if (found != params.end() && found->is_null()) params.erase(found);
  }
}

PollParams read_poll_params(const Json& params, std::chrono::milliseconds longest_wait) {
  PollParams poll;
  if (params.is_null()) return poll;
  if (!params.is_object()) throw InvalidParams("params", "expected an object");
  for (const auto& [name, value] : params.items()) {
    if (name == "_meta" || value.is_null()) continue;
    if (name == "stream_id") {
      if (!value.is_string()) throw InvalidParams("params.stream_id", "expected string");
      poll.stream_id = value.get<std::string>();
    } else if (name == "wait_ms") {
      poll.wait = std::chrono::milliseconds(
          read_count(value, "params.wait_ms", static_cast<std::uint64_t>(longest_wait.count())));
    } else if (name == "from_seq") {
      poll.from_seq = read_count(value, "params.from_seq", std::uint64_t{1} << 53U);
    } else {
      throw InvalidParams("params." + shortened(name), "unknown field" + did_you_mean(name, kPollParams));
    }
  }
  return poll;
}

// The whole answer, with its values. An error, if they are too many or there is no memory for them.
WrittenAnswer write_result(const Method& method, const RequestId& id, Collected& collected, const ValueWriting& how) {
  try {
    return write_answer(collected.outcome, how, [&] {
      return result_message(id, method.streams ? answer_of(collected) : collected.outcome.result);
    });
  } catch (...) {
    return {error_message(id, as_rpc_error(std::current_exception()))};
  }
}

}  // namespace

Json named_params(const Method& method, Json params) {
  if (params.is_null()) return Json::object();
  if (params.is_object()) return params;
  if (params.is_binary()) throw InvalidParams("params", "expected fewer values");  // they are unread
  if (params.size() > method.params.size()) {
    throw InvalidParams("params", "expected at most " + std::to_string(method.params.size()) +
                                      " values, in the order of " + std::string(method.declaration));
  }
  Json named = Json::object();
  for (std::size_t at = 0; at < params.size(); ++at) {
    if (!params[at].is_null()) named[std::string(method.params[at])] = std::move(params[at]);
  }
  return named;
}

void DirectDialect::call(const Method& method, Json params, Session& session, Reply& reply, Delivery delivery) {
  permit(session, permission_for(method));
  Json named = named_params(method, std::move(params));
  named.erase("_meta");
  if (method.streams) drop_absent_poll_params(named);
  if (method.streams && named.size() == 1 && named.contains("stream_id")) return poll(named, session, reply);

  const std::optional<bool> stream = take_stream_option(method, named);
  const bool streams = method.streams && stream.value_or(method.streams_by_default) && !reply.muted();
  Caller::Target target{&method, {}, take_result_options(method, named)};
  target.params = std::move(named);
  check_quota(session, reply.peer(), caller_.limits().requests_per_session, caller_.limits().counts);
  if (!reply.muted()) Caller::require_new_id(session, reply, streams);

  if (streams && delivery == Delivery::kPoll) return caller_.offer(session, reply, std::move(target));
  if (streams) {
    const auto chunks = stream == true ? Caller::Chunks::kNotifications : Caller::Chunks::kReplies;
    return caller_.push(session, reply, std::move(target), chunks);
  }
  auto done = [this, &method, weak = session.weak_from_this(), kept = reply.shared_from_this(),
               how = caller_.writing_of(target.options)](Collected collected) {
    if (collected.outcome.error) return kept->error(as_rpc_error(collected.outcome.error));
    if (bytes_of_rows(collected.outcome) <= kWrittenAtOnceBytes) {
      return kept->last(write_result(method, kept->id(), collected, how).text);
    }
    const auto alive = weak.lock();
    answer_aside(method, std::move(collected), *kept, how, alive ? Session::Hold(*alive) : Session::Hold());
  };
  caller_.collect(session, reply, std::move(target), std::move(done));
}

void DirectDialect::answer_aside(const Method& method, Collected collected, Reply& reply, const ValueWriting& how,
                                 Session::Hold held) {
  struct Answer {
    Collected collected;
    WrittenAnswer message;
  };
  // Both steps hold it: one makes the message, the other sends it.
  const auto answer = std::make_shared<Answer>(Answer{std::move(collected), {}});
  caller_.writing().run(
      [answer, &method, id = reply.id(), how] {
        answer->message = write_result(method, id, answer->collected, how);
        answer->collected = {};
      },
      [answer, kept = reply.shared_from_this(), held = std::move(held)] {
        or_else([&] { kept->last(std::move(answer->message.text)); }, [&] { kept->error(no_memory()); });
      });
}

void DirectDialect::poll(const Json& params, Session& session, Reply& reply) {
  const PollParams poll = read_poll_params(params, caller_.limits().poll_wait_max);
  const ActiveCall* call = poll.stream_id.empty() ? session.find_stream(reply.id(), reply.peer())
                                                  : session.find_stream_by_stream_id(poll.stream_id);
  if (call != nullptr && call->pushed != nullptr) {
    const std::uint64_t from_seq = poll.from_seq.value_or(call->pushed->last_seq());
    if (!call->pushed->send_again(from_seq)) throw chunks_not_found(from_seq, call->pushed->first_retained());
    return reply.nothing();
  }
  const auto elsewhere = call == nullptr ? caller_.registry().find(poll.stream_id).lock() : nullptr;
  PollReader* const polled = call != nullptr ? call->polled : elsewhere.get();
  if (polled == nullptr) throw stream_not_found();
  reply.on_finished([held = Session::Hold(session)] {});
  polled->poll(reply, poll.wait);
}

}  // namespace rkllm_mcp
