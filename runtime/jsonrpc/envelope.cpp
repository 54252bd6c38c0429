#include "jsonrpc/envelope.hpp"

#include "jsonrpc/unread.hpp"
#include "text/json_text.hpp"

namespace rkllm_mcp {
namespace {

std::string opening(const RequestId& id) { return R"({"jsonrpc":"2.0","id":)" + id; }

}  // namespace

std::string to_text(const Json& value) {
  return has_unread(value) ? text_with_unread(value) : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string result_message(const RequestId& id, const Json& result) {
  return opening(id) + R"(,"result":)" + to_text(result) + "}";
}

std::string result_message(const RequestId& id, std::string_view method, const Json& result) {
  std::string message = opening(id) + R"(,"method":)";
  append_quoted(message, method);
  return message + R"(,"result":)" + to_text(result) + "}";
}

Json error_object(const RpcError& error) {
  Json body{{"code", static_cast<int>(error.code())}, {"message", error.what()}};
  if (!error.data().is_null()) body["data"] = error.data();
  return body;
}

std::string error_message(const RequestId& id, const RpcError& error) {
  return opening(id) + R"(,"error":)" + to_text(error_object(error)) + "}";
}

std::string notification_message(std::string_view method, const Json& params) {
  std::string message = R"({"jsonrpc":"2.0","method":)";
  append_quoted(message, method);
  if (!params.is_null()) message += R"(,"params":)" + to_text(params);
  return message + "}";
}

std::string request_message(const RequestId& id, std::string_view method, const Json& params) {
  std::string message = opening(id) + R"(,"method":)";
  append_quoted(message, method);
  return message + R"(,"params":)" + to_text(params) + "}";
}

}  // namespace rkllm_mcp
