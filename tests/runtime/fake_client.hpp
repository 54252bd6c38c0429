// A client of a dispatcher, without sockets: what it says, and what comes back.
#pragma once

#include "dispatch/dispatcher.hpp"
#include "mcp/protocol/agreed_names.hpp"
#include "mcp/tools/method_tools.hpp"
#include "runtime/fake_backend.hpp"
#include "support/usual_limits.hpp"

#include <asio/io_context.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {

// The loop runs only inside say() and settle().
struct Client {
  explicit Client(Dispatcher::Options options = usual_limits<Dispatcher::Options>(),
                  PeerFacts facts = {.transport = TransportKind::kTcp, .address = "test"})
      : dispatcher(loop, api, catalogue, backend, options),
        peer(std::make_shared<FakePeer>(std::move(facts))),
        receive(dispatcher.acceptor()(*peer)) {
    mcp::add_method_tools(catalogue, loop, dispatcher.caller());
  }

  // As in life: the client goes, and what it left behind comes to its end.
  ~Client() {
    peer->close();
    backend.fail_the_rest(cancelled());
    settle();
  }

  void settle() {
    loop.restart();
    loop.poll();
  }
  std::vector<std::string> say(const std::string& message) {
    peer->sent.clear();
    receive(std::string_view(message));
    settle();
    return peer->sent;
  }
  std::vector<std::string> news() {
    peer->sent.clear();
    settle();
    return peer->sent;
  }

  asio::io_context loop;
  Api api = fake_api();
  mcp::Catalogue catalogue = fake_catalogue();
  FakeBackend backend;
  Dispatcher dispatcher;
  std::shared_ptr<FakePeer> peer;
  ReceiveFunction receive;
};

inline std::string call(const std::string& id, const std::string& method, const std::string& params = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" + params + "}";
}

using Texts = std::vector<std::string>;

// The one message that there is.
inline Json only(const Texts& texts) {
  if (texts.size() != 1) throw std::runtime_error(std::to_string(texts.size()) + " messages instead of one");
  return Json::parse(texts[0]);
}

// params of MCP's stateless era, of a client with these capabilities.
inline std::string stateless(Json params, Json capabilities = Json::object()) {
  params["_meta"][mcp::kMetaRevision] = "2026-07-28";
  params["_meta"][mcp::kMetaCapabilities] = std::move(capabilities);
  return params.dump();
}

// Executes a message whose answer goes to `peer`, as the HTTP endpoints do.
inline void receive_text(Dispatcher& dispatcher, const std::string& text, Session& session, Peer& peer,
                         Delivery delivery) {
  const MessageReader::Sender sender{"test", [] { return true; }};
  dispatcher.reader().read(
      text, sender,
      [&dispatcher, whose = session.shared_from_this(), to = peer.shared_from_this(),
       delivery](const Message& message) { dispatcher.receive(message, *whose, to->answer(), delivery); });
}

}  // namespace rkllm_mcp::test
