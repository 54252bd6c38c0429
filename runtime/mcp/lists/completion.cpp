#include "mcp/lists/completion.hpp"

#include "call/permission.hpp"

#include <rkllm_mcp/errors.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::mcp {
namespace {

constexpr std::size_t kMostValues = 100;

const Json& object_in(const Json& object, const char* name, const char* path) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_object()) throw InvalidParams(path, "expected object");
  return *found;
}

std::string string_in(const Json& object, const char* name, const char* path) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) throw InvalidParams(path, "expected string");
  return found->get<std::string>();
}

// The function that knows the values; null if nobody does.
CompleteFunction completer_of(const Catalogue& catalogue, const Session& session, const Json& ref,
                              const std::string& argument) {
  const std::string type = string_in(ref, "type", "params.ref.type");
  if (type == "ref/prompt") {
    const auto* const prompt = catalogue.prompt(string_in(ref, "name", "params.ref.name"));
    if (prompt == nullptr || !is_permitted(session, (*prompt)->permission)) return {};
    for (const auto& each : (*prompt)->arguments) {
      if (each.name == argument) return each.complete;
    }
    return {};
  }
  if (type != "ref/resource") throw InvalidParams("params.ref.type", "expected \"ref/prompt\" or \"ref/resource\"");
  const std::string uri = string_in(ref, "uri", "params.ref.uri");
  for (const auto& each : catalogue.templates) {
    if (each.uri_template != uri || !is_permitted(session, each.permission)) continue;
    for (const auto& [name, complete] : each.variables) {
      if (name == argument) return complete;
    }
  }
  return {};
}

Json known_arguments(const Json& params) {
  const auto context = params.find("context");
  if (context == params.end() || !context->is_object()) return Json::object();
  const auto arguments = context->find("arguments");
  return arguments != context->end() && arguments->is_object() ? *arguments : Json::object();
}

}  // namespace

Json complete(const Catalogue& catalogue, const Session& session, const Json& params) {
  const Json& argument = object_in(params, "argument", "params.argument");
  const std::string name = string_in(argument, "name", "params.argument.name");
  const std::string so_far = string_in(argument, "value", "params.argument.value");
  const auto completer = completer_of(catalogue, session, object_in(params, "ref", "params.ref"), name);

  Json values = Json::array();
  std::size_t total = 0;
  if (completer) {
    for (const auto& value : completer(so_far, known_arguments(params))) {
      if (!std::string_view(value).starts_with(so_far)) continue;
      if (total++ < kMostValues) values.push_back(value);
    }
  }
  return Json{{"completion", {{"values", std::move(values)}, {"total", total}, {"hasMore", total > kMostValues}}}};
}

}  // namespace rkllm_mcp::mcp
