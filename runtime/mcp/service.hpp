// A service: a server of its own behind the same transports. It is a name, methods, tools and documents, and `/servers`
// shows it with what it has of them.
//
// In the direct dialect all of it is reached as SERVICE/METHOD: its own methods ("memory-server/memory/add_message"),
// and tools/list, tools/call, resources/list, resources/read and prompts/list of what it offers
// (dispatch/service_calls.hpp). In the Model Context Protocol its tools, documents and prompts are among those of the
// whole server, and each of its methods is a tool, too ("memory_add_message").
//
// Event loop only, but for answer_in().
#pragma once

#include "auth/access_tokens.hpp"
#include "immutable.hpp"
#include "mcp/catalogue.hpp"

#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/method.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace rkllm_mcp::mcp {

// Called once, on the event loop: with the result, or with what went wrong (then the result does not count).
using DoneFunction = std::function<void(Json result, std::exception_ptr error)>;

// What an answer is for, which decides how it looks.
enum class AnswerForm { kDirect, kTool };

// One call of a service's method.
struct MethodCall {
  Json params;  // an object; or unread, or with unread parts (jsonrpc/unread.hpp): read_whole() them beside the loop
  const Principal* principal = nullptr;  // who asks; never null, and outlives the server's last call
  AnswerForm form = AnswerForm::kDirect;
};

// Makes the answer for a method's `done` out of its result, an object. Long members become text, so that the event loop
// need not walk over them. (kDirect is right for documents, too.) Pure, any thread: who works beside the loop calls it
// beside the loop.
Json answer_in(AnswerForm form, const Json& result);

struct ServiceMethod {
  std::string name;  // "memory/add_message"
  std::string title, description;
  Json params_schema;  // JSON Schema of the parameters; its root is an object
  Json result_schema;  // JSON Schema of the result; its root is an object
  ToolAnnotations annotations{};
  Permission permission = Permission::kCall;
  // Begins one call. Throws RpcError, or calls `done` later or at once with what answer_in() made.
  std::function<void(MethodCall call, DoneFunction done)> run{};
};

// So many entries of a list are sent at once.
inline constexpr std::size_t kPageItems = 50;

// Which entries of a list are wanted.
struct ListRequest {
  std::string cursor{};  // the last page's `nextCursor`; empty: from the beginning
  std::size_t items = kPageItems;
  std::size_t bytes = static_cast<std::size_t>(-1);  // of their JSON text, roughly; at least one entry is listed
};

// Documents that are too many, or come and go too fast, to be in the catalogue one by one. Null functions: there are
// none.
struct Documents {
  // {"resources":[...],"nextCursor"?}: those that the principal may read.
  std::function<void(const Principal& principal, ListRequest request, DoneFunction done)> list{};
  // {"contents":[...]}; error kResourceNotFound if there is no such document, or it is not for the principal.
  std::function<void(const Principal& principal, const std::string& uri, DoneFunction done)> read{};
  std::string scheme{};  // "memory://": what all addresses begin with
  // For resources/templates/list; their `read` is never called.
  std::vector<ResourceTemplate> templates{};
};

struct Service {
  std::string name;          // "memory-server"
  std::string instructions;  // what a model should know of it; empty: nothing
  std::vector<ServiceMethod> methods;
  std::vector<Immutable<Tool>> tools;  // its own, beside those that the methods become
  std::vector<Immutable<Prompt>> prompts{};
  Documents documents;
};

// Offers the service in the protocol and in the direct dialect.
void add_service(Catalogue& catalogue, const Immutable<Service>& service);

// "memory_add_message" of "memory/add_message".
std::string tool_name_of(const ServiceMethod& method);

}  // namespace rkllm_mcp::mcp
