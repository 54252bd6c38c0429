#include "jsonrpc/envelope.hpp"

#include "jsonrpc/unread.hpp"
#include "memory_budget.hpp"
#include "text/json_text.hpp"

#include <new>
#include <utility>

namespace rkllm_mcp {
namespace {

std::string opening(const RequestId& id) { return R"({"jsonrpc":"2.0","id":)" + id; }

// `message`, up to a member's colon, with the member's value and the end.
std::string ended_with(std::string message, const Json& value) {
  append_text(message, value, 1);
  message += '}';
  return message;
}

}  // namespace

std::string result_message(const RequestId& id, const Json& result) {
  return ended_with(opening(id) + R"(,"result":)", result);
}

std::string result_message(const RequestId& id, std::string_view method, const Json& result) {
  std::string message = opening(id) + R"(,"method":)";
  append_quoted(message, method);
  return ended_with(std::move(message) + R"(,"result":)", result);
}

Json error_object(const RpcError& error) {
  Json body{{"code", static_cast<int>(error.code())}, {"message", error.what()}};
  if (!error.data().is_null()) body["data"] = error.data();
  return body;
}

std::string error_message(const RequestId& id, const RpcError& error) {
  return ended_with(opening(id) + R"(,"error":)", error_object(error));
}

std::string notification_message(std::string_view method, const Json& params) {
  std::string message = R"({"jsonrpc":"2.0","method":)";
  append_quoted(message, method);
  if (!params.is_null()) return ended_with(std::move(message) + R"(,"params":)", params);
  return message + "}";
}

std::string request_message(const RequestId& id, std::string_view method, const Json& params) {
  std::string message = opening(id) + R"(,"method":)";
  append_quoted(message, method);
  return ended_with(std::move(message) + R"(,"params":)", params);
}

RpcError as_rpc_error(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const RpcError& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return no_memory();
  } catch (const std::exception& error) {
    return {ErrorCode::kInternalError, std::string("internal error: ") + error.what()};
  } catch (...) {
    return {ErrorCode::kInternalError, "internal error"};
  }
}

}  // namespace rkllm_mcp
