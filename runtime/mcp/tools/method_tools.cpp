#include "mcp/tools/method_tools.hpp"

#include "auth/owner.hpp"
#include "call/result_options.hpp"
#include "call/value_text.hpp"
#include "jsonrpc/envelope.hpp"
#include "jsonrpc/failure.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/tools/progress.hpp"
#include "mcp/tools/value_links.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::mcp {
namespace {

// What a run's result says to a model; of a run with many values it says where they are.
std::string text_of(const Json& structured, const Json& links) {
  std::string text = structured["text"].get<std::string>();
  for (const Json& link : links) {
    text += (text.empty() ? "" : "\n") + link["name"].get<std::string>() + ": " + link["uri"].get<std::string>() +
            " (" + link["description"].get<std::string>() + ")";
  }
  return text;
}

Json tool_result(Caller& caller, const Method& method, Collected collected, ArrayEncoding encoding,
                 const std::string& owner) {
  Json links = Json::array();
  if (bytes_of_rows(collected.outcome) * kTextPerByte >= caller.limits().inline_bytes) {
    links = link_rows(caller.values(), collected.outcome, owner);
  }
  write_rows(collected.outcome, {.encoding = encoding, .memory = caller.limits().memory});
  Json structured = method.streams ? answer_of(collected) : collected.outcome.result;
  const std::string text = method.streams ? text_of(structured, links) : to_text(structured);
  Json result = text_result(text);
  // Many hosts show a model nothing but the text.
  if (collected.outcome.aborted) {
    result["content"].push_back(text_block("The run was aborted: this is not its whole text."));
  }
  for (Json& link : links) result["content"].push_back(std::move(link));
  result["structuredContent"] = std::move(structured);
  return result;
}

ProgressMessage take_progress_message(Json& arguments) {
  const auto choice = take_member(arguments, "progress_message");
  if (!choice) return ProgressMessage::kStatus;
  if (*choice == "status") return ProgressMessage::kStatus;
  if (*choice == "delta") return ProgressMessage::kDelta;
  if (*choice == "text") return ProgressMessage::kText;
  throw InvalidParams("params.progress_message", "expected \"status\", \"delta\" or \"text\"");
}

// The tool of a method.
struct MethodTool {
  void operator()(Invocation& invocation) const;

  asio::io_context& loop;
  Caller& caller;
  const Method& method;
};

// Bad arguments and refusals become results with "isError":true; only an id that is in use fails the request itself.
void MethodTool::operator()(Invocation& invocation) const try {
  const auto& request = invocation.request();
  Caller::require_new_id(*request.session, *request.reply, false);
  Json arguments = invocation.take_arguments();
  const auto message = method.streams ? take_progress_message(arguments) : ProgressMessage::kStatus;
  Caller::Target target{&method, {}, take_result_options(method, arguments)};
  target.params = std::move(arguments);

  const bool is_progress_wanted = !invocation.progress_token().is_null();
  const auto progress = is_progress_wanted ? Progress::start(loop, invocation, message) : nullptr;
  CollectReader::ProgressFunction on_progress;
  if (progress) on_progress = [progress](const CollectReader::Step& step) { progress->update(step); };
  const auto encoding = target.options.encoding;
  const std::string owner = owner_of(request.session->principal, request.reply->peer().facts().address);
  const auto done = [tool = *this, kept = invocation.shared_from_this(), progress, encoding,
                     owner](Collected collected) {
    if (progress) progress->stop();
    try {
      if (collected.outcome.error) std::rethrow_exception(collected.outcome.error);
      kept->result(tool_result(tool.caller, tool.method, std::move(collected), encoding, owner));
    } catch (...) {
      kept->result(tool_error(as_rpc_error(std::current_exception())));
    }
  };
  caller.collect(*request.session, *request.reply, std::move(target), done, std::move(on_progress),
                 {.answers = false, .outlives_exchange = request.outlives_exchange});
} catch (const RpcError& error) {
  if (error.code() == ErrorCode::kInvalidRequest) throw;
  invocation.result(tool_error(error));
}

// The first that is given.
Json first_schema(std::string_view shown, std::string_view whole) { return Json::parse(shown.empty() ? whole : shown); }

}  // namespace

void add_own_members(Json& schema, const Method& method) {
  Json& properties = schema["properties"];
  if (!properties.is_object() || method.immediate || !properties.contains("status")) return;
  properties["warnings"] = Json{{"type", "array"}, {"items", {{"type", "string"}}}};
  if (method.streams || method.handle == HandleRole::kCreates) properties["simulated"] = Json{{"type", "boolean"}};
}

void add_method_tools(Catalogue& catalogue, asio::io_context& loop, Caller& caller) {
  for (const Method& method : caller.api().methods) {
    Tool tool;
    tool.name = method.name;
    tool.title = method.title;
    tool.description = method.description;
    tool.input_schema = first_schema(method.tool_input_schema, method.input_schema);
    tool.output_schema = first_schema(method.tool_output_schema, method.output_schema);
    add_own_members(tool.output_schema, method);
    tool.listed = method.listed;
    tool.annotations = method.annotations;
    tool.permission = permission_for(method);
    tool.takes_unread = true;
    tool.run = MethodTool{loop, caller, method};
    // A client that asks for progress waits for the answer itself, and gets no task.
    if (method.streams) tool.as_task = [](const auto& request) { return request.progress_token.is_null(); };
    catalogue.add(std::move(tool));
  }
  add_value_resources(catalogue, caller.values());
  for (const Elsewhere& other : caller.api().elsewhere) {
    Tool tool;
    tool.name = other.name;
    tool.listed = false;
    tool.run = [&api = caller.api(), &other](Invocation& invocation) {
      invocation.result(tool_error(unsupported(std::string(other.name), other.versions, api.api_version)));
    };
    catalogue.add(std::move(tool));
  }
}

}  // namespace rkllm_mcp::mcp
