// A client of one group of the chat host's endpoints, without sockets: what it posts, and what it is answered.
#pragma once

#include "chat/http/visit.hpp"
#include "runtime/kept_answer.hpp"
#include "server/chat/host/scripted_lender.hpp"
#include "support/catch.hpp"
#include "support/waiting_loop.hpp"

#include <memory>
#include <string>

namespace rkllm_mcp::chat::testing {

class EndpointDesk {
 public:
  EndpointDesk() = default;
  EndpointDesk(const EndpointDesk&) = delete;
  EndpointDesk& operator=(const EndpointDesk&) = delete;
  virtual ~EndpointDesk() = default;

  // False if the path is not one of these endpoints'.
  bool post(const std::string& path, const Json& body) {
    http::Request request;
    request.method = "POST";
    request.path = path;
    client = std::make_shared<test::KeptAnswer>();
    return take(*std::make_shared<Visit>(loop.loop(), rules, request, *client, MemoryShare()), body);
  }
  // The answer, once there is one.
  Json answer_to(const std::string& path, const Json& body) {
    REQUIRE(post(path, body));
    loop.until(
        [this] {
          lender.settle();
          return client->answer.has_value();
        },
        "no answer");
    loop.settle();
    CHECK(open.size() == 0);
    return Json::parse(client->answer->body);
  }

  test::WaitingLoop loop;
  ScriptedLender lender;
  ChatHost host{lender, {}};
  OpenVisits open{loop.loop()};
  Visit::Rules rules;
  std::shared_ptr<test::KeptAnswer> client;  // of the last request

 private:
  virtual bool take(Visit& visit, const Json& body) = 0;  // of the endpoints
};

}  // namespace rkllm_mcp::chat::testing
