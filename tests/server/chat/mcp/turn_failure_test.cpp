// What a client of the tools is told when a turn or a model is not to be had.
#include "chat/mcp/turn_failure.hpp"

#include "support/catch.hpp"

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

std::vector<ModelDescription> models(const std::vector<std::string>& names) {
  std::vector<ModelDescription> all;
  for (const std::string& name : names) {
    ModelDescription model;
    model.name = name;
    all.push_back(std::move(model));
  }
  return all;
}

}  // namespace

TEST_CASE("every kind of failure has the code and the data that calls have for it") {
  const RpcError field = rpc_error_of(TurnError::bad_field("model", "wrong"));
  CHECK(field.code() == ErrorCode::kInvalidParams);
  CHECK(field.data()["path"] == "params.arguments.model");
  const RpcError message = rpc_error_of(TurnError::not_supported("messages", "no history"));
  CHECK(message.data()["path"] == "params.arguments.message");
  CHECK(rpc_error_of(TurnError(ErrorKind::kNotSupported, "only one model")).code() == ErrorCode::kCallFailed);
  const RpcError context = rpc_error_of(TurnError::context_exceeded(std::nullopt, 4096));
  CHECK(context.code() == ErrorCode::kInvalidParams);
  CHECK(context.data()["prompt_tokens"].is_null());
  CHECK(context.data()["context_tokens"] == 4096);
  const RpcError full = rpc_error_of(TurnError::try_later(ErrorKind::kQueueFull, "full", 7));
  CHECK(full.code() == ErrorCode::kQueueFull);
  CHECK(full.data()["retry_after_s"] == 7);
  CHECK(rpc_error_of(TurnError(ErrorKind::kForbidden, "no")).code() == ErrorCode::kUnauthorized);
  CHECK(rpc_error_of(TurnError(ErrorKind::kRuntimeFailed, "died")).code() == ErrorCode::kCallFailed);
  CHECK(rpc_error_of(TurnError(ErrorKind::kInternal, "ours")).code() == ErrorCode::kInternalError);
}

TEST_CASE("a model that does not exist leads to those that do") {
  auto known = models({"qwen3", "gemma"});
  known[0].aliases = {"gpt-4o-mini"};
  const std::string near = no_such_model("gpt-4o-mni", known).what();
  CHECK(near.find("did you mean \"gpt-4o-mini\"?") != std::string::npos);
  CHECK(near.find("list_models has all of them: qwen3, gemma") != std::string::npos);
  CHECK(std::string(no_such_model("x", {}).what()).find("runtime.model_dirs") != std::string::npos);
  CHECK(std::string(no_such_model("/models/x.rkllm", known).what()).find("rkllm_init") != std::string::npos);
  CHECK(no_such_model("x", known).data()["models"] == Json{"qwen3", "gemma"});
  CHECK(std::string(which_model(known).what()).find("more than one: qwen3, gemma") != std::string::npos);
  CHECK(std::string(which_model({}).what()).find("no model yet") != std::string::npos);
}
