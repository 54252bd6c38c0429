// rkllm-mcp pull and rm, as a user meets them.
#include "fake_hub.hpp"
#include "support/catch.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <rkllm_mcp/json.hpp>

#include <csignal>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

using namespace rkllm_mcp::test;
using rkllm_mcp::Json;

namespace {

class Machine {
 public:
  explicit Machine(const std::string& hub) : hub_(hub) {}

  Process::Options options(const std::vector<std::string>& args) const {
    std::vector<std::string> all{kProgram, args.front()};
    for (const std::string& each : {"runtime.model_hub=" + hub_, "runtime.model_dirs=" + folder()}) {
      all.insert(all.end(), {"--set", each});
    }
    all.insert(all.end(), args.begin() + 1, args.end());
    return {.args = std::move(all),
            .env = {{"HOME", home_.path()}},
            .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS", "HF_TOKEN", "http_proxy", "all_proxy"},
            .directory = home_.path(),
            .input = Process::Options::Input::kNull};
  }
  Finished run(const std::vector<std::string>& args) const { return run_to_end(options(args)); }
  std::string folder() const { return home_ / "models"; }

 private:
  TemporaryDirectory home_;
  const std::string hub_;
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

  CHECK_THAT(machine.run({"models", "--to", "127.0.0.1:1"}).out, has_text("tiny"));
  const auto typo = machine.run({"rm", "tinny", "--to", "127.0.0.1:1"});
  CHECK(typo.status == 1);
  CHECK_THAT(typo.err, has_text("did you mean \"tiny\"?"));
  const auto removed = machine.run({"rm", "tiny", "--to", "127.0.0.1:1"});
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
                             has_text("To have another: rkllm-mcp pull hf.co/acme/tiny:FILE"));
  CHECK_THAT(pulled.out, has_text("tiny.rkllm is there"));
  CHECK(machine.run({"pull", "hf.co/acme/tiny:tiny.rkllm"}).err.empty());
}

TEST_CASE("pull ends with the next command, also where the folder is none of the settings") {
  FakeHub hub;
  hub.files["tiny.rkllm"] = "a model";
  const Machine machine(hub.url());
  const std::string elsewhere = machine.folder() + "-elsewhere";
  const auto pulled = machine.run({"pull", "hf.co/acme/tiny", "--to", elsewhere});
  CHECK_THAT(pulled.out, has_text("Load it: rkllm-mcp load " + elsewhere + "/tiny.rkllm\n"));
  const auto nowhere = machine.run({"pull", "hf.co/acme/tiny", "--set", "runtime.model_dirs=[]"});
  CHECK(nowhere.status == 1);
  CHECK_THAT(nowhere.err, has_text("Say where: rkllm-mcp pull --to ./models hf.co/acme/tiny;"));
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

TEST_CASE("Ctrl-C stops a pull, and the next one goes on from there") {
  FakeHub hub;
  hub.files["tiny.rkllm"] = std::string(4'000'000, 'x');
  const Machine machine(hub.url());
  std::promise<void> is_interrupted;  // until then the network is silent
  hub.before_second_half = [done = is_interrupted.get_future().share()] { done.wait(); };
  Process pull(machine.options({"pull", "hf.co/acme/tiny"}));
  REQUIRE(wait_for_file(machine.folder() + "/tiny.rkllm.part.tag"));
  pull.signal(SIGINT);
  CHECK(pull.wait() == 1);
  is_interrupted.set_value();
  CHECK_THAT(pull.error_text(), has_text("the same command goes on from there"));
  const auto whole = machine.run({"pull", "hf.co/acme/tiny"});
  INFO(whole.err);
  CHECK(whole.status == 0);
  CHECK(read_file(machine.folder() + "/tiny.rkllm") == hub.files["tiny.rkllm"]);
}

TEST_CASE("rm also deletes what an unfinished pull has left") {
  FakeHub hub;
  const Machine machine(hub.url());
  std::filesystem::create_directories(machine.folder());
  write_file(machine.folder() + "/tiny.rkllm.part", "a beginning");
  write_file(machine.folder() + "/tiny.rkllm.part.tag", "sha256:x");
  CHECK(machine.run({"rm", "tiny", "--to", "127.0.0.1:1"}).status == 0);
  CHECK(std::filesystem::is_empty(machine.folder()));
}
