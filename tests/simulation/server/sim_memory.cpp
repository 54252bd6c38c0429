#include "sim_memory.hpp"

#include "lifetime.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

struct MemoryCall final : chat::HostCall {
  using HostCall::HostCall;
  const Lifetime awaited;
};

}  // namespace

std::unique_ptr<chat::HostCall> SimMemory::call(const std::string& method, const Json& params, const Principal& /*who*/,
                                                mcp::DoneFunction done) {
  auto call = std::make_unique<MemoryCall>(std::move(done));
  const auto id = params.at("conversation_id").get<std::string>();
  world_.may_happen("memory-server answers " + method + " of " + id,
                    [this, method, params, id, end = call->end(), awaited = call->awaited.watch()] {
                      Conversation& conversation = conversations_[id];
                      const bool is_awaited = !awaited.expired();
                      if (!is_awaited) ++conversation.failures;
                      // What nobody waits for any more may have got there all the same.
                      if (!is_awaited && world_.choices().choose(2) == 0) return;
                      if (world_.choices().happens(25)) {
                        World::saw("a memory server failed");
                        ++conversation.failures;
                        const RpcError error(ErrorCode::kInternalError, "the store is out of order");
                        return end(nullptr, std::make_exception_ptr(error));
                      }
                      end(answer(method, params, conversation), nullptr);
                    });
  return call;
}

Json SimMemory::answer(const std::string& method, const Json& params, Conversation& conversation) {
  if (method == "memory/get_or_create") return {{"conversation_id", params["conversation_id"]}};
  if (method == "memory/get_summary") return {{"summary", conversation.summary}};
  if (method == "memory/set_summary") {
    conversation.summary = params.at("summary").get<std::string>();
  } else if (method == "memory/add_message") {
    const bool is_partial = params.value("metadata", Json::object()).value("partial", false);
    conversation.said.push_back(
        {params.at("role").get<std::string>(), params.at("content").get<std::string>(), is_partial});
  } else if (method == "memory/get_context") {
    Json messages = Json::array();
    const auto most = params.at("max_messages").get<std::size_t>();
    const std::size_t count = conversation.said.size();
    for (std::size_t i = count - std::min(count, most); i < count; ++i) {
      messages.push_back({{"role", conversation.said[i].role}, {"content", conversation.said[i].content}});
    }
    return {{"messages", std::move(messages)}};
  } else {
    throw RpcError(ErrorCode::kMethodNotFound, method);
  }
  return Json::object();
}

}  // namespace rkllm_mcp::simulation
