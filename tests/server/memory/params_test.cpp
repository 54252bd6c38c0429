// What a caller may give the memory server's methods, and what is said of anything else.
#include "memory/params.hpp"

#include "jsonrpc/unread.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

#include <rkllm_mcp/errors.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::memory;
using test::error_of;
using test::refusal_of;

namespace {

Params params_of(Json params, TokenHolder holder = {"laptop"}) { return {std::move(params), std::move(holder)}; }

// What is said to whoever does that, which is the fault of the parameter at that path.
std::string params_complaint(const std::string& path, const std::function<void()>& action) {
  const RpcError error = error_of(action);
  CHECK(error.code() == ErrorCode::kInvalidParams);
  CHECK(error.data() == Json{{"path", path}});
  return error.what();
}

const std::string kWithNul("a\0b", 3);

NewMessage message_of(const Json& object) { return Params::message_in(object, "params.m", 7); }

Json said_params(Json more) {
  Json message{{"role", "user"}, {"content", "hello"}};
  message.update(more);
  return message;
}

}  // namespace

TEST_CASE("parameters may be left out as a whole, and those that are no object are refused") {
  CHECK(params_of(Json()).all() == Json::object());
  CHECK(params_of(Json::object()).all() == Json::object());
  for (const Json& wrong : {Json::array(), Json("x"), Json(1), Json(true)}) {
    INFO(wrong.dump());
    CHECK(params_complaint("params", [&] { params_of(wrong); }) == "params: expected object");
  }
}

TEST_CASE("parameters that were not read yet are read, unless they have more values than the event loop reads") {
  CHECK(params_of(unread_part(R"({"title": "a"})")).required_text("title") == "a");
  CHECK(params_of(Json{{"metadata", unread_part("[1, 2]")}}).all() == Json{{"metadata", {1, 2}}});
  std::string many = R"({"x":[0)";
  for (std::size_t n = 0; n < kMostValuesReadOnLoop; ++n) many += ",0";
  CHECK(refusal_of([&] { params_of(unread_part(many + "]}")); }) == ErrorCode::kInvalidRequest);
}

TEST_CASE("a parameter that is null counts as absent, and one that nobody asks for does not count") {
  const Params params = params_of(Json{{"title", nullptr},
                                       {"limit", nullptr},
                                       {"all", nullptr},
                                       {"more", {1, 2}},
                                       {"space", nullptr},
                                       {"conversation_id", nullptr}});
  for (const char* const name : {"title", "other"}) {
    CHECK(params.member(name) == nullptr);
    CHECK_FALSE(params.text(name));
    CHECK(params.integer(name, 1, 9, 5) == 5);
    CHECK(params.flag(name, true));
    CHECK_FALSE(params.flag(name, false));
  }
  CHECK(params.space() == "laptop");
  CHECK_FALSE(params.id());
  REQUIRE(params.member("more") != nullptr);
  CHECK(*params.member("more") == Json({1, 2}));
}

TEST_CASE("a text is given as it is, and what is none, or has U+0000 in it, is refused with its path") {
  CHECK(params_of({{"title", "Tiếng Việt\n"}}).text("title") == "Tiếng Việt\n");
  CHECK(params_of({{"title", ""}}).text("title") == "");
  for (const Json& wrong : {Json(1), Json(false), Json::array(), Json::object()}) {
    const Params params = params_of({{"title", wrong}});
    CHECK(params_complaint("params.title", [&] { (void)params.text("title"); }) == "params.title: expected string");
  }
  const Params params = params_of({{"title", kWithNul}});
  CHECK(params_complaint("params.title", [&] { (void)params.text("title"); }) == "params.title: U+0000 is not allowed");
  CHECK(params_complaint("params.title", [&] { (void)params.required_text("title"); }) ==
        "params.title: U+0000 is not allowed");
}

TEST_CASE("a required text that is missing is told from one that is null") {
  CHECK(params_of({{"title", "a"}}).required_text("title") == "a");
  CHECK(params_of({{"title", ""}}).required_text("title").empty());
  CHECK(params_complaint("params.title", [] { (void)params_of(Json::object()).required_text("title"); }) ==
        "params.title: missing");
  CHECK(params_complaint("params.title", [] {
          (void)params_of({{"title", nullptr}}).required_text("title");
        }) == "params.title: expected string");
}

TEST_CASE("an integer may be at either end of its range, and what is outside of it, or no integer, is refused") {
  const auto limit = [](const Json& value) { return params_of({{"limit", value}}).integer("limit", 1, 100, 20); };
  CHECK(limit(1) == 1);
  CHECK(limit(100) == 100);
  for (const Json& wrong : {Json(0), Json(101), Json(-1), Json(5.5), Json("5"), Json(true), Json::array(),
                            Json(std::numeric_limits<std::uint64_t>::max())}) {
    INFO(wrong.dump());
    CHECK(params_complaint("params.limit", [&] { limit(wrong); }) == "params.limit: expected an integer from 1 to 100");
  }
}

TEST_CASE("a flag is true or false, and nothing that only looks so") {
  CHECK(params_of({{"all", true}}).flag("all", false));
  CHECK_FALSE(params_of({{"all", false}}).flag("all", true));
  for (const Json& wrong : {Json(1), Json(0), Json("true"), Json::array()}) {
    const Params params = params_of({{"all", wrong}});
    CHECK(params_complaint("params.all", [&] { (void)params.flag("all", true); }) ==
          "params.all: expected true or false");
  }
}

TEST_CASE("a client has its own space, and only an admin may ask for another") {
  const auto space = [](const Json& params, TokenHolder holder) {
    return params_of(params, std::move(holder)).space();
  };
  for (const bool may_admin : {false, true}) {
    CHECK(space(Json::object(), {"laptop", may_admin}) == "laptop");
    CHECK(space({{"space", "laptop"}}, {"laptop", may_admin}) == "laptop");
    CHECK(space({{"space", ""}}, {"", may_admin}).empty());
  }
  CHECK(space({{"space", "phone"}}, {"laptop", true}) == "phone");
  CHECK(space({{"space", ""}}, {"laptop", true}).empty());
  for (const char* const others : {"phone", ""}) {
    const RpcError error = error_of([&] { space({{"space", others}}, {"laptop", false}); });
    CHECK(error.code() == ErrorCode::kUnauthorized);
    CHECK_THAT(error.what(), test::has_text("admin"));
  }
  CHECK(params_complaint("params.space", [&] {
          space({{"space", 1}}, {"laptop", true});
        }) == "params.space: expected string");
}

TEST_CASE("a conversation's id has 1 to 256 bytes, not characters, of UTF-8") {
  CHECK(checked_id("x", "p") == "x");
  CHECK(checked_id(std::string(256, 'x'), "p") == std::string(256, 'x'));
  std::string letters;
  for (int n = 0; n < 129; ++n) letters += "đ";  // 258 bytes
  for (const std::string& wrong : {std::string(), std::string(257, 'x'), letters}) {
    CHECK(params_complaint("here.id", [&] { checked_id(wrong, "here.id"); }) == "here.id: expected 1 to 256 bytes");
    const Params params = params_of({{"conversation_id", wrong}});
    for (const auto& asked :
         std::vector<std::function<void()>>{[&] { (void)params.id(); }, [&] { (void)params.key(); }}) {
      CHECK(params_complaint("params.conversation_id", asked) == "params.conversation_id: expected 1 to 256 bytes");
    }
  }
  for (const char* const wrong : {"caf\xe9", "\xff", "\xed\xa0\x80"}) {
    CHECK(params_complaint("here.id", [&] { checked_id(wrong, "here.id"); }) == "here.id: expected UTF-8");
    const Params params = params_of({{"conversation_id", wrong}});
    CHECK(params_complaint("params.conversation_id", [&] { (void)params.id(); }) ==
          "params.conversation_id: expected UTF-8");
    CHECK(params_complaint("params.conversation_id", [&] { (void)params.key(); }) ==
          "params.conversation_id: expected UTF-8");
    // One that was made before such ids were refused.
    CHECK(params.key_of_existing() == Key{"laptop", wrong});
  }
  CHECK(params_complaint("params.conversation_id", [] {
          (void)params_of({{"conversation_id", ""}}).key_of_existing();
        }) == "params.conversation_id: expected 1 to 256 bytes");
  CHECK(params_of({{"conversation_id", "chat_1"}}).id() == "chat_1");
  CHECK_FALSE(params_of(Json::object()).id());
}

TEST_CASE("a conversation's key is its space and its id, which has to be given") {
  CHECK(params_of({{"conversation_id", "chat_1"}}).key() == Key{"laptop", "chat_1"});
  CHECK(params_of({{"conversation_id", "chat_1"}, {"space", "phone"}}, {"laptop", true}).key() ==
        Key{"phone", "chat_1"});
  CHECK(params_complaint("params.conversation_id", [] { (void)params_of(Json::object()).key(); }) ==
        "params.conversation_id: missing");
  CHECK(refusal_of([] {
          (void)params_of({{"conversation_id", "chat_1"}, {"space", "phone"}}).key();
        }) == ErrorCode::kUnauthorized);
}

TEST_CASE("a message has a role, a content, perhaps metadata, and the time that it is given") {
  const std::vector<std::pair<const char*, Role>> roles{
      {"user", Role::kUser}, {"assistant", Role::kAssistant}, {"system", Role::kSystem}, {"tool", Role::kTool}};
  for (const auto& [name, role] : roles) {
    CHECK(message_of({{"role", name}, {"content", "hello"}, {"more", 1}}) == NewMessage{role, "hello", "", 7});
  }
  CHECK(message_of(said_params({{"content", ""}})).content.empty());
  CHECK(message_of(said_params({{"metadata", nullptr}})).metadata.empty());
  const Json metadata{{"a", {1, "x", {{"b", nullptr}}}}};
  CHECK(Json::parse(message_of(said_params({{"metadata", metadata}})).metadata) == metadata);
  CHECK(message_of(said_params({{"metadata", Json::object()}})).metadata == "{}");
}

TEST_CASE("what is wrong with a message is said with the path of the message and the member") {
  const std::vector<std::pair<Json, std::pair<std::string, std::string>>> cases{
      {{{"content", "x"}}, {"role", "missing"}},
      {{{"role", "user"}}, {"content", "missing"}},
      {said_params({{"role", nullptr}}), {"role", "expected string"}},
      {said_params({{"role", "User"}}), {"role", R"(expected "user", "assistant", "system" or "tool")"}},
      {said_params({{"role", ""}}), {"role", R"(expected "user", "assistant", "system" or "tool")"}},
      {said_params({{"content", nullptr}}), {"content", "expected string"}},
      {said_params({{"content", {{"type", "text"}}}}), {"content", "expected string"}},
      {said_params({{"content", kWithNul}}), {"content", "U+0000 is not allowed"}},
      {said_params({{"metadata", "{}"}}), {"metadata", "expected object"}},
      {said_params({{"metadata", {1}}}), {"metadata", "expected object"}},
      {said_params({{"metadata", {{"a", {kWithNul}}}}}), {"metadata", "U+0000 is not allowed"}},
      {said_params({{"metadata", {{kWithNul, 1}}}}), {"metadata", "U+0000 is not allowed"}},
      {said_params({{"metadata", {{"a", "\\" + kWithNul}}}}), {"metadata", "U+0000 is not allowed"}},
  };
  for (const auto& [object, expected] : cases) {
    INFO(object.dump());
    const std::string path = "params.m." + expected.first;
    CHECK(params_complaint(path, [&object = object] { message_of(object); }) == path + ": " + expected.second);
  }
}

TEST_CASE("metadata may hold text that looks like the escape of U+0000 and is none") {
  for (const char* const text : {"\\u0000", "{\"x\":\"\\u0000\"}", "\\\\u0000", "u0000"}) {
    INFO(text);
    const Json metadata{{"a", text}};
    CHECK(Json::parse(message_of(said_params({{"metadata", metadata}})).metadata) == metadata);
  }
}

TEST_CASE("a schema of an object names as required what ends with an exclamation mark, without the mark") {
  CHECK(object_schema(Json{{"id!", text_schema("Which.")}, {"limit", integer_schema("So many.", 1, 9)}}) ==
        Json::parse(R"({"type":"object","properties":{
          "id":{"type":"string","description":"Which."},
          "limit":{"type":"integer","minimum":1,"maximum":9,"description":"So many."}},"required":["id"]})"));
  CHECK(object_schema(Json{{"limit", Json::object()}}) ==
        Json::parse(R"({"type":"object","properties":{"limit":{}}})"));
  CHECK(object_schema(Json::object()) == Json::parse(R"({"type":"object","properties":{}})"));
}
