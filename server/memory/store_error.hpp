// What can be wrong with a store, as an exception. Who asks for something that cannot be gets an RpcError instead, and
// nothing has been changed then.
#pragma once

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <stdexcept>
#include <string>

namespace rkllm_mcp::memory {

class StoreError : public std::runtime_error {
 public:
  enum class Kind {
    kBusy,         // another program holds it; may go better later
    kNoSpace,      // the disk is full
    kUnavailable,  // it cannot be opened, read or written; the message says why and what to do
    kDamaged,      // as kUnavailable, and what is in it is not to be trusted
    kInterrupted,  // the transaction was not made, through no fault of its own: it may be tried again at once
    kUnknown,      // whether it was made: it must not be tried again
  };
  StoreError(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

// As clients are told.
inline RpcError as_client_sees(const StoreError& error) {
  const std::string text = std::string("memory store unavailable: ") + error.what();
  switch (error.kind()) {
    case StoreError::Kind::kBusy: return {ErrorCode::kQueueFull, text, Json{{"reason", "busy"}}};
    case StoreError::Kind::kNoSpace: return {ErrorCode::kQueueFull, text, Json{{"reason", "no space"}}};
    case StoreError::Kind::kUnavailable:
    case StoreError::Kind::kDamaged:
    case StoreError::Kind::kInterrupted:
    case StoreError::Kind::kUnknown: break;
  }
  return {ErrorCode::kRuntimeUnavailable, text, Json{{"reason", error.what()}, {"signal", nullptr}}};
}

inline RpcError no_such_conversation(const std::string& id) {
  return {ErrorCode::kResourceNotFound, "no conversation " + Json(shortened(id)).dump() + " exists",
          Json{{"conversation_id", shortened(id)}}};
}

}  // namespace rkllm_mcp::memory
