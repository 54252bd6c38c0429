// Models by name, as the commands for people take and print them, of a real server.
#include "support/catch.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <rkllm_mcp/json.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp::test;
using rkllm_mcp::Json;

namespace {

// Its models are "another" and "beta", in a folder that only its own settings name; whoever uses it has other settings.
class NamingServer {
 public:
  explicit NamingServer(std::vector<std::string> more = {}) : server_(options(std::move(more))) {
    write_file(home_ / "settings.json",
               Json{{"runtime", {{"model_dirs", {home_.path()}}}}, {"http", {{"port", 1}}}}.dump());
    write_file(home_ / "mine.rkllm", "weights");
  }

  EndedProcess run(std::vector<std::string> args) const {
    args.insert(args.begin(), kProgram);
    args.insert(args.end(), {"--settings", home_ / "settings.json"});
    return run_to_end({.args = std::move(args),
                       .env = {{"HOME", home_.path()}},
                       .unset = {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "STATE_DIRECTORY", "RKLLM_MCP_SETTINGS"},
                       .directory = home_.path(),
                       .input = Process::Options::Input::kNull});
  }
  // With --to, as HTTP.
  EndedProcess command(std::vector<std::string> args) const {
    args.insert(args.end(), {"--to", "http://127.0.0.1:" + std::to_string(server_.port(Transport::kHttp))});
    return run(std::move(args));
  }
  Json report(std::vector<std::string> args) const {
    args.emplace_back("--json");
    const auto finished = command(std::move(args));
    INFO(finished.err);
    REQUIRE(finished.status == 0);
    return Json::parse(finished.out);
  }
  std::vector<std::string> loaded() const {
    std::vector<std::string> names;
    const Json loaded = report({"ps"});
    for (const Json& each : loaded) names.push_back(each["name"]);
    return names;
  }
  Json get(const std::string& path) const { return HttpClient(server_.endpoint(Transport::kHttp)).get(path).json(); }
  // The facts of a model that only this server knows.
  Json facts(const std::string& name) const { return get("/v1/models/" + name)["rkllm"]; }
  std::string port() const { return std::to_string(server_.port(Transport::kHttp)); }
  std::string model(const std::string& name) const { return models_ / (name + ".json"); }
  // A file that may be loaded, too deep in the folder to be found by name.
  std::string nameless(const std::string& name) const {
    const std::string folder = models_ / "a/b/c/d";
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(shipped_model("fast"), folder + "/" + name + ".json");
    return folder + "/" + name + ".json";
  }

 private:
  LiveServer::Options options(std::vector<std::string> more) const {
    for (const char* const name : {"another", "beta"}) std::filesystem::copy_file(shipped_model("fast"), model(name));
    more.push_back("runtime.model_dirs=" + models_.path());
    return {.set = std::move(more)};
  }

  TemporaryDirectory home_;
  TemporaryDirectory models_;
  LiveServer server_;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("load says what the runtime logged last, where the model has taken its worker with it") {
  const NamingServer server;
  const std::string path = server.nameless("large");
  Json model = Json::parse(read_file(path));
  model["npu_memory_mb"] = 5000;
  write_file(path, model.dump());
  const auto finished = server.command({"load", path});
  CHECK(finished.status == 1);
  CHECK_THAT(finished.err, has_text("the runtime's last word: E rkllm: init failed: out of NPU memory"));
}

TEST_CASE("load takes a name of the server's, once and for ever, and who names no model talks to that one") {
  const NamingServer server;
  const auto first = server.command({"load", "beta"});
  INFO(first.err);
  CHECK(first.status == 0);
  CHECK_THAT(first.out, has_text("beta is loaded: handle llm-1. Talk to it: rkllm-mcp chat beta --to http://127."));
  CHECK_THAT(server.command({"load", "beta"}).out, has_text("beta was loaded already: handle llm-1."));
  CHECK(server.report({"load", server.model("beta")})["handle"] == "llm-1");  // the same, by its path
  CHECK(server.report({"load", "beta.json"})["model"] == "beta");
  CHECK(server.loaded() == Names{"beta"});
  CHECK_THAT(server.get("/api/ps")["models"][0]["expires_at"].get<std::string>(), has_text("9999-12-31"));

  CHECK(server.report({"ask", "@n=5 Hello"})["model"] == "beta");
  CHECK(server.report({"ask", "--model", "beta", "@n=5 Hello"})["model"] == "beta");
  CHECK(server.loaded() == Names{"beta"});
  CHECK(server.command({"unload", "beta"}).status == 0);
  CHECK(server.loaded().empty());
  const auto again = server.command({"unload", "beta"});
  CHECK(again.status == 1);
  CHECK_THAT(again.err, has_text("beta is not loaded; loaded: nothing"));
}

TEST_CASE("unload takes several names, each model once, and unloads nothing where one of them is wrong") {
  const NamingServer server;
  for (const char* const name : {"another", "beta"}) REQUIRE(server.command({"load", name}).status == 0);
  const auto wrong = server.command({"unload", "another", "beat", "beta"});
  CHECK(wrong.status == 1);
  CHECK(wrong.out.empty());
  CHECK_THAT(wrong.err, has_text("beat is not loaded; did you mean \"beta\"?; loaded: "));
  CHECK(server.loaded() == Names{"another", "beta"});
  const auto both = server.command({"unload", "beta", "another", "llm-2", "beta.json"});
  INFO(both.err);
  CHECK(both.status == 0);
  CHECK(both.out == "beta is unloaded.\nanother is unloaded.\n");
  CHECK(server.loaded().empty());
  REQUIRE(server.command({"load", "beta"}).status == 0);
  CHECK(server.report({"unload", "beta"}) ==
        Json{{"status", 0}, {"unloaded", Json::array({{{"model", "beta"}, {"handle", "llm-3"}}})}});
  CHECK(server.command({"unload"}).status == 2);
}

TEST_CASE("a model that is loaded for embeddings, too, is unloaded whole by its name") {
  const NamingServer server;
  REQUIRE(server.command({"load", "beta"}).status == 0);
  const auto embedded = server.command({"tools", "call", "embed", R"({"model":"beta","input":"One."})"});
  INFO(embedded.err);
  REQUIRE(embedded.status == 0);
  REQUIRE(server.loaded() == Names{"beta", "beta"});
  const auto unloaded = server.command({"unload", "beta"});
  INFO(unloaded.err);
  CHECK(unloaded.status == 0);
  CHECK(unloaded.out == "beta is unloaded (handle llm-1).\nbeta is unloaded (handle llm-2).\n");
  CHECK(server.loaded().empty());
  for (const char* const name : {"beta:latest", "beta.json"}) {
    INFO(name);
    REQUIRE(server.command({"load", "beta"}).status == 0);
    REQUIRE(server.command({"tools", "call", "embed", R"({"model":"beta","input":"One."})"}).status == 0);
    CHECK(server.command({"unload", name}).status == 0);
    CHECK(server.loaded().empty());
  }
}

TEST_CASE("a call without a handle is told of those that are there") {
  const NamingServer server;
  CHECK_THAT(server.command({"call", "rkllm_is_running"}).err, has_text("rkllm-mcp load MODEL loads one"));
  REQUIRE(server.command({"load", "beta"}).status == 0);
  const auto refused = server.command({"call", "rkllm_is_running"});
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, has_text("loaded by their names: llm-1"));
  CHECK(refused.err.find("loads one") == std::string::npos);
  CHECK(server.report({"call", "rkllm_run", R"({"handle":"beta","rkllm_input":{"prompt_input":"@n=3 Hello"}})"})["text"]
            .is_string());
}

TEST_CASE("load takes a file that has no name by its path, with the context of a load by name, once") {
  const NamingServer server;
  const std::string path = server.nameless("own");
  const Json loaded = server.report({"load", path});
  CHECK(loaded["model"] == "own");
  CHECK(loaded["status"] == 0);
  CHECK_THAT(server.command({"load", path}).out, has_text("own was loaded already: handle llm-1. Talk to it: "));
  CHECK(server.loaded() == Names{"own"});
  CHECK(server.command({"load", "beta"}).status == 0);
  CHECK(server.facts("own")["context"] == 4096);
  CHECK(server.facts("own")["context"] == server.facts("beta")["context"]);
  CHECK(server.report({"ask", "--model", "own", "@n=5 Hello"})["model"] == "own");
  CHECK(server.report({"ask", "--model", "llm-1", "@n=5 Hello"})["model"] == "own");
  CHECK(server.loaded() == Names{"own", "beta"});
  CHECK(server.command({"unload", path}).status == 0);
  CHECK(server.loaded() == Names{"beta"});
}

TEST_CASE("a model that was built for less than the usual context is loaded by its path, too") {
  const NamingServer server({"runtime.default_context=1000000"});
  const std::string path = server.nameless("own");
  CHECK(server.report({"load", path})["model"] == "own");
}

TEST_CASE("models, ps and ask have one name for one model, whatever this machine's settings name") {
  const NamingServer server;
  const std::string path = server.nameless("own");
  server.report({"load", path});
  server.report({"load", "beta"});
  const Json models = server.report({"models"});
  REQUIRE(models.size() == 3);
  const auto size = std::filesystem::file_size(path);
  const auto row = [&](const char* name, const std::string& file, bool loaded) {
    return Json{{"model", name}, {"path", file}, {"bytes", size}, {"loaded", loaded}};
  };
  CHECK(models == Json{row("another", server.model("another"), false), row("beta", server.model("beta"), true),
                       row("own", path, true)});
  CHECK(server.loaded() == Names{"own", "beta"});
  const Json offered = server.get("/v1/models")["data"];
  for (std::size_t at = 0; at < models.size(); ++at) CHECK(offered.at(at)["id"] == models.at(at)["model"]);
  CHECK_THAT(server.command({"models"}).out, has_text("another") && has_text("FILE") && !has_text("mine"));
}

TEST_CASE("without a server models says whose models it shows, and with one that was named it fails") {
  const NamingServer server;
  const auto local = server.run({"models"});
  CHECK(local.status == 0);
  CHECK_THAT(local.out, has_text("mine") && !has_text("beta"));
  CHECK_THAT(local.err, has_text("no server runs at") && has_text("that this machine's settings name"));
  const auto named = server.run({"models", "--to", "127.0.0.1:1"});
  CHECK(named.status == 1);
  CHECK(named.out.empty());
}

TEST_CASE("a proposed command names the server that was meant, unless it finds it by the usual settings file") {
  const NamingServer server;
  const auto loaded = server.run({"load", "beta", "--set", "http.port=" + server.port()});
  CHECK_THAT(loaded.out, has_text("rkllm-mcp chat beta --to http://127.0.0.1:" + server.port() + "\n"));
  const TemporaryDirectory home;
  std::filesystem::create_directories(home / ".config/rkllm-mcp");
  write_file(home / ".config/rkllm-mcp/settings.json", R"({"http":{"port":)" + server.port() + "}}");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--to", "127.0.0.1:" + server.port()}, {"--set", "http.port=" + server.port()}}) {
    std::vector<std::string> args{kProgram, "load", "beta"};
    args.insert(args.end(), more.begin(), more.end());
    const auto again = run_to_end({.args = args,
                                   .env = {{"HOME", home.path()}},
                                   .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"},
                                   .directory = home.path(),
                                   .input = Process::Options::Input::kNull});
    CHECK_THAT(again.out, has_text("Talk to it: rkllm-mcp chat beta\n"));
  }
  const auto nobody = server.run({"ps", "--set", "http.port=1"});
  CHECK_THAT(nobody.err, has_text("Start it: rkllm-mcp serve --settings ") && has_text(" --set http.port=1\n"));
}

TEST_CASE("who has no model yet is told how to load one of the simulator's, by a command that works as it stands") {
  const LiveServer server;
  const TemporaryDirectory home;
  const auto run = [&](std::vector<std::string> args) {
    args.insert(args.begin(), kProgram);
    return run_to_end({.args = std::move(args),
                       .env = {{"HOME", home.path()}},
                       .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"},
                       .directory = home.path(),
                       .input = Process::Options::Input::kNull});
  };
  const std::string place = "127.0.0.1:" + std::to_string(server.port(Transport::kHttp));
  const std::string command = "load " + kModels + "/rk3588-1.5b.json --to http://" + place;
  for (std::vector<std::string> asking :
       {std::vector<std::string>{"chat"}, {"ask", "Hi"}, {"load", "small"}, {"models"}}) {
    INFO(asking[0]);
    asking.insert(asking.end(), {"--to", place});
    const auto told = run(asking);
    CHECK_THAT(told.out + told.err, has_text(": rkllm-mcp " + command + "\nBeside it: fast.json, rk3588-") &&
                                        !has_text("pull") && !has_text(", rk3588-1.5b.json"));
  }
  for (const char* const name : {"fast.json", "fast"}) {  // as it was just called
    CHECK_THAT(run({"load", name, "--to", place}).err,
               has_text(": rkllm-mcp load " + kModels + "/fast.json --to http://" + place + "\nBeside it: rk3588-"));
  }
  CHECK(run({"load", kModels + "/rk3588-1.5b.json", "--to", "http://" + place}).status == 0);
  CHECK(run({"ask", "@n=5 Hi", "--to", "http://" + place}).status == 0);
}

TEST_CASE("a name that nobody has is answered with the one that may be meant, of the server's") {
  const NamingServer server;
  for (const char* const command : {"load", "rm"}) {
    INFO(command);
    const auto typo = server.command({command, "anotehr"});
    CHECK(typo.status == 1);
    CHECK_THAT(typo.err, has_text("there is no model anotehr; did you mean \"another\"?\n") &&
                             has_text("What there is: rkllm-mcp models"));
  }
  CHECK_THAT(server.command({"unload", "anotehr"}).err, has_text("anotehr is not loaded; did you mean \"another\"?"));
  CHECK_THAT(server.command({"load", "beat"}).err, has_text("did you mean \"beta\"?"));  // letters that were swapped
  CHECK_THAT(server.command({"load", "mine"}).err, has_text("there is no model mine"));  // it is this machine's
}
