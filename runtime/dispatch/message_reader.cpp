#include "dispatch/message_reader.hpp"

#include "auth/owner.hpp"
#include "faults.hpp"
#include "jsonrpc/envelope.hpp"
#include "limit.hpp"

#include <rkllm_mcp/errors.hpp>

#include <exception>
#include <memory>
#include <new>
#include <utility>
#include <variant>

namespace rkllm_mcp {

void attach_share(Message& message, const std::optional<Immutable<MemoryShare>>& room) {
  if (auto* request = std::get_if<Request>(&message)) request->memory = room;
  if (auto* notification = std::get_if<Notification>(&message)) notification->memory = room;
  if (auto* batch = std::get_if<Batch>(&message)) batch->memory = room;
}

std::optional<Immutable<MemoryShare>> MessageReader::room_for(std::size_t bytes) const {
  // A short message is read whole, and takes some eight bytes for each byte of its text; a long one stays text.
  constexpr std::size_t kValueBytes = 8;
  constexpr std::size_t kOfEach = 2 * 1024;  // bytes that each message may take, also when the budget is used up
  MemoryShare share(options_.memory, kOfEach);
  if (has_fault("a short message counts as a long one")) bytes = kReadAtOnceBytes;
  if (share.grow(bytes <= kReadAtOnceBytes ? kValueBytes * bytes : bytes)) return Immutable(std::move(share));
  count(options_.counts, Limit::kMemory);
  return std::nullopt;
}

Message MessageReader::parse(std::string_view text, NullIds null_ids) const {
  const auto room = room_for(text.size());
  if (!room) return Malformed{id_of_beginning(text, options_.limits), no_memory()};
  MessageLimits limits = options_.limits;
  limits.null_ids = null_ids;
  Message message = parse_message(text, limits);
  if (has_fault("each message is remembered for ever")) static_cast<void>(new std::string(text));
  attach_share(message, room);
  return message;
}

void MessageReader::read(std::string text, const Sender& sender, ReadFunction then, NullIds null_ids) {
  if (text.size() <= kReadAtOnceBytes) return then(parse(text, null_ids));
  const auto room = queue_.start() ? room_for(text.size()) : std::nullopt;
  if (!room) return then(Malformed{id_of_beginning(text, options_.limits), no_memory()});
  // Both steps hold it: one fills it in, the other takes it.
  const auto message = std::make_shared<Message>(Malformed{id_of_beginning(text, options_.limits), no_memory()});
  MessageLimits limits = options_.limits;
  limits.null_ids = null_ids;
  const std::size_t bytes = text.size();
  auto work = [message, room, text = std::move(text), limits] {
    try {
      *message = parse_message(text, limits);
      attach_share(*message, room);
    } catch (const std::bad_alloc&) {
      // The message stays the out-of-memory error that it was made as.
    } catch (...) {
      *message = Malformed{RequestId(kNullId), as_rpc_error(std::current_exception())};
    }
  };
  queue_.add({source_of(sender.address), bytes, sender.is_there, std::move(work),
              [message, is_there = sender.is_there, then = std::move(then)] {
                if (is_there()) then(*message);
              }});
}

}  // namespace rkllm_mcp
