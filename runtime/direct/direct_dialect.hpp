// The direct dialect: the C name is the method, `params` are the C parameters, and a result callback becomes chunks.
// Event loop only.
#pragma once

#include "call/caller.hpp"
#include "call/session.hpp"
#include "call/value_text.hpp"
#include "jsonrpc/reply.hpp"

namespace rkllm_mcp {

// How the chunks of a stream reach their client: what carries the request decides.
enum class Delivery {
  kPush,  // chunks are sent as they come
  kPoll,  // plain HTTP: the client asks for them
};

class DirectDialect {
 public:
  explicit DirectDialect(Caller& caller) : caller_(caller) {}

  // Executes `method`. Throws RpcError if the call cannot even be started.
  void call(const Method& method, Json params, Session& session, Reply& reply, Delivery delivery);
  // {"method":"poll"}: the next part of a stream.
  void poll(const Json& params, Session& session, Reply& reply);

 private:
  // An answer that takes long to write. `held` lives until it has been sent.
  void answer_aside(const Method& method, Collected collected, Reply& reply, const ValueWriting& how,
                    Session::Hold held);

  Caller& caller_;
};

// `params` keyed by name: an array in C order becomes an object, absent becomes empty. Throws InvalidParams.
Json named_params(const Method& method, Json params);

}  // namespace rkllm_mcp
