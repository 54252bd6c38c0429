#include "engine/prompt_encoder.hpp"

#include "answers/random.hpp"
#include "engine/contract.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

namespace rkllm_mcp::sim {
namespace {

constexpr std::string_view kImageTag = "<image>";
constexpr std::string_view kVideoTag = "<video>";

// The vendor's protocol: a negative answer of the callback says how many ids it has room for; asked again with that
// much room it must return exactly that.
std::vector<TokenId> tokenize_by_callback(Client& client, const std::string& text) {
  std::vector<TokenId> ids(text.size() + 2);
  int count = client.tokenize(text.c_str(), text.size(), ids);
  if (count < 0) {
    ids.resize(static_cast<std::size_t>(-static_cast<std::int64_t>(count)));
    const int again = client.tokenize(text.c_str(), text.size(), ids);
    if (again != -count) broken_contract(Death::kAbort, "tokenizer_callback: returned another count than it asked for");
    count = again;
  }
  ids.resize(std::min(ids.size(), static_cast<std::size_t>(count)));
  return ids;
}

std::size_t count_tags(std::string_view text, std::string_view tag) {
  std::size_t count = 0;
  for (auto at = text.find(tag); at != std::string_view::npos; at = text.find(tag, at + tag.size())) ++count;
  return count;
}

class Encoder {
 public:
  Encoder(const Input& input, const Instance& instance, bool first)
      : input_(input), instance_(instance), first_(first) {}

  std::optional<EncodedPrompt> encode() {
    const bool accepted = std::visit([this](const auto& content) { return read(content); }, input_.content);
    if (!accepted) return std::nullopt;
    return std::move(prompt_);
  }

 private:
  bool read(const EmptyInput&) {
    instance_.log.warning("the input is empty");
    prompt_.is_empty = true;
    return true;
  }

  bool read(const UnknownInput&) { return refuse("unknown input_type"); }

  bool read(const PromptInput& prompt) {
    const std::optional<RenderedTurn> turn = render(prompt.text);
    if (!turn) return false;
    begin(turn->system);
    append(turn->rest);
    if (prompt_.cells.empty()) prompt_.cells.push_back(kBeginOfText);
    return true;
  }

  bool read(const TokenInput& tokens) {
    for (const TokenId id : tokens.ids) {
      if (id < 0 || id >= instance_.model.vocab_size) {
        broken_contract(Death::kSegmentationFault,
                        "rkllm_run: token id " + std::to_string(id) + " is not in the model's vocabulary");
      }
      prompt_.cells.push_back(static_cast<Cell>(id));
    }
    return true;
  }

  bool read(const EmbedInput& embed) {
    if (embed.n_tokens < 1 || embed.n_tokens > instance_.context) return refuse("embed_input.n_tokens is out of range");
    append_rows(embed.values, 0, embed.n_tokens);
    return true;
  }

  bool read(const MultimodalInput& input) {
    for (const MediaInput* media : {&input.images, &input.videos}) {
      if (media->count == 0) continue;
      const MediaTexts& texts = media->texts;
      if (!texts.start || !texts.end || !texts.content) return refuse("multimodal start, end or content is NULL");
      if (texts.content->empty()) return refuse("multimodal content is empty");
      if (media->values.empty()) return refuse("the images or videos do not fit into the context");
    }
    if (const std::size_t patch = instance_.model.image_patch; patch > 0 && input.images.count > 0) {
      const std::size_t patches = input.image_width / patch * (input.image_height / patch);
      if (patches != input.images.tokens_each) return refuse("image_width and image_height do not fit n_image_tokens");
    }
    if (count_tags(input.text, kImageTag) != input.images.count ||
        count_tags(input.text, kVideoTag) != input.videos.count) {
      return refuse("the number of <image> or <video> tags is not that of the images or videos");
    }
    const std::optional<RenderedTurn> turn = render(input.text);
    if (!turn) return false;
    begin(turn->system);
    append_multimodal(turn->rest, input);
    return true;
  }

  std::optional<RenderedTurn> render(const std::string& text) {
    prompt_.said = text;
    if (!instance_.chat_template.is_usable()) {
      refuse("the chat template cannot be parsed; configure it via rkllm_set_chat_template");
      return std::nullopt;
    }
    if (!input_.from_tool) return instance_.chat_template.render(text, input_.enable_thinking, first_);
    const std::optional<std::string> results = instance_.chat_template.tool_results(text);
    if (!results) {
      refuse("the prompt of role \"tool\" must be a JSON array");
      return std::nullopt;
    }
    return instance_.chat_template.render(*results, input_.enable_thinking, first_);
  }

  void begin(const std::string& system) {
    if (instance_.model.chat_template == Template::kNone) prompt_.cells.push_back(kBeginOfText);
    if (system.empty()) return;
    append(system);
    prompt_.system_cells = prompt_.cells.size();
  }

  void append(const std::string& text) {
    if (text.empty()) return;
    prompt_.rendered += text;
    const std::vector<TokenId> ids = instance_.model.tokenizer
                                         ? Vocabulary::built_in().encode(text, instance_.model.special_tokens)
                                         : tokenize_by_callback(*instance_.client, text);
    for (const TokenId id : ids) prompt_.cells.push_back(static_cast<Cell>(id));
  }

  // Rows `first` to `first + count - 1` of a matrix; equal rows make equal cells.
  void append_rows(std::span<const float> values, std::size_t first, std::size_t count) {
    const auto width = static_cast<std::size_t>(instance_.model.embedding_size);
    for (std::size_t row = first; row < first + count; ++row) {
      prompt_.cells.push_back(kEmbeddingCell | fnv1a(bytes_of(values.subspan(row * width, width))));
    }
  }

  // Each tag becomes start, the rows of its image or video, and end.
  void append_multimodal(std::string_view text, const MultimodalInput& input) {
    std::size_t images = 0;
    std::size_t videos = 0;
    for (;;) {
      const std::size_t image = text.find(kImageTag);
      const std::size_t video = text.find(kVideoTag);
      const std::size_t at = std::min(image, video);
      append(std::string(text.substr(0, at)));
      if (at == std::string_view::npos) return;
      text.remove_prefix(at + (image < video ? kImageTag : kVideoTag).size());
      const MediaInput& media = image < video ? input.images : input.videos;
      const std::size_t number = (image < video ? images : videos)++;
      append(*media.texts.start);
      for (std::size_t i = 0; i < media.tokens_each; ++i) prompt_.rendered += *media.texts.content;
      append_rows(media.values, number * media.tokens_each, media.tokens_each);
      append(*media.texts.end);
    }
  }

  bool refuse(std::string_view reason) const {
    instance_.log.error(reason);
    return false;
  }

  const Input& input_;
  const Instance& instance_;
  const bool first_;
  EncodedPrompt prompt_;
};

}  // namespace

std::optional<EncodedPrompt> encode_input(const Input& input, const Instance& instance, bool first) {
  return Encoder(input, instance, first).encode();
}

}  // namespace rkllm_mcp::sim
