#include "dispatch/stateless_headers.hpp"

#include "json_members.hpp"
#include "jsonrpc/unread.hpp"
#include "mcp/protocol/agreed_names.hpp"
#include "mcp/protocol/era.hpp"

#include <rkllm_mcp/base64.hpp>
#include <rkllm_mcp/errors.hpp>

#include <charconv>
#include <cstddef>

namespace rkllm_mcp {
namespace {

RpcError mismatch(std::string_view header, const std::string& complaint) {
  return {ErrorCode::kHeaderMismatch, std::string(header) + ": " + complaint, Json{{"header", header}}};
}

std::string required(const http::Headers& headers, std::string_view name) {
  const auto value = headers.find(name);
  if (!value) throw mismatch(name, "missing");
  return std::string(http::trim_blanks(*value));
}

std::string required_decoded(const http::Headers& headers, std::string_view name) {
  auto value = decoded_header(required(headers, name));
  if (!value) throw mismatch(name, "malformed base64");
  return *std::move(value);
}

void require_equal(std::string_view header, const std::string& given, const std::string& in_body) {
  if (given != in_body) throw mismatch(header, "says otherwise than the message");
}

bool is_same_number(const std::string& text, const Json& value) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number == value.get<double>();
}

void check_param(const http::Headers& headers, const std::string& header, const Json& value) {
  const std::string given = required_decoded(headers, header);
  if (value.is_string()) return require_equal(header, given, value.get<std::string>());
  if (value.is_boolean()) return require_equal(header, given, value.get<bool>() ? "true" : "false");
  if (value.is_number() && !is_same_number(given, value)) throw mismatch(header, "says otherwise than the message");
}

// The first header that a schema wants, at whatever depth; empty if it wants none.
std::string wanted_header(const Json& schema) {
  const Json* const properties = member_of(schema, "properties");
  if (properties == nullptr || !properties->is_object()) return {};
  for (const Json& property : *properties) {
    const std::string own = text_in(property, mcp::kParamAnnotation);
    if (!own.empty()) return mcp::kParamHeaderStart + own;
    if (std::string inside = wanted_header(property); !inside.empty()) return inside;
  }
  return {};
}

// Arguments that have stayed text, since they have many values. They are read here, on the event loop, as far as they
// must be for their headers.
Json read_for(const Json& unread, const std::string& header) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
  if (unread_text(unread).size() <= kMostBytes) {
    Json arguments = read_outside(unread);
    if (!arguments.is_binary()) return arguments;
  }
  throw mismatch(header, "so many values stand beside what it repeats that the two are not compared");
}

// Walks the properties of a schema that are annotated, along with the arguments that are given.
void check_params(const http::Headers& headers, const Json& schema, const Json& arguments) {
  if (arguments.is_binary()) {
    const std::string header = wanted_header(schema);
    return header.empty() ? void() : check_params(headers, schema, read_for(arguments, header));
  }
  const auto properties = schema.find("properties");
  if (properties == schema.end() || !properties->is_object() || !arguments.is_object()) return;
  for (const auto& [name, property] : properties->items()) {
    const auto given = arguments.find(name);
    if (given == arguments.end() || given->is_null() || !property.is_object()) continue;
    const auto header = property.find(mcp::kParamAnnotation);
    if (header != property.end() && header->is_string()) {
      check_param(headers, mcp::kParamHeaderStart + header->get<std::string>(), *given);
    }
    check_params(headers, property, *given);
  }
}

}  // namespace

std::optional<std::string> decoded_header(std::string_view value) {
  constexpr auto kAround = mcp::kEncodedStart.size() + mcp::kEncodedEnd.size();
  if (value.size() < kAround || !value.starts_with(mcp::kEncodedStart) || !value.ends_with(mcp::kEncodedEnd)) {
    return std::string(value);
  }
  const auto bytes = decode_base64(value.substr(mcp::kEncodedStart.size(), value.size() - kAround));
  if (!bytes) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

void check_revision_header(const http::Headers& headers, const Request& request) {
  const auto claim = mcp::claimed_revision(request.params);
  if (!claim && request.method == "initialize") throw mismatch(mcp::kRevisionHeader, "that revision has no handshake");
  if (!claim) throw InvalidParams(std::string("params._meta.") + mcp::kMetaRevision, "missing");
  if (!claim->is_string()) throw InvalidParams(std::string("params._meta.") + mcp::kMetaRevision, "expected string");
  require_equal(mcp::kRevisionHeader, required(headers, mcp::kRevisionHeader), claim->get<std::string>());
}

void check_stateless_headers(const http::Headers& headers, const Request& request, const mcp::Catalogue& catalogue) {
  const Json& params = request.params;
  require_equal(mcp::kMethodHeader, required(headers, mcp::kMethodHeader), request.method);
  const char* const named = mcp::named_param(request.method);
  if (named != nullptr && params.contains(named) && params[named].is_string()) {
    require_equal(mcp::kNameHeader, required_decoded(headers, mcp::kNameHeader), params[named].get<std::string>());
  }
  if (request.method != "tools/call" || !params.contains("arguments") || !params.contains("name")) return;
  if (!params["name"].is_string()) return;
  const auto* const tool = catalogue.tool(params["name"].get<std::string>());
  if (tool != nullptr) check_params(headers, (*tool)->input_schema, params["arguments"]);
}

}  // namespace rkllm_mcp
