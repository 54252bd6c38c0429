// What somebody is told to do who has no model, by what the server says of its runtime.
#include "cli/people/first_model.hpp"

#include "server/cli/board_bench.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <filesystem>
#include <string>

namespace rkllm_mcp::test {
namespace {

BoardBench board_with_runtime(const Json& runtime) {
  return BoardBench({{"GET /health", {{{"models", Json::array()}, {"runtime", runtime}}}}});
}

std::string first_words(ServerLink link, bool has_chat = true, const std::string& wanted = {}) {
  OfferedModels offered;
  offered.has_chat = has_chat;
  return words_of_first_model(link, offered, wanted);
}

// Answers every question with that.
std::string first_words_of(const std::string& answer) {
  const LinkBench bench(answer);
  return first_words(bench.link());
}

}  // namespace

TEST_CASE("who has a board and no model fetches one, with the settings that the server has") {
  const BoardBench board = board_with_runtime({{"state", "ready"}, {"simulated", false}});
  const std::string settings = " --settings " + board.settings_file();
  const std::string words = first_words(board.link_of_settings());
  CHECK_THAT(words, has_text("Fetch one: rkllm-mcp pull hf.co/OWNER/NAME" + settings + "; load one: rkllm-mcp load "));
  CHECK_THAT(words, has_text("(rkllm-mcp settings path" + settings + " tells in which file)"));
}

TEST_CASE("who has a server elsewhere has it fetch a model, or fetches one there if it has no chat host") {
  const BoardBench board = board_with_runtime({{"state", "ready"}, {"simulated", false}});
  CHECK(first_words(board.link()) == "Have the server fetch one: rkllm-mcp pull hf.co/OWNER/NAME" + board.where() +
                                         "; load one: rkllm-mcp load FILE.rkllm" + board.where() +
                                         "; or name folders with .rkllm files in runtime.model_dirs of its settings");
  CHECK_THAT(first_words(board.link(), false),
             has_text("Fetch one, on its machine: rkllm-mcp pull hf.co/OWNER/NAME; load one: "));
}

TEST_CASE("a server without a runtime is told first, since its models need one") {
  const BoardBench board = board_with_runtime({{"state", "gone"}, {"simulated", true}});
  CHECK_THAT(first_words(board.link()),
             has_text("The server has no runtime, which models need: rkllm-mcp doctor says what to do. Have the "));
  CHECK_THAT(first_words(board.link_of_settings()),
             has_text("rkllm-mcp doctor --settings " + board.settings_file() + " says what to do. Fetch one: "));
}

TEST_CASE("where the simulator stands in for the runtime one of its models is loaded, by its file") {
  const auto shipped = model_of_simulator();
  REQUIRE(shipped);
  CHECK(std::filesystem::is_regular_file(*shipped));
  const BoardBench board = board_with_runtime({{"simulated", true}});
  const std::string load = "Load one of the simulator's: rkllm-mcp load ";
  const std::string words = first_words(board.link());
  CHECK_THAT(words, has_text(load + *shipped + board.where() + "\nBeside it: "));
  CHECK_THAT(words, !has_text("Beside it: " + std::filesystem::path(*shipped).filename().string()));
  CHECK_THAT(words, has_text("fast.json"));

  // The one that was wanted, if there is one of that name beside it.
  const std::string fast = std::filesystem::path(*shipped).replace_filename("fast.json").string();
  REQUIRE(std::filesystem::is_regular_file(fast));
  for (const char* const wanted : {"fast", "fast.json"}) {
    CHECK_THAT(first_words(board.link(), true, wanted), has_text(load + fast + board.where()));
  }
  for (const char* const wanted : {"none", "", "../models/fast", ".."}) {
    CHECK_THAT(first_words(board.link(), true, wanted), has_text(load + *shipped + board.where()));
  }
}

TEST_CASE("where the server does not say which runtime it has, the settings of this machine count") {
  const std::string none = web_answer("{}", "application/json", "", "401 Unauthorized");
  const std::string odd = GENERATE("[]", "{}", "{\"runtime\":5}", "{\"runtime\":null}");
  const std::string of_settings = first_words_of(none);
  CHECK_FALSE(of_settings.empty());
  const auto without_place = [](const std::string& words) { return words.substr(0, words.find(" --to ")); };
  CHECK(without_place(first_words_of(web_answer(odd, "application/json"))) == without_place(of_settings));
}

}  // namespace rkllm_mcp::test
