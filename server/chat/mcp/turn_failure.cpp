#include "chat/mcp/turn_failure.hpp"

#include "chat/turn/model_text.hpp"
#include "model_name.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <string_view>

namespace rkllm_mcp::chat {
namespace {

const std::string kModelPath = "params.arguments.model";

std::vector<std::string> names_of(const std::vector<ModelDescription>& models) {
  std::vector<std::string> names;
  for (const ModelDescription& model : models) names.push_back(model.name);
  return names;
}

RpcError of_runtime(const TurnError& error) {
  return {ErrorCode::kCallFailed, error.what(), Json{{"function", nullptr}, {"status", nullptr}}};
}

RpcError of_arguments(const TurnError& error) {
  // The turn's field "messages" comes from the tool's argument "message".
  const std::string field = error.field() == "messages" ? "message" : error.field();
  Json data{{"path", field.empty() ? "params.arguments" : "params.arguments." + field}};
  if (error.kind() == ErrorKind::kContext) {
    data = {{"path", "params.arguments.message"},
            {"prompt_tokens", or_null(error.prompt_tokens())},
            {"context_tokens", or_null(error.context_tokens())}};
  }
  return {ErrorCode::kInvalidParams, error.what(), std::move(data)};
}

}  // namespace

RpcError rpc_error_of(const TurnError& error) {
  switch (error.kind()) {
    case ErrorKind::kUnknownModel:
    case ErrorKind::kNotKept:
    case ErrorKind::kContext:
    case ErrorKind::kBadField: return of_arguments(error);
    case ErrorKind::kNotSupported: return error.field().empty() ? of_runtime(error) : of_arguments(error);
    case ErrorKind::kTooLarge: return {ErrorCode::kTooLarge, error.what()};
    case ErrorKind::kQueueFull:
    case ErrorKind::kNoRoom:
      return {ErrorCode::kQueueFull, error.what(), Json{{"retry_after_s", or_null(error.retry_after_s())}}};
    case ErrorKind::kUnauthorized:
    case ErrorKind::kForbidden: return unauthorized(error.what());
    case ErrorKind::kUpstream: return {ErrorCode::kToolFailed, error.what()};
    case ErrorKind::kInvalidAnswer:
    case ErrorKind::kRuntimeFailed: return of_runtime(error);
    case ErrorKind::kInternal: break;
  }
  return {ErrorCode::kInternalError, error.what()};
}

RpcError no_such_model(const std::string& name, const std::vector<ModelDescription>& models) {
  std::vector<std::string> names = names_of(models);
  std::vector<std::string> known = names;
  for (const ModelDescription& model : models) known.insert(known.end(), model.aliases.begin(), model.aliases.end());
  std::string text = kModelPath + ": no model " + Json(shortened(name)).dump() + " exists" + did_you_mean(name, known);
  text += is_model_path(name) ? "; a file is loaded by its path with rkllm_init"
          : names.empty()     ? "; there is none yet: put a file into one of runtime.model_dirs"
                              : "; list_models has all of them: " + named_in_message(names);
  return {ErrorCode::kInvalidParams, text, Json{{"path", kModelPath}, {"models", std::move(names)}}};
}

RpcError which_model(const std::vector<ModelDescription>& models) {
  std::vector<std::string> names = names_of(models);
  const std::string text = names.empty() ? "there is no model yet: put a file into one of runtime.model_dirs, or load "
                                           "one with rkllm_init"
                                         : "missing, and there is more than one: " + named_in_message(names);
  return {ErrorCode::kInvalidParams, kModelPath + ": " + text,
          Json{{"path", kModelPath}, {"models", std::move(names)}}};
}

}  // namespace rkllm_mcp::chat
