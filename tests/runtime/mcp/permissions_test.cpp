// What a client without the permission for it gets to know of resources and prompts: nothing.
#include "auth/access_tokens.hpp"
#include "mcp/lists/lists.hpp"
#include "mcp/lists/resources.hpp"
#include "runtime/fake_client.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <memory>
#include <string>
#include <string_view>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// One of each kind for everybody who may call, and one for admins.
mcp::Catalogue catalogue_for_both() {
  mcp::Catalogue catalogue;
  const auto values = [](std::string_view, const Json&) { return std::vector<std::string>{"value"}; };
  for (const auto permission : {Permission::kCall, Permission::kAdmin}) {
    const std::string name = permission == Permission::kCall ? "open" : "secret";
    mcp::Resource resource{"a://" + name, name, "", "", "", [] { return mcp::ResourceText{"text"}; }, 4};
    resource.permission = permission;
    catalogue.resources.push_back(resource);
    const auto read = [name](std::string_view uri) -> std::optional<mcp::ResourceText> {
      if (uri != "a://" + name + "/1") return std::nullopt;
      return mcp::ResourceText{"text"};
    };
    mcp::ResourceTemplate each{"a://" + name + "/{n}", name, "", "", "", read, {{"n", values}}};
    each.permission = permission;
    catalogue.templates.push_back(each);
    mcp::Prompt prompt{name, "", "", {{"n", "", "", false, values}}, [](mcp::Invocation&) {}};
    prompt.permission = permission;
    catalogue.add(std::move(prompt));
  }
  return catalogue;
}

struct Asking {
  Asking(std::string name, bool may_admin) : principal{std::move(name), true, may_admin} {
    session.principal = &principal;
  }
  // The error's code, 0 if it may be read.
  int reading(const std::string& uri) const {
    try {
      mcp::read_resource(catalogue, session, uri);
      return 0;
    } catch (const RpcError& error) {
      text = error.what();
      return static_cast<int>(error.code());
    }
  }

  const mcp::Catalogue catalogue = catalogue_for_both();
  const Principal principal;
  Session session{std::weak_ptr<RequestTable>()};
  mutable std::string text;  // of the last error
};

}  // namespace

TEST_CASE("lists have the resources, templates and prompts that the client may use") {
  const bool may_admin = GENERATE(false, true);
  const Asking client("client", may_admin);
  const std::size_t count = may_admin ? 2 : 1;
  const mcp::PageLimits limits{50, 100'000};
  const Json none = Json::object();
  CHECK(list_resources(client.catalogue, client.session, none, limits)["resources"].size() == count);
  CHECK(list_resource_templates(client.catalogue, client.session, none, limits)["resourceTemplates"].size() == count);
  CHECK(list_prompts(client.catalogue, client.session, none, limits)["prompts"].size() == count);
}

TEST_CASE("who may not read a resource is neither given it nor told of it") {
  const Asking user("user", false);
  const Asking admin("admin", true);
  CHECK(admin.reading("a://secret") == 0);
  CHECK(admin.reading("a://secret/1") == 0);
  CHECK(user.reading("a://open") == 0);
  CHECK(user.reading("a://secret") == 4007);
  CHECK(user.reading("a://secret/1") == -32602);
  CHECK(user.reading("a://secreT") == -32602);
  CHECK_THAT(user.text, !has_text("did you mean"));
  CHECK(admin.reading("a://secreT") == -32602);
  CHECK_THAT(admin.text, has_text("did you mean"));
  const auto freshness = mcp::read_resource(admin.catalogue, admin.session, "a://secret").freshness;
  CHECK(freshness.scope == mcp::Freshness::Scope::kPrivate);
}

TEST_CASE("values are completed for who may use them") {
  const bool may_admin = GENERATE(false, true);
  const Asking client("client", may_admin);
  const Json argument{{"name", "n"}, {"value", ""}};
  for (const Json& ref :
       {Json{{"type", "ref/prompt"}, {"name", "secret"}}, Json{{"type", "ref/resource"}, {"uri", "a://secret/{n}"}}}) {
    const Json completion = complete(client.catalogue, client.session, {{"ref", ref}, {"argument", argument}});
    CHECK(completion["completion"]["values"].size() == (may_admin ? 1 : 0));
  }
}

TEST_CASE("each list may be kept by who has asked for it") {
  Client client;
  for (const char* const method : {"tools/list", "resources/list", "resources/templates/list", "prompts/list"}) {
    CHECK(only(client.say(call("1", method, stateless(Json::object()))))["result"]["cacheScope"] == "private");
  }
  CHECK(only(client.say(call("2", "server/discover", stateless(Json::object()))))["result"]["cacheScope"] == "public");
}
