#include "mcp/lists/resources.hpp"

#include "auth/access_tokens.hpp"
#include "jsonrpc/envelope.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

constexpr std::size_t kAnyBytes = std::numeric_limits<std::size_t>::max();

// A client, a catalogue with resources, and services with documents behind them, which answer at once or when the test
// says so.
struct DocumentList {
  DocumentList() { session->principal = &principal; }

  void add_resources(std::size_t count) {
    for (std::size_t at = 0; at < count; ++at) {
      const std::string name = "r" + std::to_string(at);
      catalogue.resources.push_back({"a://" + name, name, "", "", "", [] { return mcp::ResourceText{""}; }});
    }
  }
  void add_service_with(const std::string& name, std::size_t count) {
    mcp::Service service;
    service.name = name;
    service.documents.scheme = name + "://";
    service.documents.read = [](const Principal&, const std::string&, const mcp::DoneFunction&) {};
    service.documents.list = [this, name, count](const Principal& who, const mcp::ListRequest& request,
                                                 mcp::DoneFunction done) {
      CHECK(&who == &principal);
      asked.push_back({name, request});
      const auto answer = [=, done = std::move(done)] {
        Json page{{"resources", Json::array()}};
        std::size_t at = request.cursor.empty() ? 0 : std::stoul(request.cursor.substr(1));
        for (const std::size_t end = std::min(count, at + request.items); at < end; ++at) {
          page["resources"].push_back({{"name", name + std::to_string(at)}});
        }
        if (at < count) page["nextCursor"] = ":" + std::to_string(at);
        done(std::move(page), nullptr);
      };
      if (is_waiting) {
        answers.emplace_back(answer);
      } else {
        answer();
      }
    };
    catalogue.services.emplace_back(std::move(service));
  }
  void add_service_without(const std::string& name) {
    mcp::Service service;
    service.name = name;
    catalogue.services.emplace_back(std::move(service));
  }

  // One page; null as long as there is none.
  std::shared_ptr<Json> page(const Json& params, const mcp::PageLimits& limits) {
    auto page = std::make_shared<Json>();
    mcp::list_with_documents(catalogue, *session, params, limits, [page](Json result, const std::exception_ptr& error) {
      CHECK(page->is_null());
      *page = error ? Json{{"error", as_rpc_error(error).code()}} : std::move(result);
    });
    return page;
  }
  // The names on each page, from the first to the last.
  std::vector<std::vector<std::string>> pages(const mcp::PageLimits& limits) {
    std::vector<std::vector<std::string>> all;
    Json params = Json::object();
    do {
      const auto one = page(params, limits);
      auto& names = all.emplace_back();
      for (const Json& each : one->at("resources")) names.push_back(each["name"]);
      params["cursor"] = one->value("nextCursor", Json());
    } while (!params["cursor"].is_null() && all.size() < 100);
    return all;
  }

  struct Asked {
    std::string service;
    mcp::ListRequest request;
  };

  const Principal principal{"client", true, true};
  std::shared_ptr<Session> session = std::make_shared<Session>(std::weak_ptr<RequestTable>());
  mcp::Catalogue catalogue;
  bool is_waiting = false;
  std::vector<Asked> asked;
  std::vector<std::function<void()>> answers;
};

std::vector<std::string> all_of(const std::vector<std::vector<std::string>>& pages) {
  std::vector<std::string> all;
  for (const auto& page : pages) all.insert(all.end(), page.begin(), page.end());
  return all;
}

}  // namespace

TEST_CASE("a service is asked only if one has documents, or a cursor says so") {
  DocumentList list;
  CHECK_FALSE(mcp::lists_documents(list.catalogue, nullptr));
  list.add_service_without("none");
  CHECK_FALSE(mcp::lists_documents(list.catalogue, Json{{"cursor", "from-1"}}));
  CHECK(mcp::lists_documents(list.catalogue, Json{{"cursor", "documents-none:"}}));
  list.add_service_with("memory", 1);
  CHECK(mcp::lists_documents(list.catalogue, nullptr));
}

TEST_CASE("all resources of the catalogue come first, then each service's, once and in order, on pages of any length") {
  for (const mcp::PageLimits limits :
       {mcp::PageLimits{1, kAnyBytes}, mcp::PageLimits{2, kAnyBytes}, mcp::PageLimits{3, kAnyBytes},
        mcp::PageLimits{5, kAnyBytes}, mcp::PageLimits{50, kAnyBytes}, mcp::PageLimits{50, 1}}) {
    INFO(limits.items << " entries, " << limits.bytes << " bytes");
    DocumentList list;
    list.add_resources(3);
    list.add_service_without("none");
    list.add_service_with("x", 5);
    list.add_service_with("empty", 0);
    list.add_service_with("y", 2);
    const auto pages = list.pages(limits);
    CHECK(all_of(pages) == std::vector<std::string>{"r0", "r1", "r2", "x0", "x1", "x2", "x3", "x4", "y0", "y1"});
    for (const auto& page : pages) CHECK(page.size() <= limits.items);
  }
}

TEST_CASE("services are asked for no more than is left of the page") {
  DocumentList list;
  list.add_resources(3);
  list.add_service_with("x", 5);
  const auto page = list.page(nullptr, {5, 1000});
  REQUIRE(list.asked.size() == 1);
  CHECK(list.asked[0].request.cursor.empty());
  CHECK(list.asked[0].request.items == 2);
  CHECK(list.asked[0].request.bytes < 1000);
  CHECK(page->at("resources").size() == 5);
  list.page({{"cursor", page->at("nextCursor")}}, {5, 1000});
  REQUIRE(list.asked.size() == 2);
  CHECK(list.asked[1].request.cursor == ":2");
  CHECK(list.asked[1].request.items == 5);
  CHECK(list.asked[1].request.bytes == 1000);
}

TEST_CASE("a page that the catalogue fills asks no service, and the next one begins with its documents") {
  DocumentList list;
  list.add_resources(3);
  list.add_service_with("x", 1);
  const auto page = list.page(nullptr, {3, kAnyBytes});
  CHECK(list.asked.empty());
  CHECK(page->at("resources").size() == 3);
  const auto next = list.page({{"cursor", page->at("nextCursor")}}, {3, kAnyBytes});
  CHECK(next->at("resources") == Json::array({{{"name", "x0"}}}));
  CHECK_FALSE(next->contains("nextCursor"));
}

TEST_CASE("a cursor that was never given out is refused, and no service asked") {
  DocumentList list;
  list.add_service_with("x", 5);
  list.add_service_without("none");
  for (const Json& cursor : {Json("documents-"), Json("documents-x"), Json("documents-y:1"), Json("documents-none:1"),
                             Json("documents-X:1"), Json("from-1"), Json("x"), Json(5)}) {
    INFO(cursor);
    CHECK_THROWS_AS(list.page({{"cursor", cursor}}, {5, kAnyBytes}), InvalidParams);
  }
  CHECK(list.asked.empty());
}

TEST_CASE("a page whose service fails has failed") {
  DocumentList list;
  list.add_resources(1);
  mcp::Service service;
  service.name = "x";
  service.documents.list = [](const Principal&, const mcp::ListRequest&, const mcp::DoneFunction& done) {
    done(nullptr, std::make_exception_ptr(RpcError(ErrorCode::kResourceNotFound, "gone")));
  };
  list.catalogue.services.emplace_back(std::move(service));
  CHECK(*list.page(nullptr, {5, kAnyBytes}) == Json{{"error", ErrorCode::kResourceNotFound}});
}

TEST_CASE("a page that comes late keeps its session until then, and a service that has gone meanwhile ends the list") {
  DocumentList list;
  list.add_service_with("x", 5);
  list.add_service_with("y", 5);
  list.is_waiting = true;
  const auto page = list.page(nullptr, {5, kAnyBytes});
  const std::weak_ptr<Session> weak = list.session;
  list.session.reset();
  CHECK_FALSE(weak.expired());
  list.catalogue.services.clear();
  REQUIRE(list.answers.size() == 1);
  list.answers[0]();
  CHECK(page->at("resources").size() == 5);
  CHECK_FALSE(page->contains("nextCursor"));
  list.answers.clear();
  CHECK(weak.expired());
}

TEST_CASE("the documents of one service are listed with its own cursors, so many as are asked for") {
  DocumentList list;
  list.add_service_with("x", 5);
  const auto& service = *list.catalogue.services[0];
  const auto page = [&](const Json& params) {
    Json told;
    mcp::list_documents_of(service, list.principal, params, {50, 900},
                           [&told](Json result, const std::exception_ptr&) { told = std::move(result); });
    return told;
  };
  CHECK(page(nullptr)["resources"].size() == 5);
  CHECK(list.asked.back().request.items == 50);
  CHECK(list.asked.back().request.bytes == 900);
  const Json first = page({{"limit", 2U}, {"cursor", nullptr}});
  CHECK(first["resources"].size() == 2);
  CHECK(page({{"cursor", first["nextCursor"]}, {"limit", nullptr}})["resources"][0]["name"] == "x2");
  CHECK(page({{"limit", 1000U}})["resources"].size() == 5);
  const auto asked = list.asked.size();
  for (const Json& limit : {Json(0U), Json(1001U), Json(-1), Json(1.5), Json("5"), Json::array({5}), Json(true),
                            Json(std::numeric_limits<std::uint64_t>::max())}) {
    INFO(limit);
    CHECK_THROWS_WITH(page({{"limit", limit}}), has_text("params.limit: "));
  }
  for (const Json& cursor : {Json(5), Json::array(), Json(false)}) {
    CHECK_THROWS_WITH(page({{"cursor", cursor}}), has_text("params.cursor: "));
  }
  CHECK(list.asked.size() == asked);
}

TEST_CASE("a service without documents lists none") {
  DocumentList list;
  list.add_service_without("none");
  Json told;
  mcp::list_documents_of(*list.catalogue.services[0], list.principal, {{"limit", "odd"}}, {50, 900},
                         [&told](Json result, const std::exception_ptr&) { told = std::move(result); });
  CHECK(told == Json{{"resources", Json::array()}});
}

TEST_CASE("a service is described with what the client may use of it, and so many documents") {
  DocumentList list;
  list.add_service_with("x", 5);
  mcp::Service service = *list.catalogue.services[0];
  for (const auto permission : {Permission::kCall, Permission::kAdmin}) {
    for (int at = 0; at < 60; ++at) {
      mcp::Tool tool;
      tool.name = "t" + std::to_string(at);
      tool.input_schema = Json{{"type", "object"}};
      tool.permission = permission;
      service.tools.emplace_back(std::move(tool));
    }
  }
  service.prompts.emplace_back(mcp::Prompt{"greet", "", "", {}, {}});
  const auto description = [&](const Principal& who, std::size_t documents) {
    Json told;
    mcp::describe_service(service, who, documents, [&told](Json result) { told = Json::parse(to_text(result)); });
    return told;
  };
  const Json all = description(list.principal, 3);
  CHECK(all["tools"].size() == 120);  // however many, there is one page
  CHECK(all["resources"].size() == 3);
  CHECK(all["prompts"] == Json::array({{{"name", "greet"}}}));

  service.documents.list = [](const Principal&, const mcp::ListRequest&, const mcp::DoneFunction& done) {
    done(nullptr, std::make_exception_ptr(RpcError(ErrorCode::kRuntimeUnavailable, "not now")));
  };
  const Principal user{"user", true, false};
  const Json some = description(user, 3);
  CHECK(some["tools"].size() == 60);
  CHECK(some["resources"] == Json::array());
  CHECK(some["prompts"].size() == 1);
}

TEST_CASE("a document's address belongs to the service whose scheme it begins with") {
  DocumentList list;
  list.add_service_without("none");
  list.add_service_with("x", 1);
  list.add_service_with("y", 1);
  REQUIRE(service_offering(list.catalogue, "y://1") != nullptr);
  CHECK((*service_offering(list.catalogue, "y://1"))->name == "y");
  CHECK((*service_offering(list.catalogue, "x://"))->name == "x");
  for (const char* const nobody : {"", "x:/", "X://1", "xy://1", "none://1"}) {
    CHECK(service_offering(list.catalogue, nobody) == nullptr);
  }
}

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
