// What kinds of input a run takes, and what it refuses: prompts, tokens, embeddings, images and videos.
#include "simulated.hpp"

#include <cstring>

using namespace simulated;

TEST_CASE("an empty prompt runs on the template, or on the BOS token alone") {
  Llm templated;
  CHECK(templated.run("", infer(1)) == 0);
  CHECK(templated.kv_size() > 1);

  const Directory directory;
  Llm plain(directory.model({{"chat_template", "none"}}));
  CHECK(plain.run("", infer(1)) == 0);
  CHECK(plain.kv_size() == 1);
}

TEST_CASE("an unknown input_type returns -1 without a callback") {
  Llm llm;
  RKLLMInput input = prompt("Hello");
  const int unknown = 9;
  std::memcpy(&input.input_type, &unknown, sizeof unknown);
  CHECK(llm.run(input) == -1);
  CHECK(llm.events.empty());
}

TEST_CASE("an unknown mode generates") {
  Llm llm;
  RKLLMInferParam params = infer(3);
  const int unknown = 9;
  std::memcpy(&params.mode, &unknown, sizeof unknown);
  CHECK(llm.run("Hello", params) == 0);
  CHECK(llm.token_count() == 3);
}

TEST_CASE("tokens are taken raw") {
  Llm llm;
  std::vector<int> seven = ids(7);
  CHECK(llm.run(tokens(seven), infer(1)) == 0);
  CHECK(llm.kv_size() == 7);
}

TEST_CASE("NULL token ids are empty input, no token ids run") {
  Llm llm;
  RKLLMInput input{};
  input.input_type = RKLLM_INPUT_TOKEN;
  CHECK(llm.run(input) == 0);
  CHECK(llm.events.size() == 2);
  CHECK(llm.events[0].token == -1);

  int id = 300;
  input.token_input = {&id, 0};
  CHECK(llm.run(input, infer(3)) == 0);
  CHECK(llm.token_count() == 3);
}

TEST_CASE("embeddings take as many positions as they have rows, and equal rows are found again") {
  Llm llm;
  std::vector<float> values = rows(5, kEmbedding);
  CHECK(llm.run(embeds(values), infer(1)) == 0);
  CHECK(llm.kv_size() == 5);
  values[4 * kEmbedding] = -1;  // in the last row
  CHECK(llm.run(embeds(values), infer(1)) == 0);
  CHECK(llm.computed() == 1);
  values[0] = -1;
  CHECK(llm.run(embeds(values), infer(1)) == 0);
  CHECK(llm.computed() == 5);
}

TEST_CASE("embed_input.n_tokens must be 1 to the context, NULL is empty input") {
  Llm llm(model("fast"), [](RKLLMParam& param) { param.max_context_len = 32; });
  std::vector<float> values = rows(33, kEmbedding);
  CHECK(llm.run(embeds(values)) == -1);
  CHECK(llm.events.empty());
  RKLLMInput input = embeds(values);
  input.embed_input.n_tokens = 0;
  CHECK(llm.run(input) == -1);
  input.embed_input.embed = nullptr;
  CHECK(llm.run(input) == 0);
  CHECK(llm.events[0].token == -1);
}

TEST_CASE("each image tag becomes start, rows and end") {
  Llm llm;
  REQUIRE(llm.run("What is in ?", infer(1)) == 0);
  const int without = llm.kv_size();
  Picture picture(1, 9);
  REQUIRE(llm.run(picture.input, infer(1)) == 0);
  CHECK(llm.kv_size() == without + 9);
  picture.input.multimodal_input.image.image_start = "<|vision_start|>";
  picture.input.multimodal_input.image.image_end = "<|vision_end|>";
  REQUIRE(llm.run(picture.input, infer(1)) == 0);
  CHECK(llm.kv_size() == without + 11);
  REQUIRE(llm.run(picture.input, infer(1)) == 0);
  CHECK(llm.computed() == 1);
}

TEST_CASE("an image without its required parts is empty input") {
  Llm llm;
  Picture picture(1, 9);
  auto& multimodal = picture.input.multimodal_input;
  SECTION("no prompt") { multimodal.prompt = nullptr; }
  SECTION("no rows") { multimodal.image.image_embed = nullptr; }
  SECTION("no images") { multimodal.image.n_image = 0; }
  SECTION("no tokens per image") { multimodal.image.n_image_tokens = 0; }
  CHECK(llm.run(picture.input) == 0);
  REQUIRE(llm.events.size() == 2);
  CHECK(llm.events[0].token == -1);
  CHECK_FALSE(llm.events[0].text);
}

TEST_CASE("an image whose text is NULL, whose content is empty or whose tags do not add up returns -1") {
  Llm llm;
  Picture picture(1, 9);
  auto& image = picture.input.multimodal_input.image;
  SECTION("no start") { image.image_start = nullptr; }
  SECTION("no end") { image.image_end = nullptr; }
  SECTION("no content") { image.image_content = nullptr; }
  SECTION("empty content") { image.image_content = ""; }
  SECTION("no tag") { std::strcpy(picture.prompt, "What is it?"); }
  SECTION("two tags") { std::strcpy(picture.prompt, "<image> or <image>?"); }
  SECTION("another tag") { std::strcpy(picture.prompt, "<image> or <video>?"); }
  CHECK(llm.run(picture.input) == -1);
  CHECK(llm.events.empty());
}

TEST_CASE("for models with two-dimensional positions the size of an image must fit its rows") {
  const Directory directory;
  Llm llm(directory.model({{"image_patch", 28}}));
  Picture picture(1, 6);
  auto& image = picture.input.multimodal_input.image;
  image.image_width = 3 * 28;
  image.image_height = 2 * 28;
  CHECK(llm.run(picture.input, infer(1)) == 0);
  image.image_height = 3 * 28;
  CHECK(llm.run(picture.input, infer(1)) == -1);
  CHECK(llm.events.empty());
}

TEST_CASE("tokenizer_callback and embed_callback are not asked by models that need neither") {
  static int asked = 0;
  asked = 0;
  const std::string path = model("fast");
  RKLLMParam param = param_for(path);
  RKLLMCallback callback{};
  callback.tokenizer_callback = [](void*, const char*, int32_t, int32_t*, int32_t) { return ++asked; };
  callback.embed_callback = [](void*, int32_t*, uint64_t, void*, uint64_t) { return ++asked; };
  LLMHandle handle = nullptr;
  REQUIRE(rkllm_init(&handle, &param, &callback) == 0);
  RKLLMInput input = prompt("Hello");
  RKLLMInferParam params = infer(3);
  CHECK(rkllm_run(handle, &input, &params, nullptr) == 0);
  CHECK(asked == 0);
  rkllm_destroy(handle);
}

TEST_CASE("a video takes frames times tokens positions") {
  Llm llm;
  std::vector<float> values = rows(2 * 3, kEmbedding);
  char text[] = "<video>";
  RKLLMInput input{};
  input.input_type = RKLLM_INPUT_MULTIMODAL;
  input.multimodal_input.prompt = text;
  auto& video = input.multimodal_input.video;
  video.video_embed = values.data();
  video.n_video = 1;
  video.n_frame_per_video = 2;
  video.n_frame_tokens = 3;
  video.video_start = "";
  video.video_end = "";
  video.video_content = "<|video_pad|>";
  REQUIRE(llm.run("", infer(1)) == 0);
  const int without = llm.kv_size();
  REQUIRE(llm.run(input, infer(1)) == 0);
  CHECK(llm.kv_size() == without + 6);
}

TEST_CASE("tokenizer_callback serves models without a tokenizer, and is asked again with the room that it wants") {
  static std::vector<int> capacities;
  capacities.clear();
  const Directory directory;
  const std::string path = directory.model({{"tokenizer", false}, {"chat_template", "none"}});
  RKLLMParam param = param_for(path);
  RKLLMCallback callback{};
  static std::vector<std::optional<std::string>> texts;
  texts.clear();
  callback.result_callback = [](RKLLMResult* result, void*, LLMCallState state) {
    if (state == RKLLM_RUN_NORMAL)
      texts.push_back(result->text ? std::optional<std::string>(result->text) : std::nullopt);
    return 0;
  };
  static std::thread::id thread;
  callback.tokenizer_callback = [](void*, const char*, int32_t length, int32_t* ids, int32_t room) {
    thread = std::this_thread::get_id();
    capacities.push_back(room);
    const int32_t wanted = length * 3;
    if (room < wanted) return -wanted;
    for (int32_t i = 0; i < wanted; ++i) ids[i] = 300 + i;
    return wanted;
  };
  LLMHandle handle = nullptr;
  REQUIRE(rkllm_init(&handle, &param, &callback) == 0);
  RKLLMInput input = prompt("Hello");
  RKLLMInferParam params = infer(2);
  CHECK(rkllm_run(handle, &input, &params, nullptr) == 0);
  CHECK(capacities == std::vector<int>{7, 15});
  CHECK(thread == std::this_thread::get_id());
  CHECK(texts == std::vector<std::optional<std::string>>{std::nullopt, std::nullopt});
  int size = 0;
  rkllm_get_kv_cache_size(handle, &size);
  CHECK(size == 1 + 15 + 2 - 1);
  rkllm_destroy(handle);
}

TEST_CASE("what embed_callback fails to embed is not in the cache, but in the figures of the next run") {
  struct Seen {
    bool fails = false;
    RKLLMPerfStat perf{};
  };
  static Seen seen;
  seen = {};
  const Directory directory;
  const std::string path = directory.model({{"embeddings", false}});
  RKLLMParam param = param_for(path);
  RKLLMCallback callback{};
  callback.result_callback = [](RKLLMResult* result, void*, LLMCallState state) {
    if (state == RKLLM_RUN_FINISH) seen.perf = result->perf;
    return 0;
  };
  callback.embed_callback = [](void*, int32_t*, uint64_t, void*, uint64_t) { return seen.fails ? 1 : 0; };
  LLMHandle handle = nullptr;
  REQUIRE(rkllm_init(&handle, &param, &callback) == 0);
  const auto run = [&](std::vector<int> list) {
    RKLLMInput input = tokens(list);
    RKLLMInferParam params = infer(3);
    return rkllm_run(handle, &input, &params, nullptr);
  };
  REQUIRE(run(ids(7)) == 0);
  std::vector<int> other = ids(7, 600);
  other[0] = ids(7)[0];
  other[1] = ids(7)[1];
  seen.fails = true;
  CHECK(run(other) == -1);
  int size = -7;
  REQUIRE(rkllm_get_kv_cache_size(handle, &size) == 0);
  CHECK(size == 2);

  seen.fails = false;
  REQUIRE(run(ids(20, 900)) == 0);
  CHECK(seen.perf.prefill_tokens == 20 + 5);
  rkllm_destroy(handle);
}

TEST_CASE("embed_callback gets all new prompt tokens, then each generated one, and its failure is ERROR and -1") {
  struct Seen {
    std::vector<std::uint64_t> counts;
    std::size_t fail_at = 0;
    std::vector<LLMCallState> states;
  };
  static Seen seen;
  seen = {};
  const Directory directory;
  const std::string path = directory.model({{"embeddings", false}});
  RKLLMParam param = param_for(path);
  RKLLMCallback callback{};
  callback.result_callback = [](RKLLMResult*, void*, LLMCallState state) {
    seen.states.push_back(state);
    return 0;
  };
  callback.embed_callback = [](void*, int32_t*, uint64_t count, void*, uint64_t bytes) {
    seen.counts.push_back(count);
    CHECK(bytes == count * kEmbedding * sizeof(float));
    return seen.counts.size() == seen.fail_at ? 1 : 0;
  };
  LLMHandle handle = nullptr;
  REQUIRE(rkllm_init(&handle, &param, &callback) == 0);
  std::vector<int> seven = ids(7);
  RKLLMInput input = tokens(seven);
  RKLLMInferParam params = infer(3);
  CHECK(rkllm_run(handle, &input, &params, nullptr) == 0);
  CHECK(seen.counts == std::vector<std::uint64_t>{7, 1, 1});

  seen = {};
  seen.fail_at = 2;
  CHECK(rkllm_run(handle, &input, &params, nullptr) == -1);
  CHECK(seen.states == std::vector<LLMCallState>{RKLLM_RUN_NORMAL, RKLLM_RUN_ERROR});
  rkllm_destroy(handle);
}
