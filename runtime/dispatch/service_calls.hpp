// Services in the direct dialect: SERVICE/METHOD, or the method's name alone where only one service has it. Every
// service has tools/list, tools/call, resources/list, resources/read and prompts/list of what it offers, beside its own
// methods.
//
// A tool that fails is error -32002 here, a document that does not exist -32001. Event loop only.
#pragma once

#include "call/session.hpp"
#include "counts.hpp"
#include "immutable.hpp"
#include "jsonrpc/reply.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/lists/lists.hpp"
#include "mcp/service.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class ServiceCalls {
 public:
  struct Limits {
    std::size_t page_items{};
    std::size_t requests_per_session{};
    Counts* counts = nullptr;
  };
  // The catalogue outlives this.
  ServiceCalls(const mcp::Catalogue& catalogue, const Limits& limits) : catalogue_(catalogue), limits_(limits) {}

  // Executes the method if it is one of a service; false if it is not. Throws RpcError, also if the service is known
  // and has no such method, or if the name is that of a server which does not exist.
  bool call(std::string_view method, const Json& params, Session& session, Reply& reply) const;

  // What follows the server's own name in a method that is addressed to it ("rkllm-server/rkllm_init").
  std::optional<std::string_view> own_method(std::string_view method) const;

  // The names of all methods that can be called without their service's name, for complaints.
  std::vector<std::string_view> plain_names() const;

 private:
  struct Target {
    Immutable<mcp::Service> service;
    std::string_view method;
  };
  std::optional<Target> find(std::string_view method) const;
  bool call(const Target& target, const Json& params, Session& session, Reply& reply) const;
  void call_tool(const mcp::Service& service, const Json& params, Session& session, Reply& reply) const;
  RpcError no_such_method(const Target& target) const;

  const mcp::Catalogue& catalogue_;
  const Limits limits_;
};

}  // namespace rkllm_mcp
