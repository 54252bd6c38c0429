#include "chat/mcp/memory_client.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp::chat {

MemoryClient::MemoryClient(asio::io_context& loop, const mcp::Service* memory) : loop_(loop), memory_(memory) {}

const mcp::ServiceMethod& MemoryClient::method(const char* name) const {
  const auto found = std::ranges::find(memory_->methods, name, &mcp::ServiceMethod::name);
  if (found == memory_->methods.end()) throw std::logic_error(std::string("the memory server lacks ") + name);
  return *found;
}

void MemoryClient::all_messages(const std::string& id, const Principal& who, mcp::DoneFunction done) {
  const auto asking = std::make_shared<const Principal>(who);  // until it is answered
  const auto told = [done = std::move(done), asking, alive = alive_.watch()](Json result,
                                                                             const std::exception_ptr& error) {
    if (!alive.expired()) done(std::move(result), error);
  };
  try {
    method("memory/get_all_messages")
        .run({Json{{"conversation_id", id}}, asking.get(), mcp::AnswerForm::kDirect}, told);
  } catch (...) {
    asio::post(loop_, [told, error = std::current_exception()] { told(nullptr, error); });
  }
}

void MemoryClient::add_message(const std::string& id, const Principal& who, const char* role, std::string text,
                               const Json& metadata, AddedFunction done) {
  const auto asking = std::make_shared<const Principal>(who);
  const auto told = [done = std::move(done), asking, alive = alive_.watch()](const Json&,
                                                                             const std::exception_ptr& error) {
    if (!alive.expired()) done(error);
  };
  Json params{{"conversation_id", id}, {"role", role}, {"content", std::move(text)}};
  if (!metadata.is_null()) params["metadata"] = metadata;
  try {
    method("memory/add_message").run({std::move(params), asking.get(), mcp::AnswerForm::kDirect}, told);
  } catch (...) {
    told(nullptr, std::current_exception());
  }
}

}  // namespace rkllm_mcp::chat
