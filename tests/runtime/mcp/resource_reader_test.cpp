#include "mcp/lists/resource_reader.hpp"

#include "auth/access_tokens.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

#include <rkllm_mcp/errors.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// A client that reads what a catalogue has.
struct Reading {
  Reading() { session.principal = &principal; }

  void add(const std::string& uri, mcp::ResourceText text, const std::string& mime_type = "",
           std::optional<std::size_t> size = {}) {
    catalogue.resources.push_back({uri, uri, "", "", mime_type, [text = std::move(text)] { return text; }, size});
  }
  // Documents at all addresses that begin so.
  void add_template(const std::string& beginning, const std::string& text, Permission permission = Permission::kCall) {
    mcp::ResourceTemplate each{beginning + "{n}",
                               beginning,
                               "",
                               "",
                               "text/plain",
                               [beginning, text](std::string_view uri) -> std::optional<mcp::ResourceText> {
                                 if (!uri.starts_with(beginning)) return std::nullopt;
                                 return mcp::ResourceText{text};
                               }};
    each.permission = permission;
    catalogue.templates.push_back(std::move(each));
  }
  mcp::ResourceReading read(const std::string& uri) const { return mcp::read_resource(catalogue, session, uri); }
  Json content(const std::string& uri) const { return read(uri).body.at("contents").at(0); }
  RpcError refusal(const std::string& uri) const {
    return test::error_of([&] { read(uri); });
  }

  const Principal principal{"client", true, false};
  Session session{std::weak_ptr<RequestTable>()};
  mcp::Catalogue catalogue;
};

}  // namespace

TEST_CASE("a document comes with its address, and with its type and what programs need to know of it if it has such") {
  Reading reading;
  reading.add("a://text", {"x\n\"y\""});
  reading.add("a://json", {"{}"}, "application/json");
  reading.add("a://image", {"AA==", true, {{"width", 1}}}, "image/png");
  CHECK(reading.read("a://text").body == Json{{"contents", {{{"uri", "a://text"}, {"text", "x\n\"y\""}}}}});
  CHECK(reading.content("a://json") == Json{{"uri", "a://json"}, {"mimeType", "application/json"}, {"text", "{}"}});
  CHECK(reading.content("a://image") == Json{{"uri", "a://image"},
                                             {"mimeType", "image/png"},
                                             {"_meta", {{"rkllm/values", {{"width", 1}}}}},
                                             {"blob", "AA=="}});
}

TEST_CASE("a document of a template has the address that it was asked for by") {
  Reading reading;
  reading.add_template("a://", "any");
  CHECK(reading.content("a://x y/z") == Json{{"uri", "a://x y/z"}, {"mimeType", "text/plain"}, {"text", "any"}});
}

TEST_CASE("a resource comes before a template of the same address, and of templates the first that has it") {
  Reading reading;
  reading.add_template("a://b", "second");
  reading.add_template("a://", "third");
  reading.add("a://b/1", {"first"});
  CHECK(reading.content("a://b/1")["text"] == "first");
  CHECK(reading.content("a://b/2")["text"] == "second");
  CHECK(reading.content("a://c")["text"] == "third");
}

TEST_CASE("a template that is not for the client is passed over for one that is") {
  Reading reading;
  reading.add_template("a://", "secret", Permission::kAdmin);
  reading.add_template("a://", "open");
  CHECK(reading.content("a://1")["text"] == "open");
}

TEST_CASE("only what never changes and is everybody's may be kept, and shown to others") {
  Reading reading;
  reading.add("a://fixed", {"x"}, "", 1);
  reading.add("a://changes", {"x"});
  reading.add_template("b://", "x");
  CHECK(reading.read("a://fixed").freshness.scope == mcp::Freshness::Scope::kPublic);
  CHECK(reading.read("a://fixed").freshness.lasts > std::chrono::milliseconds(0));
  for (const char* const uri : {"a://changes", "b://1"}) {
    CHECK(reading.read(uri).freshness.scope == mcp::Freshness::Scope::kPrivate);
    CHECK(reading.read(uri).freshness.lasts == std::chrono::milliseconds(0));
  }
}

TEST_CASE("a document is read anew each time") {
  Reading reading;
  int times = 0;
  reading.catalogue.resources.push_back(
      {"a://n", "n", "", "", "", [&times] { return mcp::ResourceText{std::to_string(++times)}; }});
  CHECK(reading.content("a://n")["text"] == "1");
  CHECK(reading.content("a://n")["text"] == "2");
}

TEST_CASE("an address that there is not is refused with it, and with one that is near") {
  Reading reading;
  reading.add("rkllm://models", {"x"});
  reading.add("rkllm://status", {"x"});
  const RpcError scheme = reading.refusal("rklm://models");
  CHECK(scheme.code() == ErrorCode::kInvalidParams);
  CHECK(scheme.data() == Json{{"uri", "rklm://models"}});
  CHECK_THAT(scheme.what(), has_text("params.uri: no resource \"rklm://models\" exists"));
  CHECK_THAT(scheme.what(), has_text("did you mean \"rkllm://models\"?"));
  CHECK_THAT(reading.refusal("statu").what(), has_text("did you mean \"rkllm://status\"?"));
  for (const std::string far : {"", "://", "x", "rkllm://something/else/altogether"}) {
    CHECK_THAT(reading.refusal(far).what(), !has_text("did you mean"));
    CHECK(reading.refusal(far).data() == Json{{"uri", far}});
  }
}

TEST_CASE("an address that is very long, or is no text of one line, is quoted in part and in one line") {
  Reading reading;
  reading.add("rkllm://models", {"x"});
  const std::string longest = "a://" + std::string(252, 'x');
  CHECK(reading.refusal(longest).data()["uri"] == longest);
  const std::string longer = "a://" + std::string(100'000, 'x');
  const RpcError error = reading.refusal(longer);
  CHECK(error.data()["uri"].get<std::string>().size() <= kQuotedBytes);
  CHECK(std::string(error.what()).size() < 300);
  const std::string odd("a://\n\"\0", 7);
  CHECK(std::string(reading.refusal(odd).what()).find('\n') == std::string::npos);
  CHECK(reading.refusal(odd).data() == Json{{"uri", odd}});
}
