// rkllm-mcp pull and rm, as a user meets them.
#include "fake_hub.hpp"

#include "pull/part_file.hpp"
#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/terminal_process.hpp"

#include <rkllm_mcp/json.hpp>

#include <httplib.h>

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace rkllm_mcp::test;
using rkllm_mcp::Json;

namespace {

class Machine {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  explicit Machine(const std::string& hub, const Environment& more = {}) : env_{{"HOME", home_.path()}}, hub_(hub) {
    env_.insert(env_.end(), more.begin(), more.end());
  }

  Process::Options options(const std::vector<std::string>& args) const {
    std::vector<std::string> all{kProgram, args.front()};
    // No server runs at port 1.
    for (const std::string& each :
         {"runtime.model_hub=" + hub_, "runtime.model_dirs=" + folder(), std::string("http.port=1")}) {
      all.insert(all.end(), {"--set", each});
    }
    all.insert(all.end(), args.begin() + 1, args.end());
    return {.args = std::move(all),
            .env = env_,
            .unset = {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "STATE_DIRECTORY", "RKLLM_MCP_SETTINGS", "HF_TOKEN",
                      "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"},
            .directory = home_.path(),
            .input = Process::Options::Input::kNull};
  }
  EndedProcess run(const std::vector<std::string>& args) const { return run_to_end(options(args)); }
  std::string folder() const { return home_ / "models"; }
  bool has_pulled_nothing() const { return !std::filesystem::exists(folder()) || std::filesystem::is_empty(folder()); }
  std::string home() const { return home_.path(); }

 private:
  TemporaryDirectory home_;
  Environment env_;
  const std::string hub_;
};

// A hub that speaks TLS with a certificate that it has signed itself, and has tiny.rkllm.
class EncryptedHub {
 public:
  EncryptedHub() : files_(make_certificate(directory_.path())), http_(files_.certificate.c_str(), files_.key.c_str()) {
    const auto answer = [this](const std::string& body) {
      return [this, body](const httplib::Request& request, httplib::Response& response) {
        requests_.push_back(request.headers);
        response.set_content(body, "application/octet-stream");
      };
    };
    http_.Get("/api/models/acme/tiny", answer(kList));
    http_.Get("/acme/tiny/resolve/main/tiny.rkllm", answer("a model"));
    port_ = static_cast<std::uint16_t>(http_.bind_to_any_port("127.0.0.1"));
    thread_ = std::thread([this] { http_.listen_after_bind(); });
  }
  EncryptedHub(const EncryptedHub&) = delete;
  EncryptedHub& operator=(const EncryptedHub&) = delete;
  ~EncryptedHub() {
    http_.stop();  // it runs: it has been asked
    thread_.join();
  }

  static constexpr const char* kList = R"({"siblings":[{"rfilename":"tiny.rkllm","size":7}]})";
  std::uint16_t port() const { return port_; }
  std::string place() const { return "localhost:" + std::to_string(port_); }
  const std::string& certificate() const { return files_.certificate; }
  const std::vector<httplib::Headers>& requests() const { return requests_; }  // when nobody asks

 private:
  TemporaryDirectory directory_;
  CertificateFiles files_;
  httplib::SSLServer http_;
  std::vector<httplib::Headers> requests_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

// Carries bytes both ways until one side ends.
void carry_between(int one, int other) {
  std::array<pollfd, 2> sides{pollfd{one, POLLIN, 0}, pollfd{other, POLLIN, 0}};
  std::array<char, 4096> bytes{};
  while (::poll(sides.data(), sides.size(), -1) > 0) {
    for (const std::size_t from : {std::size_t{0}, std::size_t{1}}) {
      if (sides.at(from).revents == 0) continue;
      const auto count = ::recv(sides.at(from).fd, bytes.data(), bytes.size(), 0);
      if (count <= 0) return;
      ::send(sides.at(1 - from).fd, bytes.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL);
    }
  }
}

constexpr const char* kProxyUser = "me:a%20b@";
constexpr const char* kProxyWord = "Basic bWU6YSBi";  // "me:a b" in Base64

// A server of a version that knew no `models`, which has tiny.rkllm, small.rkllm and the beginning of half.rkllm.
class OlderServer {
 public:
  OlderServer() {
    http_.Get("/v1/models", [](const httplib::Request&, httplib::Response& response) {
      Json rows = Json::array();
      for (const char* const name : {"tiny", "small"}) {
        rows.push_back(
            Json{{"id", name}, {"rkllm", {{"state", "available"}, {"path", std::string("/m/") + name + ".rkllm"}}}});
      }
      response.set_content(Json{{"data", rows}}.dump(), "application/json");
    });
    http_.Delete("/api/delete", [this](const httplib::Request& request, httplib::Response& response) {
      const std::string model = Json::parse(request.body).value("model", std::string());
      const bool is_there = model == "tiny" || model == "small" || model == "half";
      response.status = model.empty() ? 400 : is_there ? 200 : 404;
      if (is_there) asked_ += model + " ";
      if (is_there) return;
      const std::string error = model.empty() ? "model: missing" : "model '" + model + "' not found";
      response.set_content(Json{{"error", error}}.dump(), "application/json");
    });
    port_ = http_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { http_.listen_after_bind(); });
  }
  OlderServer(const OlderServer&) = delete;
  OlderServer& operator=(const OlderServer&) = delete;
  ~OlderServer() {
    http_.stop();  // it runs: it has been asked
    thread_.join();
  }

  std::string place() const { return "http://127.0.0.1:" + std::to_string(port_); }
  const std::string& asked() const { return asked_; }  // when nobody asks

 private:
  httplib::Server http_;
  int port_ = 0;
  std::string asked_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a model is pulled, listed and deleted") {
  FakeHub hub;
  hub.files["tiny.rkllm"] = "a model";
  const Machine machine(hub.url());
  const auto pulled = machine.run({"pull", "hf.co/acme/tiny"});
  INFO(pulled.err);
  CHECK(pulled.status == 0);
  CHECK_THAT(pulled.out, has_text(machine.folder() + "/tiny.rkllm is there (7 bytes, SHA-256 ") &&
                             has_text("as the hub has it") && has_text("rkllm-mcp chat tiny"));
  CHECK(pulled.err.empty());
  const auto again = machine.run({"pull", "hf.co/acme/tiny", "--json"});
  CHECK(Json::parse(again.out)["was_there"] == true);

  CHECK_THAT(machine.run({"models"}).out, has_text("tiny"));
  const auto typo = machine.run({"rm", "tinny"});
  CHECK(typo.status == 1);
  CHECK_THAT(typo.err, has_text("did you mean \"tiny\"?"));
  const auto removed = machine.run({"rm", "tiny"});
  INFO(removed.err);
  CHECK(removed.status == 0);
  CHECK_FALSE(std::filesystem::exists(machine.folder() + "/tiny.rkllm"));
}

TEST_CASE("pull lists what a repository has, and which of it is taken") {
  FakeHub hub;
  hub.files["huge.rkllm"] = "a model";
  hub.claimed_bytes["huge.rkllm"] = std::int64_t{1} << 60;
  hub.files["tiny.rkllm"] = "a model";
  const Machine machine(hub.url());
  const auto pulled = machine.run({"pull", "hf.co/acme/tiny"});
  INFO(pulled.err);
  CHECK(pulled.status == 0);
  CHECK_THAT(pulled.err, has_text("acme/tiny has 2 models:\n  huge.rkllm, ") && has_text("larger than the memory") &&
                             has_text("\n* tiny.rkllm, 7 bytes") &&
                             has_text("To have another, name it: hf.co/acme/tiny:FILE"));
  CHECK_THAT(pulled.out, has_text("tiny.rkllm is there"));
  CHECK(machine.run({"pull", "hf.co/acme/tiny:tiny.rkllm"}).err.empty());
}

TEST_CASE("of two files of one name in a repository's folders none is taken by that name alone") {
  FakeHub hub;
  hub.files["q4/tiny.rkllm"] = "a model";
  hub.files["q8/tiny.rkllm"] = "another";
  const Machine machine(hub.url());
  const auto several = machine.run({"pull", "hf.co/acme/tiny"});
  CHECK(several.status == 2);
  CHECK_THAT(several.err, has_text("name one: hf.co/acme/tiny:q4/tiny.rkllm"));
  const auto pulled = machine.run({"pull", "hf.co/acme/tiny:tiny.rkllm"});
  CHECK(pulled.status == 2);
  CHECK_THAT(pulled.err, has_text("has several files tiny.rkllm"));
  CHECK(machine.run({"pull", "hf.co/acme/tiny:q8/tiny.rkllm"}).status == 0);
}

TEST_CASE("pull ends with the next command, also where the folder is none of the settings") {
  FakeHub hub;
  hub.files["tiny.rkllm"] = "a model";
  const Machine machine(hub.url());
  const std::string elsewhere = machine.folder() + "-elsewhere";
  const auto pulled = machine.run({"pull", "hf.co/acme/tiny", "--folder", elsewhere});
  CHECK_THAT(pulled.out, has_text("Load it: rkllm-mcp load " + elsewhere + "/tiny.rkllm --set runtime.model_hub="));
  for (const std::string& folder : {elsewhere, std::string("./models"), std::string(".")}) {
    const auto refused = machine.run({"pull", "hf.co/acme/tiny", "--to", folder});
    CHECK(refused.status == 2);
    CHECK_THAT(refused.err, has_text("it names the server that is to fetch the model") &&
                                has_text(": rkllm-mcp pull hf.co/acme/tiny --folder " + folder + "\n"));
  }
  CHECK(machine.run({"pull", "hf.co/acme/tiny", "--to", "1", "--folder", "."}).status == 2);
  CHECK(machine.has_pulled_nothing());
}

TEST_CASE("pull --to has that server fetch a model, into its own folder, as programs and people are told") {
  FakeHub hub;
  hub.files["tiny.rkllm"] = "a model";
  const Machine machine("http://127.0.0.1:1");  // whose own hub is not asked
  TemporaryDirectory theirs;
  LiveServer server(
      {.set = {"runtime.model_dirs=" + theirs.path(), "runtime.model_hub=" + hub.url()}, .env = {{"no_proxy", "*"}}});
  const std::string place = "http://127.0.0.1:" + std::to_string(server.port(Transport::kHttp));
  const auto pulled = machine.run({"pull", "hf.co/acme/tiny", "--to", place});
  INFO(pulled.err);
  CHECK(pulled.status == 0);
  CHECK(pulled.err.empty());
  CHECK_THAT(pulled.out, has_text((theirs / "tiny.rkllm") + " is there on " + place) &&
                             has_text(" (7 bytes, SHA-256 ") &&
                             has_text(", as the hub has it)\nTalk to it: rkllm-mcp chat tiny --to " + place + "\n"));
  CHECK(read_file(theirs / "tiny.rkllm") == "a model");
  hub.files["huge.rkllm"] = "a model";
  hub.claimed_bytes["huge.rkllm"] = std::int64_t{1} << 60;
  const auto remarked = machine.run({"pull", "hf.co/acme/tiny", "--to", place});
  CHECK(remarked.status == 0);
  CHECK_THAT(remarked.err, has_text("acme/tiny has 2 models:\n  huge.rkllm, ") && has_text("\n* tiny.rkllm, 7 bytes"));
  hub.files.erase("huge.rkllm");
  const Json again = Json::parse(machine.run({"pull", "hf.co/acme/tiny", "--to", place, "--json"}).out);
  CHECK(again == Json{{"model", "tiny"},
                      {"path", theirs / "tiny.rkllm"},
                      {"bytes", 7},
                      {"sha256", rkllm_mcp::in_hexadecimal(rkllm_mcp::sha256("a model"))},
                      {"verified", true},
                      {"was_there", true}});
  const auto typo = machine.run({"pull", "tinny", "--to", place});
  CHECK(typo.status == 2);
  CHECK_THAT(typo.err, has_text("did you mean \"tiny\"?"));
  CHECK_THAT(machine.run({"pull", "tiny", "--to", place}).err,
             has_text("tiny is there already: rkllm-mcp chat tiny --to " + place));
  const auto none = machine.run({"pull", "hf.co/acme/none", "--to", place});
  CHECK(none.status == 1);
  CHECK(none.out.empty());
  CHECK_THAT(none.err, has_text("shows no repository acme/none"));
  const auto nobody = machine.run({"pull", "hf.co/acme/tiny", "--to", "1"});
  CHECK(nobody.status == 1);
  CHECK_THAT(nobody.err, has_text("is the server running?"));
  CHECK(machine.has_pulled_nothing());
}

TEST_CASE("a pull of a server shows how far it is, and ends with Ctrl-C, and the next one goes on from there") {
  FakeHub hub;
  hub.files["tiny.rkllm"] = std::string(4'000'000, 'x');
  const Machine machine("http://127.0.0.1:1");
  TemporaryDirectory theirs;
  LiveServer server(
      {.set = {"runtime.model_dirs=" + theirs.path(), "runtime.model_hub=" + hub.url()}, .env = {{"no_proxy", "*"}}});
  const std::string place = "http://127.0.0.1:" + std::to_string(server.port(Transport::kHttp));
  std::promise<void> is_interrupted;  // until then the network is silent
  hub.before_second_half = [done = is_interrupted.get_future().share()] { done.wait(); };
  TerminalProcess pull(machine.options({"pull", "hf.co/acme/tiny", "--to", place}), 100);
  REQUIRE(pull.wait_for(" of 4.0 MB"));
  pull.type("\x03");
  CHECK(pull.wait() == 128 + SIGINT);
  CHECK_THAT(pull.shown(), has_text("what had come is kept there, and the same command goes on from there"));
  is_interrupted.set_value();
  const auto whole = machine.run({"pull", "hf.co/acme/tiny", "--to", place});
  INFO(whole.err);
  CHECK(whole.status == 0);
  CHECK(read_file(theirs / "tiny.rkllm") == hub.files["tiny.rkllm"]);
}

TEST_CASE("a pull on a terminal shows a bar, says what it verifies, and leaves one line of what has come") {
  FakeHub hub;
  hub.files["tiny.rkllm"] = std::string(4'000'000, 'x');
  const Machine machine(hub.url());
  std::promise<void> is_seen;  // until then the network is silent
  hub.before_second_half = [done = is_seen.get_future().share()] { done.wait(); };
  TerminalProcess pull(machine.options({"pull", "hf.co/acme/tiny"}), 100);
  REQUIRE(pull.wait_for("tiny.rkllm, 4.0 MB from "));
  REQUIRE(pull.wait_for("[.."));
  REQUIRE(pull.wait_for(" of 4.0 MB"));
  is_seen.set_value();
  REQUIRE(pull.wait_for("Computing its SHA-256"));
  REQUIRE(pull.wait_for("tiny.rkllm is there (4.0 MB, SHA-256 "));
  CHECK(pull.wait() == 0);
}

TEST_CASE("pull --to gives the access token, and says where it lacks the permission or is missing") {
  FakeHub hub;
  hub.files["tiny.rkllm"] = "a model";
  const Machine machine("http://127.0.0.1:1");
  TemporaryDirectory theirs;
  write_file(theirs / "tokens", "me KEY123KEY123KEY123\nguest GUEST123GUEST123GUEST123 call\n");
  std::filesystem::permissions(theirs / "tokens", std::filesystem::perms(0600));
  LiveServer server({.set = {"runtime.model_dirs=" + theirs.path(), "runtime.model_hub=" + hub.url(),
                             "auth.tokens=" + (theirs / "tokens")},
                     .env = {{"no_proxy", "*"}}});
  const std::string place = "http://127.0.0.1:" + std::to_string(server.port(Transport::kHttp));
  const auto pull = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args{"pull", "hf.co/acme/tiny", "--to", place};
    args.insert(args.end(), more.begin(), more.end());
    return machine.run(args);
  };
  CHECK_THAT(pull({}).err, has_text("an access token is needed: --token, or RKLLM_MCP_TOKEN in the environment"));
  const auto guest = pull({"--token", "GUEST123GUEST123GUEST123"});
  CHECK(guest.status == 1);
  CHECK_THAT(guest.err, has_text("takes an access token with the permission admin"));
  CHECK_FALSE(std::filesystem::exists(theirs / "tiny.rkllm"));
  CHECK(pull({"--token", "KEY123KEY123KEY123"}).status == 0);
  CHECK(std::filesystem::exists(theirs / "tiny.rkllm"));
}

TEST_CASE("pull --to says where a server fetches no models, and what such a one as Ollama has fetched") {
  const Machine machine("http://127.0.0.1:1");
  const LiveServer without({.set = {"chat.enabled=false"}});
  const auto refused = machine.run({"pull", "hf.co/acme/tiny", "--to", std::to_string(without.port(Transport::kHttp))});
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, has_text(" fetches no models: it runs with chat.enabled=false") &&
                              has_text("On its machine: rkllm-mcp pull hf.co/acme/tiny\n"));
  const WebServer other(
      web_answer("{\"status\":\"pulling manifest\"}\n{\"status\":\"success\"}\n", "application/x-ndjson"));
  const auto pulled = machine.run({"pull", "hf.co/acme/tiny", "--to", other.url("")});
  INFO(pulled.err);
  CHECK(pulled.status == 0);
  CHECK_THAT(pulled.out, has_text("hf.co/acme/tiny is there. What it is called: rkllm-mcp models --to "));
  const WebServer broken(web_answer("{\"status\":\"pulling manifest\"}\n", "application/x-ndjson"));
  const auto half = machine.run({"pull", "hf.co/acme/tiny", "--to", broken.url("")});
  CHECK(half.status == 1);
  CHECK_THAT(half.err, has_text("its answer ends before the model is there"));
}

TEST_CASE("without any setting models are pulled into the user's folder of models, where they are found by name") {
  FakeHub hub;
  hub.files["tiny.rkllm"] = "a model";
  const Machine machine(hub.url());
  const std::vector<std::string> fresh{"--set", "runtime.model_dirs=[]"};
  const auto run = [&](std::vector<std::string> args) {
    args.insert(args.end(), fresh.begin(), fresh.end());
    return machine.run(args);
  };
  const auto pulled = run({"pull", "hf.co/acme/tiny"});
  INFO(pulled.err);
  CHECK(pulled.status == 0);
  const std::string path = machine.home() + "/.local/share/rkllm-mcp/models/tiny.rkllm";
  CHECK(std::filesystem::exists(path));
  CHECK_THAT(pulled.out, has_text(path + " is there") && has_text("Talk to it: rkllm-mcp chat tiny --set "));
  const Json models = Json::parse(run({"models", "--json"}).out);
  REQUIRE(models.size() == 1);
  CHECK(models[0] == Json{{"model", "tiny"}, {"path", path}, {"bytes", 7}, {"loaded", false}});
  CHECK_THAT(run({"doctor"}).out, has_text(path));
  CHECK(run({"rm", "tiny"}).status == 0);
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK_THAT(run({"doctor"}).out, has_text("no model files in " + machine.home() + "/.local/share/rkllm-mcp/models"));
}

TEST_CASE("pull of a name that is no repository's says which model here may be meant") {
  FakeHub hub;
  hub.files["tiny.rkllm"] = "a model";
  const Machine machine(hub.url());
  REQUIRE(machine.run({"pull", "hf.co/acme/tiny"}).status == 0);
  const auto typo = machine.run({"pull", "tinny"});
  CHECK(typo.status == 2);
  CHECK_THAT(typo.err, has_text("did you mean \"tiny\"?") && has_text("hf.co/OWNER/NAME"));
  const auto known = machine.run({"pull", "tiny"});
  CHECK(known.status == 2);
  CHECK_THAT(known.err, has_text("tiny is here already: rkllm-mcp chat tiny"));
}

TEST_CASE("rm --to deletes what that server has, and nothing of this machine") {
  FakeHub hub;
  const Machine machine(hub.url());
  TemporaryDirectory theirs;
  std::filesystem::create_directories(machine.folder());
  for (const std::string& folder : {machine.folder(), theirs.path()}) write_file(folder + "/tiny.rkllm", "a model");
  write_file(machine.folder() + "/mine.rkllm", "a model");
  write_file(theirs / "half.rkllm.part", "a beginning");
  {
    LiveServer server({.set = {"runtime.model_dirs=" + theirs.path()}});
    const std::string place = "127.0.0.1:" + std::to_string(server.port(Transport::kHttp));
    const auto other = machine.run({"rm", "mine", "--to", place});
    CHECK(other.status == 1);
    CHECK_THAT(other.err, has_text("there is no model mine"));
    const auto both = machine.run({"rm", "tiny", "half", "--to", place});
    INFO(both.err);
    CHECK(both.status == 0);
    CHECK(std::filesystem::is_empty(theirs.path()));
    CHECK_THAT(machine.run({"models", "--to", place}).out, !has_text("tiny") && !has_text("mine"));
  }
  for (const char* const name : {"tiny", "mine"}) {
    CHECK(machine.run({"rm", name, "--to", "127.0.0.1:1"}).status == 1);  // nobody answers there
    CHECK(std::filesystem::exists(machine.folder() + "/" + name + ".rkllm"));
  }
}

TEST_CASE("rm deletes what is named twice once, and tells programs of the beginnings, too") {
  FakeHub hub;
  const Machine machine(hub.url());
  TemporaryDirectory theirs;
  std::filesystem::create_directories(machine.folder());
  LiveServer server({.set = {"runtime.model_dirs=" + theirs.path()}});
  const std::string place = "http://127.0.0.1:" + std::to_string(server.port(Transport::kHttp));
  for (const std::string& folder : {machine.folder(), theirs.path()}) {
    INFO(folder);
    write_file(folder + "/tiny.rkllm", "a model");
    write_file(folder + "/half.rkllm.part", "a beginning");
    std::vector<std::string> args{"rm", "tiny", "half", "tiny.rkllm", "tiny", "half.rkllm", "--json"};
    if (folder == theirs.path()) args.insert(args.end(), {"--to", place});
    const auto removed = machine.run(args);
    INFO(removed.err);
    CHECK(removed.status == 0);
    CHECK(std::filesystem::is_empty(folder));
    CHECK(Json::parse(removed.out) ==
          Json{{{"model", "half"}, {"path", nullptr}, {"bytes", nullptr}, {"unfinished", true}},
               {{"model", "tiny"}, {"path", folder + "/tiny.rkllm"}, {"bytes", 7}, {"unfinished", false}}});
  }
}

TEST_CASE("rm deletes nothing, not even a beginning, where one of the names is wrong") {
  FakeHub hub;
  const Machine machine(hub.url());
  TemporaryDirectory theirs;
  std::filesystem::create_directories(machine.folder());
  LiveServer server({.set = {"runtime.model_dirs=" + theirs.path()}});
  const std::string place = "http://127.0.0.1:" + std::to_string(server.port(Transport::kHttp));
  for (const std::string& folder : {machine.folder(), theirs.path()}) {
    INFO(folder);
    write_file(folder + "/tiny.rkllm", "a model");
    write_file(folder + "/half.rkllm.part", "a beginning");
    write_file(folder + "/half.rkllm.b.rkllm.part", "a beginning of another");
    const auto remove = [&](std::vector<std::string> names) {
      names.insert(names.begin(), "rm");
      if (folder == theirs.path()) names.insert(names.end(), {"--to", place});
      return machine.run(names);
    };
    const auto wrong = remove({"half", "tiny", "tinny"});
    CHECK(wrong.status == 1);
    CHECK(wrong.out.empty());
    CHECK_THAT(wrong.err, has_text("there is no model tinny; did you mean \"tiny\"?"));
    CHECK(std::filesystem::exists(folder + "/tiny.rkllm"));
    CHECK(std::filesystem::exists(folder + "/half.rkllm.part"));
    {
      const rkllm_mcp::PartFile pulled(folder + "/half.rkllm");  // a pull that is under way
      const auto busy = remove({"half.rkllm.b", "tiny", "half"});
      CHECK(busy.status == 1);
      CHECK_THAT(busy.err, has_text("is being pulled already"));
      CHECK(std::filesystem::exists(folder + "/tiny.rkllm"));
      CHECK(std::filesystem::exists(folder + "/half.rkllm.b.rkllm.part"));
    }
    CHECK(remove({"half", "tiny", "half.rkllm.b"}).status == 0);  // three things, whatever their names begin with
    CHECK(std::filesystem::is_empty(folder));
  }
}

TEST_CASE("rm deletes one after the other, beginnings first, where an older server takes one name alone") {
  FakeHub hub;
  const Machine machine(hub.url());
  {
    const OlderServer server;
    const auto removed = machine.run({"rm", "tiny", "half", "small", "--to", server.place()});
    INFO(removed.err);
    CHECK(removed.status == 0);
    CHECK_THAT(removed.out, has_text("half: what an unfinished pull has left is deleted\ntiny is deleted") &&
                                has_text("\nsmall is deleted"));
    CHECK(server.asked() == "half tiny small ");
  }
  const OlderServer server;
  const auto wrong = machine.run({"rm", "tiny", "tinny", "small", "--to", server.place()});
  CHECK(wrong.status == 1);
  CHECK(wrong.out.empty());
  CHECK_THAT(wrong.err, has_text("there is no model tinny; did you mean \"tiny\"?"));
  CHECK(server.asked().empty());
}

TEST_CASE("rm without --to asks the server of the settings, too") {
  FakeHub hub;
  const Machine machine(hub.url());
  TemporaryDirectory theirs;
  std::filesystem::create_directories(machine.folder());
  for (const std::string& folder : {machine.folder(), theirs.path()}) write_file(folder + "/tiny.rkllm", "a model");
  LiveServer server({.set = {"runtime.model_dirs=" + theirs.path()}});
  const std::string port = "http.port=" + std::to_string(server.port(Transport::kHttp));
  CHECK(machine.run({"rm", "tiny", "--set", port}).status == 0);
  CHECK_FALSE(std::filesystem::exists(theirs / "tiny.rkllm"));
  CHECK(std::filesystem::exists(machine.folder() + "/tiny.rkllm"));
}

TEST_CASE("pull says what is wrong with what it was asked for") {
  FakeHub hub;
  const Machine machine(hub.url());
  const auto nothing = machine.run({"pull", "qwen"});
  CHECK(nothing.status == 2);
  CHECK_THAT(nothing.err, has_text("hf.co/OWNER/NAME"));
  const auto empty = machine.run({"pull", "hf.co/acme/tiny"});
  CHECK(empty.status == 2);
  CHECK_THAT(empty.err, has_text("has no .rkllm files"));
}

TEST_CASE("a hub whose certificate nobody known has signed is trusted with --cacert alone") {
  const EncryptedHub hub;
  const Machine machine("https://" + hub.place());
  for (const std::string& source :
       {std::string("hf.co/acme/tiny"), "https://127.0.0.1:" + std::to_string(hub.port()) + "/x/tiny.rkllm"}) {
    INFO(source);
    const auto refused = machine.run({"pull", source});
    CHECK(refused.status == 1);
    CHECK(refused.out.empty());
    CHECK_THAT(refused.err, has_text("its certificate cannot be verified") && has_text("pull --cacert FILE"));
    CHECK(machine.has_pulled_nothing());
  }
  {
    // Who asks a server cannot name a file there.
    LiveServer server({.set = {"runtime.model_dirs=" + machine.folder(), "runtime.model_hub=https://" + hub.place()},
                       .env = {{"no_proxy", "*"}}});
    const auto there = machine.run({"pull", "hf.co/acme/tiny", "--to", std::to_string(server.port(Transport::kHttp))});
    CHECK(there.status == 1);
    CHECK_THAT(there.err,
               has_text("on the server's machine: " + hub.place() + ": its certificate cannot be verified") &&
                   has_text("ca-certificates") && !has_text("--cacert"));
  }
  CHECK(hub.requests().empty());
  const auto pulled = machine.run({"pull", "hf.co/acme/tiny", "--cacert", hub.certificate()});
  INFO(pulled.err);
  CHECK(pulled.status == 0);
  CHECK(read_file(machine.folder() + "/tiny.rkllm") == "a model");
}

TEST_CASE("a proxy gets whole addresses and its password over http, and the access token goes to the hub alone") {
  const std::map<std::string, std::string> answers{
      {"GET http://hub.test:8000/api/models/acme/tiny?blobs=true", web_answer(EncryptedHub::kList, "application/json")},
      {"GET http://hub.test:8000/acme/tiny/resolve/main/tiny.rkllm", web_redirect("http://files.test:8000/x?key=a")},
      {"GET http://files.test:8000/x?key=a", web_answer("a model", "application/octet-stream")}};
  const WebServer proxy([&answers](const std::string& head, WebServer::Socket& socket) {
    const auto found = answers.find(head.substr(0, head.find(" HTTP/")));
    WebServer::send(socket,
                    found != answers.end() ? found->second : web_answer("", "text/plain", "", "400 Bad Request"));
  });
  const Machine machine("http://hub.test:8000", {{"http_proxy", proxy.url("", kProxyUser + std::string("127.0.0.1"))},
                                                 {"HF_TOKEN", "hub-token"}});
  const auto pulled = machine.run({"pull", "hf.co/acme/tiny"});
  INFO(pulled.err);
  CHECK(pulled.status == 0);
  CHECK(read_file(machine.folder() + "/tiny.rkllm") == "a model");
  const auto heads = proxy.heads();
  REQUIRE(heads.size() == 3);
  for (const auto& head : heads) CHECK_THAT(head, has_text("Proxy-Authorization: " + std::string(kProxyWord)));
  CHECK_THAT(heads[0], has_text("\r\nAuthorization: Bearer hub-token\r\n"));
  CHECK_THAT(heads[1], has_text("\r\nAuthorization: Bearer hub-token\r\n"));
  CHECK_THAT(heads[2], !has_text("hub-token"));
}

TEST_CASE("over https a proxy gets no access token, and nobody behind it the proxy's password") {
  const EncryptedHub hub;
  const WebServer proxy([&hub](const std::string&, WebServer::Socket& socket) {
    WebServer::Socket behind(socket.get_executor());
    behind.connect({asio::ip::make_address("127.0.0.1"), hub.port()});
    WebServer::send(socket, "HTTP/1.1 200 Connection established\r\n\r\n");
    carry_between(socket.native_handle(), behind.native_handle());
  });
  const Machine machine(
      "https://" + hub.place(),
      {{"https_proxy", proxy.url("", kProxyUser + std::string("127.0.0.1"))}, {"HF_TOKEN", "hub-token"}});
  const auto pulled = machine.run({"pull", "hf.co/acme/tiny", "--cacert", hub.certificate()});
  INFO(pulled.err);
  CHECK(pulled.status == 0);
  CHECK(read_file(machine.folder() + "/tiny.rkllm") == "a model");
  const auto heads = proxy.heads();
  CHECK(heads.size() == 4);  // whether it leads there is asked first
  for (const auto& head : heads) {
    CHECK_THAT(head, has_text("CONNECT " + hub.place() + " HTTP/1.1\r\n") && !has_text("hub-token") &&
                         has_text("Proxy-Authorization: " + std::string(kProxyWord)));
  }
  CHECK(hub.requests().size() == 2);
  for (const auto& headers : hub.requests()) {
    CHECK(headers.find("Authorization")->second == "Bearer hub-token");
    for (const auto& [name, value] : headers) CHECK_THAT(name + ": " + value, !has_text(kProxyWord));
  }
}

TEST_CASE("what is larger than the disk is not begun") {
  FakeHub hub;
  hub.files["huge.rkllm"] = "a model";
  hub.claimed_bytes["huge.rkllm"] = std::int64_t{1} << 60;
  const Machine machine(hub.url());
  const auto pulled = machine.run({"pull", "hf.co/acme/tiny:huge.rkllm"});
  CHECK(pulled.status == 1);
  CHECK_THAT(pulled.err, has_text("the disk of " + machine.folder() + " has ") && has_text(" free; ") &&
                             has_text(" more are needed"));
  CHECK(hub.heads_of_pages().size() == 1);
  CHECK(hub.heads_of_files().empty());
  CHECK(machine.has_pulled_nothing());
}

TEST_CASE("a pull that reaches nobody says what to look at, and what the way was") {
  const auto alone = Machine("http://127.0.0.1:1").run({"pull", "hf.co/acme/tiny"});
  CHECK(alone.status == 1);
  CHECK_THAT(alone.err, has_text("127.0.0.1:1: no connection could be made; look with rkllm-mcp doctor, or set a proxy "
                                 "(http_proxy) or a mirror (runtime.model_hub)"));
  for (const std::string& scheme : {std::string("http"), std::string("https")}) {
    INFO(scheme);
    const auto by_proxy = Machine(scheme + "://hub.test", {{scheme + "_proxy", "me:secret@127.0.0.1:1"}})
                              .run({"pull", "hf.co/acme/tiny"});
    CHECK(by_proxy.status == 1);
    CHECK_THAT(by_proxy.err, has_text("hub.test: no connection could be made through the proxy 127.0.0.1:1; look with "
                                      "rkllm-mcp doctor") &&
                                 !has_text("secret"));
  }
}

TEST_CASE("a proxy that asks for a name and a password is told apart from the host, and where they go") {
  const WebServer proxy(
      web_answer("", "text/plain", "Proxy-Authenticate: Basic realm=\"x\"\r\n", "407 Proxy Authentication Required"));
  for (const std::string& scheme : {std::string("http"), std::string("https")}) {
    const std::string place = "127.0.0.1:" + std::to_string(proxy.port());
    const std::string variable = scheme + "_proxy";
    for (const std::string& source : {std::string("hf.co/acme/tiny"), scheme + "://files.test/tiny.rkllm"}) {
      INFO(source);
      const auto unnamed = Machine(scheme + "://hub.test", {{variable, place}}).run({"pull", source});
      CHECK(unnamed.status == 1);
      CHECK_THAT(unnamed.err, has_text(".test: the proxy " + place + " asks for a name and a password: " + variable +
                                       "=http://NAME:PASSWORD@" + place + "\n"));
      const auto refused = Machine(scheme + "://hub.test", {{variable, "me:secret@" + place}}).run({"pull", source});
      CHECK(refused.status == 1);
      CHECK_THAT(refused.err,
                 has_text(".test: the proxy " + place + " does not take the name and password of " + variable + "\n") &&
                     !has_text("secret"));
    }
  }
}

TEST_CASE("a proxy that does not lead to a host says so, and nobody waits for it") {
  const WebServer proxy(web_answer("", "text/plain", "", "403 Forbidden"));  // and closes the connection
  const std::string place = "127.0.0.1:" + std::to_string(proxy.port());
  const auto refused = Machine("https://hub.test", {{"https_proxy", place}}).run({"pull", "hf.co/acme/tiny"});
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err,
             has_text("hub.test: the proxy " + place + " answers 403 to the request for a connection (CONNECT)\n"));
}

TEST_CASE("a proxy whose answer cpp-httplib would wait for ever behind is refused") {
  for (const std::string answer :
       {"HTTP/1.0 200 Connection Established\r\n\r\n", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"}) {
    INFO(answer);
    const WebServer proxy([answer](const std::string&, WebServer::Socket& socket) { WebServer::send(socket, answer); });
    const std::string place = "127.0.0.1:" + std::to_string(proxy.port());
    const auto refused = Machine("https://hub.test", {{"https_proxy", place}}).run({"pull", "hf.co/acme/tiny"});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, has_text("hub.test: the proxy " + place + " answers in a way that is not understood here"));
  }
}

TEST_CASE("a pull that got nothing leaves nothing") {
  const Machine machine("http://127.0.0.1:1");
  std::filesystem::create_directories(machine.folder());
  { const rkllm_mcp::PartFile nothing(machine.folder() + "/tiny.rkllm"); }
  CHECK(std::filesystem::is_empty(machine.folder()));
  {
    rkllm_mcp::PartFile beginning(machine.folder() + "/tiny.rkllm");
    beginning.append("a");
  }
  CHECK(read_file(machine.folder() + "/tiny.rkllm.part") == "a");
}

TEST_CASE("Ctrl-C stops a pull, and the next one goes on from there") {
  FakeHub hub;
  hub.files["tiny.rkllm"] = std::string(4'000'000, 'x');
  const Machine machine(hub.url());
  std::promise<void> is_interrupted;  // until then the network is silent
  hub.before_second_half = [done = is_interrupted.get_future().share()] { done.wait(); };
  Process pull(machine.options({"pull", "hf.co/acme/tiny"}));
  REQUIRE(wait_for_contents(machine.folder() + "/tiny.rkllm.part"));
  pull.signal(SIGINT);
  CHECK(pull.wait() == 128 + SIGINT);
  is_interrupted.set_value();
  CHECK_THAT(pull.error_text(), has_text("the same command goes on from there"));
  const auto whole = machine.run({"pull", "hf.co/acme/tiny"});
  INFO(whole.err);
  CHECK(whole.status == 0);
  CHECK(read_file(machine.folder() + "/tiny.rkllm") == hub.files["tiny.rkllm"]);
}

TEST_CASE("Ctrl-C before anything has come leaves nothing, and says so") {
  FakeHub hub;
  hub.files["tiny.rkllm"] = std::string(4'000'000, 'x');
  const Machine machine(hub.url());
  std::promise<void> is_interrupted;
  hub.before_first_half = [done = is_interrupted.get_future().share()] { done.wait(); };
  Process pull(machine.options({"pull", "hf.co/acme/tiny"}));
  hub.await_file_requests(1);
  pull.signal(SIGINT);
  CHECK(pull.wait() == 128 + SIGINT);
  is_interrupted.set_value();
  CHECK_THAT(pull.error_text(), has_text("stopped before anything had come") && !has_text("kept"));
  CHECK(std::filesystem::is_empty(machine.folder()));
}

TEST_CASE("rm also deletes what an unfinished pull has left") {
  FakeHub hub;
  const Machine machine(hub.url());
  std::filesystem::create_directories(machine.folder());
  write_file(machine.folder() + "/tiny.rkllm.part", "a beginning");
  write_file(machine.folder() + "/tiny.rkllm.part.tag", "sha256:x");
  CHECK(machine.run({"rm", "tiny"}).status == 0);
  CHECK(std::filesystem::is_empty(machine.folder()));
}
