#include "mcp/protocol/request_responder.hpp"

#include "mcp/catalogue.hpp"
#include "mcp/protocol/agreed_names.hpp"
#include "mcp/protocol/revisions.hpp"
#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

const Json kServerOfTest{{"name", "fake"}, {"version", "1"}};

// One request of a client with that revision, and what it has been answered.
struct Responding {
  explicit Responding(std::string_view revision) : responder(*reply, *mcp::find_revision(revision), kServerOfTest) {}

  std::vector<Json> sent() const {
    std::vector<Json> messages;
    for (const auto& text : peer->sent) messages.push_back(Json::parse(text));
    return messages;
  }

  std::shared_ptr<FakePeer> peer = std::make_shared<FakePeer>();
  std::shared_ptr<Reply> reply = std::make_shared<Reply>(*peer, "7");
  mcp::RequestResponder responder;
};

Json content_in(std::string_view revision, const Json& content) {
  return content_for(*mcp::find_revision(revision), Json{{"content", content}})["content"];
}

}  // namespace

TEST_CASE("what is told on the way to an answer comes before it, and nothing comes behind it") {
  Responding responding("2025-11-25");
  responding.responder.notify("notifications/progress", Json{{"progress", 1}});
  responding.responder.result(Json{{"content", Json::array()}});
  responding.responder.notify("notifications/progress", Json{{"progress", 2}});
  responding.responder.error(RpcError(ErrorCode::kInternalError, "too late"));
  const auto sent = responding.sent();
  REQUIRE(sent.size() == 2);
  CHECK(sent[0] == Json{{"jsonrpc", "2.0"}, {"method", "notifications/progress"}, {"params", {{"progress", 1}}}});
  CHECK(sent[1] == Json{{"jsonrpc", "2.0"}, {"id", 7}, {"result", {{"content", Json::array()}}}});
}

TEST_CASE("a result has the form of its client's era, and an error is the same in both") {
  Responding stateless("2026-07-28");
  stateless.responder.result(Json{{"content", Json::array()}});
  const Json result = stateless.sent().at(0)["result"];
  CHECK(result["resultType"] == "complete");
  CHECK(result["_meta"][mcp::kMetaServer] == kServerOfTest);
  for (const char* const revision : {"2025-11-25", "2026-07-28"}) {
    Responding failing(revision);
    failing.responder.error(InvalidParams("params.day", "no such day"));
    CHECK(failing.sent().at(0)["error"] ==
          Json{{"code", -32602}, {"message", "params.day: no such day"}, {"data", {{"path", "params.day"}}}});
  }
}

TEST_CASE("more is taken as long as the client reads what it was sent") {
  Responding responding("2025-11-25");
  CHECK(responding.responder.ready());
  responding.peer->takes = false;
  CHECK_FALSE(responding.responder.ready());
}

TEST_CASE("blocks that a revision does not know become texts that say what they were, and the others stay") {
  const Json text = mcp::text_block("x");
  const Json audio{{"type", "audio"}, {"data", "AA=="}, {"mimeType", "audio/wav"}};
  const Json link{{"type", "resource_link"}, {"uri", "a://b"}, {"name", "b"}};
  const Json image{{"type", "image"}, {"data", "AA=="}, {"mimeType", "image/png"}};
  const Json all = Json::array({text, audio, link, image});
  CHECK(content_in("2024-11-05", all) ==
        Json::array({text, mcp::text_block("[audio, audio/wav]"), mcp::text_block("a://b"), image}));
  CHECK(content_in("2025-03-26", all) == Json::array({text, audio, mcp::text_block("a://b"), image}));
  for (const char* const newer : {"2025-06-18", "2025-11-25", "2026-07-28"}) CHECK(content_in(newer, all) == all);
}

TEST_CASE("the messages of a prompt have no blocks that their revision does not know, either") {
  const Json audio{{"type", "audio"}, {"mimeType", "audio/wav"}};
  const Json body{
      {"messages", {{{"role", "user"}, {"content", audio}}, {{"role", "user"}, {"content", mcp::text_block("x")}}}}};
  const Json older = content_for(*mcp::find_revision("2024-11-05"), body);
  CHECK(older["messages"][0]["content"] == mcp::text_block("[audio, audio/wav]"));
  CHECK(older["messages"][0]["role"] == "user");
  CHECK(older["messages"][1] == body["messages"][1]);
  CHECK(content_for(*mcp::find_revision("2025-03-26"), body) == body);
}

TEST_CASE("a body that has no content of the protocol's form is left as it is") {
  for (const Json& body :
       {Json::object(), Json{{"content", nullptr}}, Json{{"content", "x"}},
        Json{{"content", {nullptr, 5, "audio", Json::array({"audio"}), Json::object(), Json{{"type", 5}}}}},
        Json{{"messages", {nullptr, "x", Json::object(), Json{{"content", nullptr}}, Json{{"content", "audio"}}}}},
        Json{{"messages", Json::object()}}}) {
    INFO(body);
    CHECK(content_for(*mcp::find_revision("2024-11-05"), body) == body);
  }
  const Json odd =
      content_in("2024-11-05", Json::array({{{"type", "audio"}, {"mimeType", 5}}, {{"type", "resource_link"}}}));
  CHECK(odd == Json::array({mcp::text_block("[audio, ]"), mcp::text_block("")}));
}
