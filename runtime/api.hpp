// What a server serves, as data: a table of methods, named facts, and words about itself. The runtime library knows no
// more of an API than this.
#pragma once

#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/method.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

struct Api {
  std::string name;  // of this server, e.g. "rkllm-server"
  std::string title;
  std::string version;
  std::string instructions;  // what a model should know before it uses the tools
  std::span<const Method> methods;
  std::span<const Fact> facts;
  std::span<const Elsewhere> elsewhere;  // functions that only other versions of the API have
  std::string api_version;               // of the API that is served, for complaints

  // A document that clients may read, made when it is asked for. `size` in bytes, if it is always the same.
  struct Resource {
    std::string uri, name, title, description, mime_type;
    std::function<std::string()> text;
    std::optional<std::size_t> size{};
  };
  std::vector<Resource> resources;

  // Documents that come and go. `text` gives nothing for an address that is none of these, or not now.
  struct ResourceTemplate {
    std::string uri_template, name, title, description, mime_type;
    std::function<std::optional<std::string>(std::string_view uri)> text;
  };
  std::vector<ResourceTemplate> resource_templates;

  const Method* method(std::string_view method_name) const {
    for (const auto& method : methods) {
      if (method.name == method_name) return &method;
    }
    return nullptr;
  }
  // A function that only other versions of the API have.
  const Elsewhere* method_elsewhere(std::string_view method_name) const {
    for (const auto& other : elsewhere) {
      if (other.name == method_name) return &other;
    }
    return nullptr;
  }
  const Fact* fact(std::string_view fact_name) const {
    for (const auto& fact : facts) {
      if (fact.name == fact_name) return &fact;
    }
    return nullptr;
  }
};

}  // namespace rkllm_mcp
