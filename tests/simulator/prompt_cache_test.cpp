// Section "prompt cache" of the runtime's contract.
#include "simulated.hpp"

using namespace simulated;

namespace {

int run_and_save(Llm& llm, std::vector<int>& prompt_ids, const std::string& path, int flag = 1) {
  RKLLMPromptCacheParam cache{flag, path.c_str()};
  RKLLMInferParam params = infer(2);
  params.prompt_cache_params = &cache;
  return llm.run(tokens(prompt_ids), params);
}

}  // namespace

TEST_CASE("the prompt cache is written before the first token") {
  const Directory directory;
  const std::string path = directory.file("cache");
  Llm llm;
  bool there = false;
  llm.answer = [&](std::size_t call) {
    if (call == 1) there = std::filesystem::exists(path);
    return 0;
  };
  std::vector<int> seven = ids(7);
  REQUIRE(run_and_save(llm, seven, path) == 0);
  CHECK(there);
}

TEST_CASE("with flag 0 no prompt cache is written, whatever the path") {
  const Directory directory;
  Llm llm;
  std::vector<int> seven = ids(7);
  CHECK(run_and_save(llm, seven, directory.file("cache"), 0) == 0);
  CHECK_FALSE(std::filesystem::exists(directory.file("cache")));
}

TEST_CASE("a prompt cache that cannot be written is said to be saved, and the run returns 0") {
  Llm llm;
  std::vector<int> seven = ids(7);
  int status = -1;
  const Written written = written_by([&] { status = run_and_save(llm, seven, "/no/such/directory/cache"); });
  CHECK(status == 0);
  CHECK(contains(written.out, "prompt cache saved"));
  CHECK(written.err.empty());
}

TEST_CASE("without a path the prompt cache goes to ./prompt_cache.bin") {
  const Directory directory;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(directory.file(""));
  Llm llm;
  std::vector<int> seven = ids(7);
  RKLLMPromptCacheParam cache{1, nullptr};
  RKLLMInferParam params = infer(2);
  params.prompt_cache_params = &cache;
  const int status = llm.run(tokens(seven), params);
  std::filesystem::current_path(before);
  CHECK(status == 0);
  CHECK(std::filesystem::exists(directory.file("prompt_cache.bin")));
}

TEST_CASE("the prompt cache of a run that is aborted is there, and whole") {
  const Directory directory;
  const std::string path = directory.file("cache");
  Llm llm;
  llm.answer = [&](std::size_t) { return rkllm_abort(llm.handle); };
  std::vector<int> seven = ids(7);
  REQUIRE(run_and_save(llm, seven, path) == 0);
  CHECK(llm.token_count() == 1);
  CHECK(rkllm_load_prompt_cache(llm.handle, path.c_str()) == 0);
  CHECK(llm.kv_size() == 7);
  Llm other;
  CHECK(rkllm_load_prompt_cache(other.handle, path.c_str()) == 0);
  REQUIRE(other.run(tokens(seven), infer(2)) == 0);
  CHECK(other.computed() == 1);
}

TEST_CASE("models that cannot reuse prefixes have no prompt cache, and warn") {
  const Directory directory;
  const std::string path = directory.file("cache");
  Llm llm(directory.model({{"reuses_prefix", false}}));
  std::vector<int> seven = ids(7);
  Written written = written_by([&] { run_and_save(llm, seven, path); });
  CHECK(llm.finished());
  CHECK(contains(written.out, "W rkllm: this model cannot save a prompt cache"));
  CHECK_FALSE(std::filesystem::exists(path));
  written = written_by([&] { rkllm_load_prompt_cache(llm.handle, path.c_str()); });
  CHECK(contains(written.out, "W rkllm: this model cannot use a prompt cache"));
}

TEST_CASE("the prompt cache of another model is refused") {
  const Directory directory;
  const std::string path = directory.file("cache");
  Llm llm;
  std::vector<int> seven = ids(7);
  REQUIRE(run_and_save(llm, seven, path) == 0);
  Llm other(directory.model({{"name", "SIMULATED other"}}));
  CHECK(rkllm_load_prompt_cache(other.handle, path.c_str()) == 1);
  CHECK(other.kv_size() == 0);
}

TEST_CASE("a loaded prompt cache holds all but the last token, for single turns") {
  const Directory directory;
  const std::string path = directory.file("cache");
  std::vector<int> seven = ids(7);
  {
    Llm llm;
    REQUIRE(run_and_save(llm, seven, path) == 0);
  }
  Llm llm;
  REQUIRE(rkllm_load_prompt_cache(llm.handle, path.c_str()) == 0);
  CHECK(llm.kv_size() == 0);  // nothing is in the cache until a run makes use of it

  SECTION("a prompt that begins with it is computed from there") {
    REQUIRE(llm.run(tokens(seven), infer(2)) == 0);
    CHECK(llm.computed() == 1);
  }
  SECTION("it is not history") {
    REQUIRE(llm.run(tokens(seven), infer(2, 1)) == 0);
    CHECK(llm.computed() == 7);
    CHECK(llm.kv_size() == 8);
  }
  SECTION("once released, the size stays until the next run, which starts cold") {
    CHECK(rkllm_release_prompt_cache(llm.handle) == 0);
    CHECK(llm.kv_size() == 0);
    REQUIRE(llm.run(tokens(seven), infer(2)) == 0);
    CHECK(llm.computed() == 7);
  }
}

TEST_CASE("loading a prompt cache leaves the size of what is in use as it is") {
  const Directory directory;
  const std::string path = directory.file("cache");
  Llm llm;
  std::vector<int> seven = ids(7);
  REQUIRE(run_and_save(llm, seven, path) == 0);
  std::vector<int> twenty = ids(20, 600);
  REQUIRE(llm.run(tokens(twenty), infer(3)) == 0);
  REQUIRE(llm.kv_size() == 22);
  REQUIRE(rkllm_load_prompt_cache(llm.handle, path.c_str()) == 0);
  CHECK(llm.kv_size() == 22);
  REQUIRE(llm.run(tokens(seven), infer(2)) == 0);
  CHECK(llm.computed() == 1);
  CHECK(llm.kv_size() == 8);
}

TEST_CASE("a missing or empty prompt cache is -1, any other file is 1") {
  const Directory directory;
  Llm llm;
  CHECK(rkllm_load_prompt_cache(llm.handle, directory.file("missing").c_str()) == -1);
  CHECK(rkllm_load_prompt_cache(llm.handle, directory.write("empty", "").c_str()) == -1);
  CHECK(rkllm_load_prompt_cache(llm.handle, directory.write("garbage", "garbage").c_str()) == 1);
}

TEST_CASE("releasing a prompt cache that was never loaded returns 0") {
  Llm llm;
  CHECK(rkllm_release_prompt_cache(llm.handle) == 0);
}
