// POST /api/pull and DELETE /api/delete of a running server, as clients of Ollama use them.
#include "fake_hub.hpp"
#include "support/catch.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp::test;
using rkllm_mcp::Json;

namespace {

constexpr const char* kTiny = "hf.co/acme/tiny";

// A server whose models come from a hub of our own.
class Serving {
 public:
  explicit Serving(std::vector<std::string> more = {}) {
    LiveServer::Options options;
    options.set = {"runtime.model_hub=" + hub.url(), "runtime.model_dirs=" + folder()};
    options.set.insert(options.set.end(), more.begin(), more.end());
    options.env = {{"no_proxy", "*"}};
    server_ = std::make_unique<LiveServer>(options);
  }

  LiveServer& server() { return *server_; }
  HttpClient client() const { return HttpClient(server_->endpoint(Transport::kHttp)); }
  std::string folder() const { return directory_ / "models"; }
  std::string path_of(const std::string& name) const { return folder() + "/" + name; }

  HttpAnswer pull(const Json& body) const { return client().post("/api/pull", body.dump()); }
  HttpAnswer remove(const std::string& name) const {
    return client().remove("/api/delete", Json{{"model", name}}.dump());
  }
  std::vector<std::string> listed() const {
    std::vector<std::string> names;
    const Json models = client().get("/api/tags").json()["models"];
    for (const Json& each : models) names.push_back(each["name"]);
    return names;
  }

  FakeHub hub;

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<LiveServer> server_;
};

std::vector<Json> lines_of(const std::string& body) {
  std::vector<Json> lines;
  for (std::size_t at = 0; at < body.size();) {
    const auto end = body.find('\n', at);
    REQUIRE(end != std::string::npos);
    lines.push_back(Json::parse(body.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

// A pull whose client the test may take away.
std::unique_ptr<RawSocket> begin_pull(LiveServer& server, const std::string& source) {
  auto socket = std::make_unique<RawSocket>(server.port(Transport::kHttp));
  const std::string body = Json{{"model", source}}.dump();
  socket->send("POST /api/pull HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
               std::to_string(body.size()) + "\r\n\r\n" + body);
  return socket;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a model is pulled over HTTP with Ollama's lines, is listed, answers, and is deleted") {
  Serving serving;
  serving.server().await_runtime("ready");
  serving.hub.files["tiny.rkllm"] = read_file(shipped_model("fast"));
  const std::string bytes = serving.hub.files["tiny.rkllm"];
  const std::string sum = rkllm_mcp::in_hexadecimal(rkllm_mcp::sha256(bytes));
  const HttpAnswer answer = serving.pull({{"model", kTiny}});
  CHECK(answer.status == 200);
  CHECK(answer.headers.at("Content-Type") == "application/x-ndjson");
  const auto lines = lines_of(answer.body);
  REQUIRE(lines.size() >= 5);
  CHECK(lines.front() == Json{{"status", "pulling manifest"}});
  const Json whole{{"status", "pulling " + sum.substr(0, 12)},
                   {"digest", "sha256:" + sum},
                   {"total", bytes.size()},
                   {"completed", bytes.size()}};
  CHECK(lines[lines.size() - 4] == whole);
  CHECK(lines[lines.size() - 3] == Json{{"status", "verifying sha256 digest"}});
  CHECK(lines[lines.size() - 2] == Json{{"status", "writing manifest"}});
  CHECK(lines.back() == Json{{"status", "success"},
                             {"rkllm",
                              {{"model", "tiny"},
                               {"path", serving.path_of("tiny.rkllm")},
                               {"bytes", bytes.size()},
                               {"sha256", sum},
                               {"verified", true},
                               {"was_there", false}}}});
  CHECK(read_file(serving.path_of("tiny.rkllm")) == bytes);
  CHECK(serving.listed() == Names{"tiny"});

  HttpClient client = serving.client();
  CHECK(client.post("/api/generate", R"({"model":"tiny"})").status == 200);  // loads it
  const HttpAnswer loaded = serving.remove("tiny");
  CHECK(loaded.status == 400);
  CHECK_THAT(loaded.json()["error"], has_text("tiny is loaded: unload it first"));
  CHECK(std::filesystem::exists(serving.path_of("tiny.rkllm")));
  CHECK(client.post("/api/generate", R"({"model":"tiny","keep_alive":0})").status == 200);

  const HttpAnswer deleted = serving.remove("tiny:latest");
  INFO(deleted.body);
  CHECK(deleted.status == 200);
  CHECK(deleted.body.empty());
  CHECK_FALSE(std::filesystem::exists(serving.path_of("tiny.rkllm")));
  CHECK(serving.listed().empty());
  CHECK(serving.remove("tiny").status == 404);
}

TEST_CASE("which of several files is taken, and that one is not for this board, are lines of their own") {
  Serving serving;
  serving.hub.files = {{"huge.rkllm", "a model"}, {"tiny.rkllm", "a model"}};
  serving.hub.claimed_bytes["huge.rkllm"] = std::int64_t{1} << 60;
  const auto remarks_in = [](const HttpAnswer& answer) {
    std::vector<std::string> remarks;
    for (const Json& line : lines_of(answer.body)) {
      if (!line.contains("rkllm") || line["status"] == "success") continue;
      CHECK(line == Json{{"status", line["status"]}, {"rkllm", {{"remark", line["status"]}}}});
      remarks.push_back(line["status"]);
    }
    return remarks;
  };
  const auto chosen = remarks_in(serving.pull({{"model", kTiny}}));
  REQUIRE(chosen.size() == 4);
  CHECK(chosen[0] == "acme/tiny has 2 models:");
  CHECK_THAT(chosen[1], has_text("larger than the memory"));
  CHECK_THAT(chosen[2], has_text("* tiny.rkllm, 7 bytes"));
  const auto warned = remarks_in(serving.pull({{"model", "hf.co/acme/tiny:huge.rkllm"}}));
  REQUIRE(warned.size() == 1);
  CHECK_THAT(warned[0], has_text("warning: huge.rkllm is larger than the memory"));
  const Json last = serving.pull({{"model", kTiny}, {"stream", false}}).json();
  CHECK_THAT(last["rkllm"]["remark"].get<std::string>(), has_text("acme/tiny has 2 models:\n"));
}

TEST_CASE("who joins a pull is told what was said before, and each of it once") {
  Serving serving;
  serving.hub.files = {{"huge.rkllm", "a model"}, {"tiny.rkllm", std::string(100'000, 'x')}};
  serving.hub.claimed_bytes["huge.rkllm"] = std::int64_t{1} << 60;
  std::promise<void> is_over;
  serving.hub.before_second_half = [done = is_over.get_future().share()] { done.wait(); };
  auto first = begin_pull(serving.server(), kTiny);
  const std::string of_first = first->receive_until("\"completed\"");
  auto joined = begin_pull(serving.server(), kTiny);
  const std::string of_joined = joined->receive_until("To have another");
  CHECK_THAT(of_joined, has_text("acme/tiny has 2 models:") && !has_text("\"completed\""));
  is_over.set_value();
  const auto count_in = [](const std::string& text) {
    constexpr std::string_view kOnce = "{\"status\":\"acme/tiny has 2 models:\"";
    std::size_t count = 0;
    for (auto at = text.find(kOnce); at != std::string::npos; at = text.find(kOnce, at + 1)) ++count;
    return count;
  };
  CHECK(count_in(of_first + first->receive_until("\"success\"")) == 1);
  CHECK(count_in(of_joined + joined->receive_until("\"success\"")) == 1);
}

TEST_CASE("without a stream only the last line is sent") {
  Serving serving;
  serving.hub.files["tiny.rkllm"] = "a model";
  const HttpAnswer answer = serving.pull({{"name", kTiny}, {"stream", false}, {"insecure", true}});
  CHECK(answer.status == 200);
  CHECK(answer.headers.at("Content-Type") == "application/json");
  CHECK(answer.headers.at("x-rkllm-ignored") == "insecure");
  CHECK(answer.json()["status"] == "success");
  CHECK(answer.json()["rkllm"]["was_there"] == false);
  // What is there already is not fetched once more.
  CHECK(lines_of(serving.pull({{"model", kTiny}}).body).back()["rkllm"]["was_there"] == true);
  CHECK(serving.hub.heads_of_files().size() == 1);
}

TEST_CASE("a pull that fails says why, as the last line or as an error") {
  Serving serving;
  serving.hub.files["tiny.rkllm"] = "a model";
  serving.hub.claimed_sha256["tiny.rkllm"] = std::string(64, 'a');
  const auto lines = lines_of(serving.pull({{"model", kTiny}}).body);
  CHECK_THAT(lines.back()["error"], has_text("SHA-256") && has_text(std::string(64, 'a')));
  CHECK(serving.pull({{"model", kTiny}, {"stream", false}}).status == 500);
  CHECK(std::filesystem::is_empty(serving.folder()));

  CHECK_THAT(lines_of(serving.pull({{"model", "hf.co/acme/other"}}).body).back()["error"],
             has_text("no repository acme/other"));
  CHECK(serving.pull({{"model", "hf.co/acme/other"}, {"stream", false}}).status == 502);
  const HttpAnswer nothing = serving.pull({{"model", "qwen"}});
  CHECK(nothing.status == 400);
  CHECK_THAT(nothing.json()["error"], has_text("hf.co/OWNER/NAME"));
  CHECK(serving.pull(Json::object()).status == 400);
}

TEST_CASE("a pull ends with its client, and the next one goes on from there") {
  Serving serving;
  serving.hub.files["tiny.rkllm"] = std::string(4'000'000, 'x');
  std::promise<void> has_gone;  // until then the network is silent
  serving.hub.before_second_half = [done = has_gone.get_future().share()] { done.wait(); };
  auto socket = begin_pull(serving.server(), kTiny);
  socket->receive_until("\"completed\"");
  socket->close();
  // It has let go of the file although the hub says nothing; whoever asks for it now goes on with it.
  auto next = begin_pull(serving.server(), kTiny);
  serving.hub.await_file_requests(2);
  has_gone.set_value();
  CHECK_THAT(next->receive_until("\"success\""), has_text("verifying sha256 digest"));
  CHECK_THAT(serving.hub.heads_of_files()[1], has_text("Range: bytes="));
  CHECK(read_file(serving.path_of("tiny.rkllm")) == serving.hub.files["tiny.rkllm"]);
}

TEST_CASE("who asks for a model that is being pulled waits for the same pull, and a third one at once is too many") {
  Serving serving;
  serving.hub.files = {{"a.rkllm", std::string(100'000, 'a')}, {"b.rkllm", "b"}, {"c.rkllm", "c"}};
  std::promise<void> is_over;
  serving.hub.before_second_half = [done = is_over.get_future().share()] { done.wait(); };
  auto first = begin_pull(serving.server(), "hf.co/acme/tiny:a.rkllm");
  auto other = begin_pull(serving.server(), "hf.co/acme/tiny:b.rkllm");
  serving.hub.await_file_requests(2);
  auto same = begin_pull(serving.server(), "hf.co/acme/tiny:a.rkllm");
  same->receive_until("pulling manifest");
  const HttpAnswer third = serving.pull({{"model", "hf.co/acme/tiny:c.rkllm"}});
  CHECK(third.status == 503);
  CHECK_THAT(third.json()["error"], has_text("2 models are being pulled already"));
  CHECK(third.headers.contains("Retry-After"));
  is_over.set_value();
  for (RawSocket* each : {first.get(), other.get(), same.get()}) each->receive_until("\"success\"");
  CHECK(serving.hub.heads_of_files().size() == 2);
  CHECK(serving.pull({{"model", "hf.co/acme/tiny:c.rkllm"}}).status == 200);
  CHECK(serving.listed() == Names{"a", "b", "c"});
}

TEST_CASE("a server that ends does not wait for a silent hub") {
  Serving serving;
  serving.hub.files["tiny.rkllm"] = "a model";
  std::promise<void> is_over;
  serving.hub.before_second_half = [done = is_over.get_future().share()] { done.wait(); };
  auto socket = begin_pull(serving.server(), kTiny);
  serving.hub.await_file_requests(1);
  serving.server().process().signal(SIGTERM);
  socket->receive_until("{\"error\":\"the server is ending\"}\n");
  CHECK(serving.server().process().wait() == 0);
  is_over.set_value();
}

TEST_CASE("pulling and deleting take the permission admin") {
  TemporaryDirectory directory;
  const std::string tokens = directory / "tokens";
  write_file(tokens, "boss  token-of-the-boss-of-all  call,admin\nguest  token-of-a-guest-who-asks  call\n");
  REQUIRE(::chmod(tokens.c_str(), 0600) == 0);
  Serving serving({"auth.tokens=" + tokens});
  serving.hub.files["tiny.rkllm"] = "a model";
  HttpClient client = serving.client();
  CHECK(client.post("/api/pull", Json{{"model", kTiny}}.dump()).status == 401);
  client.carry_header("Authorization", "Bearer token-of-a-guest-who-asks");
  const HttpAnswer refused = client.post("/api/pull", Json{{"model", kTiny}}.dump());
  CHECK(refused.status == 403);
  CHECK_THAT(refused.json()["error"], has_text("permission admin"));
  CHECK(client.remove("/api/delete", R"({"model":"tiny"})").status == 403);
  client.carry_header("Authorization", "Bearer token-of-the-boss-of-all");
  CHECK(client.post("/api/pull", Json{{"model", kTiny}}.dump()).status == 200);
  CHECK(client.remove("/api/delete", R"({"name":"tiny"})").status == 200);
}

TEST_CASE("only files of the server's folders are deleted, by their own names") {
  Serving serving({"models=" + Json{{"chosen", {{"param", {{"model_path", shipped_model("fast")}}}}}}.dump(),
                   "chat.aliases=" + Json{{"gpt", "tiny"}}.dump(), "chat.any_model=tiny"});
  serving.hub.files["tiny.rkllm"] = "a model";
  REQUIRE(serving.pull({{"model", kTiny}}).status == 200);
  const HttpAnswer preset = serving.remove("chosen");
  CHECK(preset.status == 400);
  CHECK_THAT(preset.json()["error"], has_text("is a preset of the settings"));
  const HttpAnswer alias = serving.remove("gpt");
  CHECK(alias.status == 400);
  CHECK_THAT(alias.json()["error"], has_text("another name of tiny"));
  CHECK(serving.remove("nobody").status == 404);
  CHECK(serving.remove(shipped_model("fast")).status == 404);
  CHECK(serving.client().post("/api/delete", R"({"model":"tiny"})").status == 404);
  CHECK(std::filesystem::exists(serving.path_of("tiny.rkllm")));
}

TEST_CASE("several models are deleted together, or none of them") {
  Serving serving;
  serving.hub.files["tiny.rkllm"] = "a model";
  REQUIRE(serving.pull({{"model", kTiny}}).status == 200);
  write_file(serving.path_of("half.rkllm.part"), "a beginning");
  HttpClient client = serving.client();
  const HttpAnswer wrong = client.remove("/api/delete", R"({"models":["half","tiny","nobody"]})");
  CHECK(wrong.status == 404);
  CHECK_THAT(wrong.json()["error"], has_text("'nobody'"));
  CHECK(std::filesystem::exists(serving.path_of("tiny.rkllm")));
  CHECK(std::filesystem::exists(serving.path_of("half.rkllm.part")));
  for (const char* const body :
       {R"({"models":[]})", R"({"models":"tiny"})", R"({"models":[1]})", R"({"models":["tiny"],"model":"half"})"}) {
    CHECK(client.remove("/api/delete", body).status == 400);
  }
  CHECK(client.remove("/api/delete", R"({"models":["half","tiny","half.rkllm","tiny"]})").status == 200);
  CHECK(std::filesystem::is_empty(serving.folder()));
}

TEST_CASE("without any setting models are pulled into the folder that need not be set, and are there at once") {
  FakeHub hub;
  hub.files["tiny.rkllm"] = "a model";
  LiveServer server({.set = {"runtime.model_dirs=[]", "runtime.model_hub=" + hub.url()}, .env = {{"no_proxy", "*"}}});
  HttpClient client(server.endpoint(Transport::kHttp));
  CHECK(client.get("/v1/models").json()["data"].empty());
  CHECK(client.post("/api/pull", Json{{"model", kTiny}}.dump()).status == 200);
  const std::string folder = server.directory() / "data/rkllm-mcp/models";
  CHECK(std::filesystem::exists(folder + "/tiny.rkllm"));
  const Json models = client.get("/v1/models").json()["data"];
  REQUIRE(models.size() == 1);
  CHECK(models[0]["id"] == "tiny");
  CHECK(client.remove("/api/delete", R"({"model":"tiny"})").status == 200);
  CHECK(std::filesystem::is_empty(folder));
  for (const auto* path : {"/api/push", "/api/create", "/api/copy"}) CHECK(client.post(path, "{}").status == 400);
}

TEST_CASE("what an unfinished pull has left is deleted by the model's name") {
  Serving serving;
  std::filesystem::create_directories(serving.folder());
  write_file(serving.path_of("tiny.rkllm.part"), "a beginning");
  CHECK(serving.remove("other").status == 404);
  CHECK(serving.remove("tiny").status == 200);
  CHECK(std::filesystem::is_empty(serving.folder()));
}
