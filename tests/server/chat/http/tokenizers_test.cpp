// Which tokenizer lies beside a model, and how often its file is read. A file that is not understood is told of
// whenever it is read: so these show it.
#include "chat/http/tokenizers.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/waiting_loop.hpp"

#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;
using namespace rkllm_mcp::test;

namespace {

// A tokenizer whose token 1 is that letter.
std::string tokenizer_with(const std::string& letter) {
  return R"({"added_tokens":[],"model":{"type":"BPE","unk_token":"<unk>","vocab":{"<unk>":0,")" + letter +
         R"(":1},"merges":[]}})";
}

struct TokenizerBench {
  // What token 1 is of the tokenizer beside the model; "none" if there is no tokenizer.
  std::string beside(const std::string& model) {
    std::string found;
    bool is_over = false;
    tokenizers.use(
        folder / model,
        [&](const Tokenizer* tokenizer) {
          worked_on = std::this_thread::get_id();
          found = tokenizer == nullptr ? "none" : tokenizer->text_of(1).value_or("");
        },
        [&] {
          is_over = true;
          told_on = std::this_thread::get_id();
        });
    loop.until([&] { return is_over; }, "nobody has called back");
    return found;
  }
  // The files that were told of since the last time, without the folder.
  std::vector<std::string> take_warned() {
    std::vector<std::string> files;
    for (const auto& [path, why] : std::exchange(warned, {})) files.push_back(path.substr(folder.path().size() + 1));
    return files;
  }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder / file).parent_path());
    write_file(folder / file, text);
  }

  const TemporaryDirectory folder;
  WaitingLoop loop;
  std::vector<std::pair<std::string, std::string>> warned;
  std::thread::id worked_on, told_on;
  Tokenizers tokenizers{loop.loop(),
                        [this](const std::string& path, const std::string& why) { warned.emplace_back(path, why); }};
};

using Warned = std::vector<std::string>;

}  // namespace

TEST_CASE("a model's own tokenizer is taken before the one of its folder, which is that of the only model there") {
  TokenizerBench bench;
  bench.write("m.rkllm", "");
  CHECK(bench.beside("m.rkllm") == "none");
  bench.write("tokenizer.json", tokenizer_with("f"));
  CHECK(bench.beside("m.rkllm") == "f");
  bench.write("m.tokenizer.json", tokenizer_with("m"));
  CHECK(bench.beside("m.rkllm") == "m");
  CHECK(bench.beside("other.rkllm") == "f");
  bench.write("other.rkllm", "");
  CHECK(bench.beside("m.rkllm") == "m");
  CHECK(bench.beside("other.rkllm") == "none");
  CHECK(bench.warned.empty());
}

TEST_CASE("tokenizers work beside the loop, and what comes of it is told on it") {
  TokenizerBench bench;
  bench.beside("m.rkllm");
  CHECK(bench.worked_on != std::this_thread::get_id());
  CHECK(bench.told_on == std::this_thread::get_id());
}

TEST_CASE("a tokenizer that has changed is read again") {
  TokenizerBench bench;
  bench.write("m.tokenizer.json", tokenizer_with("m"));
  CHECK(bench.beside("m.rkllm") == "m");
  bench.write("m.tokenizer.json", tokenizer_with("longer"));
  CHECK(bench.beside("m.rkllm") == "longer");
  std::filesystem::remove(bench.folder / "m.tokenizer.json");
  CHECK(bench.beside("m.rkllm") == "none");
}

TEST_CASE("a file that is not understood is told of when it is read, with the reason, and is as if there were none") {
  TokenizerBench bench;
  bench.write("m.tokenizer.json", R"({"model":{"type":"WordPiece"}})");
  CHECK(bench.beside("m.rkllm") == "none");
  REQUIRE(bench.warned.size() == 1);
  CHECK(bench.warned[0].first == bench.folder / "m.tokenizer.json");
  CHECK_THAT(bench.warned[0].second, has_text("WordPiece"));
  bench.take_warned();
  CHECK(bench.beside("m.rkllm") == "none");
  CHECK(bench.take_warned() == Warned{});
  bench.write("m.tokenizer.json", "{}");
  CHECK(bench.beside("m.rkllm") == "none");
  CHECK(bench.take_warned() == Warned{"m.tokenizer.json"});
  bench.write("m.tokenizer.json", tokenizer_with("m"));
  CHECK(bench.beside("m.rkllm") == "m");
}

TEST_CASE("the two files that were used last are kept") {
  TokenizerBench bench;
  for (const char* const name : {"a", "b", "c"}) bench.write(std::string(name) + ".tokenizer.json", "{}");
  bench.beside("a.rkllm");
  bench.beside("b.rkllm");
  CHECK(bench.take_warned() == Warned{"a.tokenizer.json", "b.tokenizer.json"});
  bench.beside("a.rkllm");
  bench.beside("b.rkllm");
  bench.beside("a.rkllm");
  CHECK(bench.take_warned() == Warned{});
  bench.beside("c.rkllm");  // in the place of b
  bench.beside("a.rkllm");
  CHECK(bench.take_warned() == Warned{"c.tokenizer.json"});
  bench.beside("b.rkllm");
  CHECK(bench.take_warned() == Warned{"b.tokenizer.json"});
}

TEST_CASE("what is no file is told of once, and not for each request") {
  TokenizerBench bench;
  std::filesystem::create_directory(bench.folder / "m.tokenizer.json");
  CHECK(bench.beside("m.rkllm") == "none");
  CHECK(bench.take_warned() == Warned{"m.tokenizer.json"});
  CHECK(bench.beside("m.rkllm") == "none");
  CHECK(bench.take_warned() == Warned{});
}
