#include "mcp/tools/method_tools.hpp"

#include "auth/owner.hpp"
#include "call/result_options.hpp"
#include "call/value_text.hpp"
#include "jsonrpc/envelope.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/tools/progress.hpp"

#include <rkllm_mcp/base64.hpp>
#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
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

// `shown` as JSON, or `whole` if `shown` is empty.
Json first_schema(std::string_view shown, std::string_view whole) { return Json::parse(shown.empty() ? whole : shown); }

constexpr std::string_view kValues = "rkllm://values/";
// Bytes that a read returns by default, and the most that a client may ask for.
constexpr std::size_t kUsualBytes = std::size_t{192} << 10U;
constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

struct Range {
  std::string_view id;
  std::size_t offset = 0;
  std::size_t length = kUsualBytes;
};

// The number behind `name` in a query such as "offset=0&length=4096".
std::optional<std::size_t> number_in(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (!part.starts_with(name) || part.substr(name.size(), 1) != "=") continue;
    const std::string_view digits = part.substr(name.size() + 1);
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      throw InvalidParams("params.uri", std::string(name) + ": expected a number of bytes");
    }
    return number;
  }
  return std::nullopt;
}

std::optional<Range> range_of(std::string_view uri) {
  if (!uri.starts_with(kValues)) return std::nullopt;
  uri.remove_prefix(kValues.size());
  const auto question = uri.find('?');
  const std::string_view query = question == std::string_view::npos ? std::string_view() : uri.substr(question + 1);
  Range range{uri.substr(0, question)};
  range.offset = number_in(query, "offset").value_or(0);
  range.length = std::min(number_in(query, "length").value_or(kUsualBytes), kMostBytes);
  return range;
}

Json description_of(const ValueRows& rows) {
  return Json{{"field", rows.field},
              {"dtype", "float32"},
              {"byte_order", "little"},
              {"shape", {rows.rows, rows.columns}},
              {"bytes", rows.bytes()}};
}

std::optional<ResourceText> read(ValueStore& values, std::string_view uri) {
  const auto range = range_of(uri);
  const ValueRows* const rows = range ? values.find(range->id) : nullptr;
  if (rows == nullptr) return std::nullopt;
  const auto bytes = std::as_bytes(std::span(rows->values));
  const std::size_t offset = std::min(range->offset, bytes.size());
  const std::size_t length = std::min(range->length, bytes.size() - offset);
  ResourceText text{encode_base64(bytes.subspan(offset, length)), true};
  text.meta = description_of(*rows);
  text.meta["offset"] = offset;
  text.meta["length"] = length;
  return text;
}

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

Json link_rows(ValueStore& values, CallOutcome& outcome, const std::string& owner) {
  Json links = Json::array();
  if (outcome.values.is_null()) outcome.values = Json::object();
  for (const auto& rows : outcome.rows) {
    outcome.values[rows.field] =
        Json{{rows.values_name, nullptr}, {rows.columns_name, rows.columns}, {rows.rows_name, rows.rows}};
    Json about = description_of(rows);
    about["expires_in_s"] = std::chrono::seconds(ValueStore::kKeptFor).count();
    const std::string shape = std::to_string(rows.rows) + " x " + std::to_string(rows.columns);
    links.push_back(Json{{"type", "resource_link"},
                         {"uri", nullptr},  // known when they are kept
                         {"name", rows.field},
                         {"description", shape + " float32, little endian, for 10 minutes; read a part with "
                                                 "?offset=BYTES&length=BYTES (at most 1048576)"},
                         {"mimeType", "application/octet-stream"},
                         {"size", rows.bytes()},
                         {"_meta", {{"rkllm/values", std::move(about)}}}});
  }
  outcome.memory.set(0);  // the store counts the rows from here on
  const auto ids = values.keep(std::exchange(outcome.rows, {}), owner);
  for (std::size_t at = 0; at < ids.size(); ++at) links[at]["uri"] = std::string(kValues) + ids[at];
  return links;
}

void add_value_resources(Catalogue& catalogue, ValueStore& values) {
  catalogue.templates.push_back(
      {std::string(kValues) + "{id}{?offset,length}", "values", "Hidden states or logits",
       "What a run answered with a link: 32-bit floats, little endian, row by row; length bytes from offset on.",
       "application/octet-stream", [&values](std::string_view uri) { return read(values, uri); }});
}

}  // namespace rkllm_mcp::mcp
