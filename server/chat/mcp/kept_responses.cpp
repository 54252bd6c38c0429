#include "chat/mcp/kept_responses.hpp"

#include "jsonrpc/bounded_json.hpp"
#include "jsonrpc/envelope.hpp"
#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/errors.hpp>

#include <exception>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

Principal keeper_for(const std::string& asker) {
  return {.name = std::string(KeptResponses::kSpaces) + asker, .may_call = true, .may_admin = false};
}

TurnError not_kept(const std::string& id) {
  return {ErrorKind::kNotKept, "response '" + shortened(id) +
                                   "' is not kept here: send the whole conversation as input, and \"store\": true "
                                   "with what is to be gone on from"};
}

TurnError failure_of(const std::string& id, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const RpcError& known) {
    const bool is_unknown = known.code() == ErrorCode::kResourceNotFound || known.code() == ErrorCode::kInvalidParams;
    return is_unknown ? not_kept(id) : TurnError(ErrorKind::kInternal, known.what());
  } catch (const std::exception& other) {
    return {ErrorKind::kInternal, other.what()};
  }
}

// What memory/get_all_messages tells of a conversation of one message, which is the items.
ResponseStore::Recalled items_in(const Json& conversation, const std::string& id) {
  const Json& messages = conversation.at("messages");
  if (messages.empty()) throw not_kept(id);
  const auto text = messages.front().at("content").get<std::string>();
  auto items = parse_bounded(text, kDeepestJson, kMostValuesReadOnLoop);
  if (!items) {
    throw TurnError::bad_field("previous_response_id",
                               "this conversation has become too long to be gone on from; begin another one");
  }
  return {.items = *std::move(items), .bytes = text.size()};
}

}  // namespace

KeptResponses::KeptResponses(asio::io_context& loop, const mcp::Service* memory)
    : memory_(loop, memory), reading_(loop) {}

void KeptResponses::recall(const std::string& id, const std::string& asker, RecalledFunction done) {
  const auto read = [this, id, done = std::move(done)](Json result, const std::exception_ptr& error) {
    const auto recalled = std::make_shared<Recalled>();  // one step fills it in, the other takes it
    if (error) recalled->error = failure_of(id, error);
    reading_.run(
        [recalled, id, result = std::move(result)] {
          if (recalled->error) return;
          try {
            *recalled = items_in(read_whole(result), id);
          } catch (const TurnError& gone) {
            recalled->error = gone;
          } catch (const std::exception& broken) {
            recalled->error = TurnError(ErrorKind::kInternal, broken.what());
          }
        },
        [recalled, done] { done(std::move(*recalled)); });
  };
  memory_.all_messages(id, keeper_for(asker), read);
}

void KeptResponses::keep(const std::string& id, const std::string& asker, Json items, KeptFunction done) {
  const auto text = std::make_shared<std::string>();  // one step fills it in, the other takes it
  reading_.run([text, items = std::move(items)] { *text = items.dump(-1, ' ', false, Json::error_handler_t::replace); },
               [this, text, id, asker, done = std::move(done)] { keep_text(id, asker, std::move(*text), done); });
}

void KeptResponses::keep_text(const std::string& id, const std::string& asker, std::string text,
                              const KeptFunction& done) {
  if (text.size() > kMostBytes) {
    return done(TurnError(ErrorKind::kTooLarge, "the conversation has " + std::to_string(text.size()) +
                                                    " bytes, more than are kept (" + std::to_string(kMostBytes) + ")"));
  }
  const auto told = [done](const std::exception_ptr& error) {
    done(error ? std::optional(TurnError(ErrorKind::kInternal, as_rpc_error(error).what())) : std::nullopt);
  };
  memory_.add_message(id, keeper_for(asker), "assistant", std::move(text), nullptr, told);
}

}  // namespace rkllm_mcp::chat
