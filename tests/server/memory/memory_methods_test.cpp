// The memory server's methods as the clients' documentation has them, over HTTP, TCP and MCP.
#include "server/memory/memory_server.hpp"
#include "support/catch.hpp"
#include "support/raw_socket.hpp"

#include <sys/stat.h>

#include <functional>
#include <set>
#include <string>

namespace rkllm_mcp::test {
namespace {

using Contents = std::vector<std::string>;

// One way to call a method: what comes back as the direct dialect would have it, {"result"} or {"error":{"code"}}.
struct Way {
  std::string name;
  std::function<Json(const std::string& method, const Json& params)> call;
};

// The three ways, to one server.
struct Ways {
  Ways()
      : server(memory_only(directory / "memory.db")),
        tcp(server.connect(Transport::kTcp)),
        mcp(server.connect(Transport::kWebSocket)),
        http(server.endpoint(Transport::kHttp)) {
    mcp.result("initialize", {{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}});
  }

  std::vector<Way> all() {
    return {{"tcp", [this](const auto& method, const Json& params) { return tcp.call(kPrefix + method, params); }},
            {"http",
             [this](const auto& method, const Json& params) {
               const Json message{{"jsonrpc", "2.0"}, {"id", 1}, {"method", kPrefix + method}, {"params", params}};
               return http.post("/jsonrpc", message.dump()).json();
             }},
            {"mcp", [this](const auto& method, const Json& params) {
               const Json answer = mcp.call("tools/call", {{"name", "memory_" + method}, {"arguments", params}});
               const Json& result = answer.at("result");
               if (!result.value("isError", false)) return Json{{"result", result["structuredContent"]}};
               Json error = Json::parse(result["content"][1]["text"].get<std::string>());
               error["message"] = result["content"][0]["text"];
               return Json{{"error", error}};
             }}};
  }

  TemporaryDirectory directory;
  LiveServer server;
  RpcClient tcp;
  RpcClient mcp;
  HttpClient http;
};

}  // namespace

TEST_CASE("a conversation is made, written, read, summarised, cleared and deleted, whichever way") {
  Ways ways;
  for (const Way& way : ways.all()) {
    INFO(way.name);
    const std::string id = "chat_" + way.name;
    const auto result = [&](const std::string& method, const Json& params) {
      return way.call(method, params).at("result");
    };
    CHECK(result("get_or_create", of_chat(id)) == Json{{"conversation_id", id}});
    CHECK(result("get_or_create", of_chat(id)) == Json{{"conversation_id", id}});
    const Json success{{"status", "success"}, {"conversation_id", id}};
    for (int n = 1; n <= 10; ++n) {
      CHECK(result("add_message", of_chat(id, {{"role", n % 2 == 1 ? "user" : "assistant"},
                                               {"content", "m" + std::to_string(n)}})) == success);
    }
    const Json context = result("get_context", of_chat(id, {{"max_messages", 20}}));
    REQUIRE(context["messages"].size() == 6);
    CHECK(context["messages"][0] == Json{{"role", "user"}, {"content", "m5"}});
    CHECK(result("get_context", of_chat(id, {{"max_messages", 2}}))["messages"].size() == 2);
    const Json all = result("get_all_messages", of_chat(id));
    REQUIRE(all["messages"].size() == 10);
    CHECK(all["messages"][9]["timestamp"].get<std::string>().ends_with("Z"));
    const Json old = result("get_old_messages", of_chat(id));
    CHECK(old["messages"].size() == 4);
    CHECK(old["total_count"] == 4);
    CHECK(old["messages"][0] == Json{{"role", "user"}, {"content", "m1"}});
    CHECK(result("get_summary", of_chat(id)) == Json{{"summary", ""}});
    CHECK(result("get_or_create_summary", of_chat(id, {{"old_messages", old["messages"]}, {"language", "vi"}})) ==
          Json{{"summary", ""}});
    CHECK(result("set_summary", of_chat(id, {{"summary", "Tóm tắt 1\n\nTóm tắt 2"}, {"compress", false}})) == success);
    CHECK(result("get_summary", of_chat(id)) == Json{{"summary", "Tóm tắt 1\n\nTóm tắt 2"}});
    CHECK(result("get_old_messages", of_chat(id)) == Json{{"messages", Json::array()}, {"total_count", 4}});
    CHECK(result("get_all_messages", of_chat(id))["messages"].size() == 10);
    CHECK(result("clear", of_chat(id)) == Json{{"status", "cleared"}, {"conversation_id", id}});
    CHECK(result("get_all_messages", of_chat(id))["messages"].empty());
    CHECK(result("delete", of_chat(id)) == Json{{"status", "deleted"}, {"conversation_id", id}});
  }
}

TEST_CASE("calls that differ harmlessly from the documentation are taken") {
  Ways ways;
  for (const Way& way : ways.all()) {
    INFO(way.name);
    const Json made = way.call("get_or_create", {{"conversation_id", nullptr}, {"more", 1}}).at("result");
    CHECK(made["conversation_id"].get<std::string>().starts_with("chat_"));
    CHECK(way.call("get_or_create", Json::object())["result"]["conversation_id"] != made["conversation_id"]);
    CHECK(way.call("get_context", of_chat("nobody"))["result"] == Json{{"messages", Json::array()}});
    CHECK(way.call("get_summary", of_chat("nobody"))["result"] == Json{{"summary", ""}});
    CHECK(way.call("get_old_messages", of_chat("nobody"))["result"]["total_count"] == 0);
  }
  const Json bare = ways.tcp.answer([&] {
    ways.tcp.send_text(R"({"jsonrpc":"2.0","id":777,"method":"memory-server/memory/get_or_create"})");
    return Json(777);
  }());
  CHECK(bare["result"].contains("conversation_id"));
}

TEST_CASE("calls that are wrong are refused with the path, and what does not exist is told") {
  Ways ways;
  struct Wrong {
    std::string method;
    Json params;
    std::string path;
  };
  const Json message{{"role", "user"}, {"content", "x"}};
  const std::vector<Wrong> all{
      {"add_message", of_chat("c", {{"role", "king"}, {"content", "x"}}), "params.role"},
      {"add_message", of_chat("c", {{"role", "user"}, {"content", 7}}), "params.content"},
      {"add_message", of_chat("c", {{"role", "user"}}), "params.content"},
      {"add_message", of_chat("c", {{"role", "user"}, {"content", std::string(1, '\0')}}), "params.content"},
      {"add_message", of_chat("c", {{"role", "user"}, {"content", "x"}, {"metadata", 1}}), "params.metadata"},
      {"add_message", of_chat("", message), "params.conversation_id"},
      {"add_message", of_chat(std::string(257, 'x'), message), "params.conversation_id"},
      {"add_message", message, "params.conversation_id"},
      {"get_context", of_chat("c", {{"max_messages", 0}}), "params.max_messages"},
      {"get_context", of_chat("c", {{"max_messages", "2"}}), "params.max_messages"},
      {"get_or_create", {{"conversation_id", 5}}, "params.conversation_id"},
      {"set_summary", of_chat("c"), "params.summary"},
      {"search", {{"query", "..."}}, "params.query"},
      {"list", {{"cursor", "x"}}, "params.cursor"},
      {"import", {{"lines", {{{"role", "user"}, {"content", "x"}}}}}, "params.lines[0]"},
  };
  for (const Way& way : ways.all()) {
    for (const Wrong& wrong : all) {
      INFO(way.name << " " << wrong.method << " " << wrong.params.dump().substr(0, 200));
      const Json error = way.call(wrong.method, wrong.params).at("error");
      CHECK(error["code"] == -32602);
      CHECK(error["data"]["path"] == wrong.path);
    }
    for (const char* const method : {"clear", "delete", "export"}) {
      CHECK(way.call(method, of_chat("nobody"))["error"]["code"] == -32001);
    }
  }
  CHECK(ways.tcp.call("memory-server/memory/forget")["error"]["code"] == -32601);
  CHECK(ways.tcp.call("memry-server/memory/clear")["error"]["data"]["servers"] == Json::array({"memory-server"}));
}

TEST_CASE("ids of 256 bytes, and contents of every kind, are kept exactly") {
  Ways ways;
  std::string id = "ế/?%# \n\"\\";
  id += std::string(256 - id.size(), 'x');
  Contents given{"", "Xin chào 👋🏽", "\x01\t\n\\\"", std::string(1'000'000, 'a') + "ế"};
  Contents all;
  for (const Way& way : ways.all()) {
    for (const auto& content : given) {
      way.call("add_message", of_chat(id, {{"role", "user"}, {"content", content}, {"metadata", {{"n", 1.5}}}}))
          .at("result");
      all.push_back(content);
    }
    const Json messages = way.call("get_all_messages", of_chat(id))["result"]["messages"];
    REQUIRE(messages.size() == all.size());
    for (std::size_t at = 0; at < all.size(); ++at) {
      CHECK((messages[at]["content"] == all[at]));
      CHECK(messages[at]["metadata"] == Json{{"n", 1.5}});
    }
  }
}

TEST_CASE("a history that is longer than one answer is given in pages") {
  const TemporaryDirectory directory;
  LiveServer server(memory_only(directory / "memory.db", {"limits.max_message_bytes=65536"}));
  RpcClient client(server.connect(Transport::kTcp));
  Contents given;
  for (int n = 0; n < 5; ++n) {
    given.push_back(std::to_string(n) + std::string(30'000, 'x'));
    client.result(kPrefix + "add_message", of_chat("c", {{"role", "user"}, {"content", given.back()}}));
  }
  const Json refused = client.call(kPrefix + "get_all_messages", of_chat("c"))["error"];
  CHECK(refused["code"] == 4006);
  CHECK_THAT(refused["message"].get<std::string>(), has_text("cursor"));
  Contents got;
  Json params = of_chat("c", {{"limit", 3}});
  while (true) {
    const Json page = client.result(kPrefix + "get_all_messages", params);
    for (const Json& each : page["messages"]) got.push_back(each["content"].get<std::string>());
    if (!page.contains("nextCursor")) break;
    params["cursor"] = page["nextCursor"];
  }
  CHECK(got == given);
}

TEST_CASE("conversations are resources: listed, read as JSON, and unknown ones an error") {
  Ways ways;
  ways.tcp.result(kPrefix + "add_message", of_chat("chat a", {{"role", "user"}, {"content", "it's \"quoted\""}}));
  ways.tcp.result(kPrefix + "set_summary", of_chat("chat a", {{"summary", "S"}}));
  const Json listed = ways.tcp.result("memory-server/resources/list")["resources"];
  REQUIRE(listed.size() == 1);
  CHECK(listed[0] == Json{{"uri", "memory://conversation/chat%20a"},
                          {"name", "Conversation chat a"},
                          {"description", "Conversation history for chat a"},
                          {"mimeType", "application/json"}});
  const Json read = ways.tcp.result("memory-server/resources/read", {{"uri", listed[0]["uri"]}})["contents"][0];
  CHECK(read["mimeType"] == "application/json");
  const Json document = Json::parse(read["text"].get<std::string>());
  CHECK(document["messages"][0]["content"] == "it's \"quoted\"");
  CHECK(document["messages"][0].contains("timestamp"));
  CHECK(document["summary"]["text"] == "S");
  CHECK(document["summary"].contains("updated_at"));
  const Json unknown = ways.tcp.call("memory-server/resources/read", {{"uri", "memory://conversation/x"}});
  CHECK(unknown["error"]["code"] == -32001);
  // Through MCP.
  const Json merged = ways.mcp.result("resources/list")["resources"];
  CHECK(merged.back()["uri"] == listed[0]["uri"]);
  CHECK(ways.mcp.result("resources/read", {{"uri", listed[0]["uri"]}})["contents"][0] == read);
  CHECK(ways.mcp.call("resources/read", {{"uri", "memory://conversation/x"}})["error"]["code"] == -32602);
  const Json templates = ways.mcp.result("resources/templates/list")["resourceTemplates"];
  CHECK(templates[0]["uriTemplate"] == "memory://conversation/{id}");
}

TEST_CASE("health, servers and capabilities are as documented, and the null id is answered with null") {
  Ways ways;
  ways.tcp.result(kPrefix + "get_or_create", of_chat("c"));
  const client::Endpoint place{client::Protocol::kHttp, "127.0.0.1",
                               ways.server.health()["transports"]["services"]["port"].get<std::uint16_t>(), "/"};
  HttpClient own(place);
  for (HttpClient* const http : {&ways.http, &own}) {
    const Json health = http->get("/health").json();
    CHECK(health["status"] == "healthy");
    CHECK(health["servers"] == Json::array({"memory-server"}));
    const Json servers = http->get("/servers").json()["servers"];
    REQUIRE(servers.size() == 1);
    CHECK(servers[0]["name"] == "memory-server");
    CHECK(servers[0]["capabilities"]["tools"] == Json::array());
    CHECK(servers[0]["capabilities"]["prompts"] == Json::array());
    CHECK(servers[0]["capabilities"]["resources"][0]["uri"] == "memory://conversation/c");
    const auto capabilities = http->get("/servers/memory-server/capabilities");
    CHECK(capabilities.json() == Json{{"server_name", "memory-server"}, {"capabilities", servers[0]["capabilities"]}});
    CHECK(http->get("/servers/nobody/capabilities").status == 404);
    const auto null_id =
        http->post("/jsonrpc", R"({"jsonrpc":"2.0","id":null,"method":"memory-server/tools/list","params":{}})");
    CHECK(null_id.status == 200);
    CHECK(null_id.json() == Json::parse(R"({"jsonrpc":"2.0","id":null,"result":{"tools":[]}})"));
    const auto unknown = http->post("/jsonrpc", R"({"jsonrpc":"2.0","id":1,"method":"x-server/y","params":{}})");
    CHECK(unknown.status == 200);
    CHECK(unknown.json()["error"]["code"] == -32601);
  }
}

TEST_CASE("search, list and rename") {
  Ways ways;
  RpcClient& client = ways.tcp;
  client.result(kPrefix + "add_message", of_chat("a", {{"role", "user"}, {"content", "Tôi bị đau răng"}}));
  client.result(kPrefix + "add_message", of_chat("b", {{"role", "user"}, {"content", "dau rang"}}));
  CHECK(client.result(kPrefix + "search", {{"query", "dau rang"}})["hits"].size() == 2);
  const Json exact = client.result(kPrefix + "search", {{"query", "đau răng"}, {"fold_diacritics", false}});
  REQUIRE(exact["hits"].size() == 1);
  CHECK(exact["hits"][0]["conversation_id"] == "a");
  const Json page = client.result(kPrefix + "search", {{"query", "rang"}, {"limit", 1}});
  CHECK(page["hits"][0]["conversation_id"] == "b");
  CHECK(client.result(kPrefix + "search", {{"query", "rang"}, {"cursor", page["nextCursor"]}})["hits"].size() == 1);
  client.result(kPrefix + "rename", of_chat("a", {{"title", "Răng"}}));
  const Json list = client.result(kPrefix + "list", {{"limit", 1}});
  CHECK(list["conversations"][0]["conversation_id"] == "b");
  const Json rest = client.result(kPrefix + "list", {{"cursor", list["nextCursor"]}});
  CHECK(rest["conversations"][0]["title"] == "Răng");
  CHECK(rest["conversations"][0]["messages"] == 1);
  CHECK_FALSE(rest.contains("nextCursor"));
}

TEST_CASE("a conversation is exported and imported, all or nothing") {
  Ways ways;
  RpcClient& client = ways.tcp;
  for (int n = 0; n < 5; ++n) {
    client.result(kPrefix + "add_message", of_chat("a", {{"role", "user"}, {"content", std::to_string(n)}}));
  }
  Json lines = Json::array();
  Json params = of_chat("a", {{"limit", 2}});
  while (true) {
    const Json part = client.result(kPrefix + "export", params);
    for (const Json& line : part["lines"]) lines.push_back(line);
    if (!part.contains("nextCursor")) break;
    params["cursor"] = part["nextCursor"];
  }
  REQUIRE(lines.size() == 6);
  CHECK(client.call(kPrefix + "import", {{"lines", lines}})["error"]["code"] == -32602);
  lines[0]["conversation"] = "b";
  Json broken = lines;
  broken[4]["role"] = "king";
  const Json refused = client.call(kPrefix + "import", {{"lines", broken}})["error"];
  CHECK(refused["data"]["path"] == "params.lines[4].role");
  CHECK(contents_there(client, "b").empty());
  client.result(kPrefix + "import", {{"lines", Json::array({lines[0], lines[1]})}, {"import", "i"}, {"more", true}});
  CHECK(contents_there(client, "b").empty());
  lines.erase(0);
  lines.erase(0);
  const Json done = client.result(kPrefix + "import", {{"lines", lines}, {"import", "i"}});
  CHECK(done == Json{{"status", "imported"}, {"conversations", 1}, {"messages", 5}});
  CHECK(contents_there(client, "b") == Contents{"0", "1", "2", "3", "4"});
}

TEST_CASE("who watches a conversation hears that it has changed, once it has") {
  Ways ways;
  ways.mcp.send_text(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  ways.mcp.result("resources/subscribe", {{"uri", "memory://conversation/watched"}});
  ways.tcp.result(kPrefix + "add_message", of_chat("watched", {{"role", "user"}, {"content", "x"}}));
  std::set<std::string> heard;
  while (heard.size() < 2) heard.insert(ways.mcp.receive_or_throw()["method"].get<std::string>());
  CHECK(heard == std::set<std::string>{"notifications/resources/updated", "notifications/resources/list_changed"});
}

TEST_CASE("each token's name has conversations of its own, which admins may read, and which outlive the token") {
  const TemporaryDirectory directory;
  const std::string tokens = directory / "tokens";
  const std::string phone = "the-token-of-the-phone";
  const auto write_tokens = [&](const std::string& laptop) {
    write_file(tokens, "laptop " + laptop + " call\nphone " + phone + " call\nboss the-token-of-the-boss\n");
    REQUIRE(chmod(tokens.c_str(), 0600) == 0);
  };
  const auto client_of = [](LiveServer& server, const std::string& token) {
    client::Endpoint endpoint = server.endpoint(Transport::kTcp);
    endpoint.token = token;
    return RpcClient(client::connect(endpoint, std::chrono::steady_clock::now() + Process::kPatience));
  };
  write_tokens("the-first-token-of-the-laptop");
  const auto options = memory_only(directory / "memory.db", {"auth.tokens=" + tokens});
  const Json message{{"role", "user"}, {"content", "mine"}};
  {
    LiveServer server(options);
    RpcClient laptop = client_of(server, "the-first-token-of-the-laptop");
    laptop.result(kPrefix + "add_message", of_chat("c", message));
    RpcClient other = client_of(server, phone);
    CHECK(contents_there(other, "c").empty());
    CHECK(other.result(kPrefix + "search", {{"query", "mine"}})["hits"].empty());
    CHECK(other.result("memory-server/resources/list")["resources"].empty());
    CHECK(other.call(kPrefix + "get_all_messages", of_chat("c", {{"space", "laptop"}}))["error"]["code"] == 4007);
    const Json uri{{"uri", "memory://conversation/c?space=laptop"}};
    CHECK(other.call("memory-server/resources/read", uri)["error"]["code"] == -32001);
    CHECK(other.call(kPrefix + "delete", of_chat("c"))["error"]["code"] == -32001);
    RpcClient boss = client_of(server, "the-token-of-the-boss");
    CHECK(boss.result(kPrefix + "get_all_messages", of_chat("c", {{"space", "laptop"}}))["messages"].size() == 1);
    CHECK(boss.result("memory-server/resources/read", uri)["contents"].size() == 1);
    // Others' changes are not told of: what comes first is what the watcher itself has done.
    other.result("initialize", {{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}});
    other.result("resources/subscribe", {{"uri", "memory://conversation/c"}});
    laptop.result(kPrefix + "rename", of_chat("c", {{"title", "changed"}}));
    other.result(kPrefix + "add_message", of_chat("c", message));
    const std::string told = other.receive_or_throw().dump();
    CHECK(contents_there(other, "c") == Contents{"mine"});
    CHECK_THAT(told, has_text("notifications/"));
  }
  write_tokens("the-next-token-of-the-laptop");
  LiveServer server(options);
  RpcClient laptop = client_of(server, "the-next-token-of-the-laptop");
  CHECK(contents_there(laptop, "c") == Contents{"mine"});
}

TEST_CASE("a full store refuses writes and says which setting, while reading and deleting go on") {
  const TemporaryDirectory directory;
  LiveServer server(memory_only(directory / "memory.db", {"memory.max_bytes=1000000"}));
  RpcClient client(server.connect(Transport::kTcp));
  Json refused;
  for (int n = 0; refused.is_null() && n < 100; ++n) {
    const Json answer =
        client.call(kPrefix + "add_message", of_chat("c", {{"role", "user"}, {"content", std::string(50'000, 'x')}}));
    if (answer.contains("error")) refused = answer["error"];
  }
  REQUIRE(refused.is_object());
  CHECK(refused["code"] == 4004);
  CHECK(refused["data"]["setting"] == "memory.max_bytes");
  CHECK_FALSE(contents_there(client, "c").empty());
  client.result(kPrefix + "delete", of_chat("c"));
  while (client.call(kPrefix + "add_message", of_chat("d", {{"role", "user"}, {"content", "x"}})).contains("error")) {
  }
}

TEST_CASE("a full store that may forget removes what has not changed for longest") {
  const TemporaryDirectory directory;
  LiveServer server(memory_only(directory / "memory.db", {"memory.max_bytes=1000000", "memory.when_full=forget"}));
  RpcClient client(server.connect(Transport::kTcp));
  for (int n = 0; n < 40; ++n) {
    client.result(kPrefix + "add_message",
                  of_chat("c" + std::to_string(n), {{"role", "user"}, {"content", std::string(50'000, 'x')}}));
  }
  CHECK(contents_there(client, "c0").empty());
  CHECK(contents_there(client, "c39").size() == 1);
}

TEST_CASE("a file that is no store is told of, and left alone, and the server goes on") {
  const TemporaryDirectory directory;
  write_file(directory / "memory.db", "my notes");
  LiveServer server(memory_only(directory / "memory.db"));
  RpcClient client(server.connect(Transport::kTcp));
  const Json error = client.call(kPrefix + "get_or_create")["error"];
  CHECK(error["code"] == 4005);
  CHECK_THAT(error["message"].get<std::string>(), has_text("is no database"));
  CHECK(server.health()["status"] == "degraded");
  CHECK(read_file(directory / "memory.db") == "my notes");
}

}  // namespace rkllm_mcp::test
