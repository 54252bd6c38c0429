// Images: with the texts of rkllm_init before 1.3.0, with texts of their own since.
#include "handle.hpp"

#include <string>
#include <string_view>
#include <vector>

using namespace simulated;

namespace {

constexpr std::size_t kWidth = 64;  // floats per row, of fast.json

constexpr const char* kStart = "<begin>";
constexpr const char* kEnd = "<end>";
constexpr const char* kContent = "<row>";

template <class Param>
void set_texts(Param& param, const char* start, const char* end, const char* content) {
  if constexpr (requires { param.img_start; }) {
    param.img_start = start;
    param.img_end = end;
    param.img_content = content;
  }
}

template <class Multimodal>
void set_images(Multimodal& input, float* values, std::size_t rows, std::size_t count) {
  if constexpr (requires { input.image; }) {
    input.image.image_embed = values;
    input.image.n_image_tokens = rows;
    input.image.n_image = count;
    input.image.image_start = kStart;
    input.image.image_end = kEnd;
    input.image.image_content = kContent;
  } else {
    input.image_embed = values;
    input.n_image_tokens = rows;
    if constexpr (requires { input.n_image; }) input.n_image = count;
  }
}

// A text with images of three rows; where a set has no number of images that is one.
struct Pictures {
  explicit Pictures(const char* text, std::size_t count = 1) : prompt(text), values(count * 3 * kWidth, 0.5F) {
    input.input_type = RKLLM_INPUT_MULTIMODAL;
    input.multimodal_input.prompt = prompt.data();
    set_images(input.multimodal_input, values.data(), 3, count);
  }
  Pictures(const Pictures&) = delete;
  Pictures& operator=(const Pictures&) = delete;

  std::string prompt;
  std::vector<float> values;
  RKLLMInput input{};
};

}  // namespace

TEST_CASE("the tag of an image becomes the start, the content for each row and the end that the set takes") {
  const Environment log("RKLLM_LOG_LEVEL", "2");
  Pictures picture("What is in <image>?");
  int status = -7;
  const Written written = written_by([&] {
    std::string start = kStart, end = kEnd, content = kContent;
    Handle handle(model("fast"),
                  [&](RKLLMParam& param) { set_texts(param, start.c_str(), end.c_str(), content.c_str()); });
    for (std::string* const text : {&start, &end, &content}) text->assign(text->size(), '#');  // they were copied
    status = handle.run(picture.input);
  });
  CHECK(status == 0);
  CHECK_THAT(written.out, rkllm_mcp::test::has_text("What is in <begin><row><row><row><end>?"));
}

TEST_CASE("an image whose prompt has no tag for it is refused without a callback") {
  Pictures picture("What is this?");
  Handle handle(model("fast"), [](RKLLMParam& param) { set_texts(param, kStart, kEnd, kContent); });
  CHECK(handle.run(picture.input) == -1);
  CHECK(handle.events.empty());
}

TEST_CASE("a prompt has one image before 1.2.1b1, and as many as it says since") {
  constexpr bool counts = std::string_view(SIMULATED_VERSION) >= "1.2.1b1";
  Pictures pictures("Compare <image> with <image>.", 2);
  Handle handle(model("fast"), [](RKLLMParam& param) { set_texts(param, kStart, kEnd, kContent); });
  CHECK(handle.run(pictures.input) == (counts ? 0 : -1));
}
