// rkllm-sim-info: says what a simulated model does, in words.
#include "model/model_file.hpp"
#include "model/vocabulary.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

namespace {

using namespace rkllm_mcp::sim;

void print(const char* property, const std::string& value) {
  if (!value.empty()) std::printf("  %-15s %s\n", property, value.c_str());
}

std::string pace(double tokens_per_s) {
  if (tokens_per_s == 0) return "as fast as this machine can";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%g tokens/s", tokens_per_s);
  return text.data();
}

std::string languages(const ModelFile& model) {
  constexpr std::array<const char*, kLanguageCount> kNames{"English", "Vietnamese", "Chinese", "Japanese", "emoji"};
  std::string text;
  for (std::size_t i = 0; i < kLanguageCount; ++i) {
    if (model.languages[i] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(kNames[i]) + " " + std::to_string(model.languages[i]);
  }
  return text;
}

std::string chat_template(const ModelFile& model) {
  switch (model.chat_template) {
    case Template::kChatMl: return "ChatML";
    case Template::kNone: return "none: prompts are used as they are";
    case Template::kUnparseable: return "cannot be parsed: prompts fail until rkllm_set_chat_template";
  }
  return "";
}

std::string needs(const ModelFile& model) {
  std::string text = "enabled_cpus_num >= " + std::to_string(model.npu_cores);
  if (!model.tokenizer) text += ", tokenizer_callback";
  if (!model.embeddings) text += ", embed_callback";
  if (model.cross_attention) text += ", rkllm_set_cross_attn_params if use_cross_attn is set";
  return text;
}

std::string fault(const Fault& fault) {
  const std::string when = fault.token == 0 ? "rkllm_init" : "callback " + std::to_string(fault.token) + " of a run";
  switch (fault.what) {
    case Fault::What::kFail: return when + " fails with -1";
    case Fault::What::kError: return when + " is RKLLM_RUN_ERROR";
    case Fault::What::kCrash: return when + " crashes the process";
    case Fault::What::kLog: return when + " logs an error, and goes on";
    case Fault::What::kHang: return when + " never comes";
    case Fault::What::kOutOfMemory: return when + " runs out of NPU memory and crashes";
  }
  return "";
}

void describe(const ModelFile& model) {
  std::printf("%s\n", model.name.c_str());
  if (!model.description.empty()) std::printf("%s\n", model.description.c_str());
  print("platform", model.platform.empty() ? "any" : model.platform);
  print("needs", needs(model));
  print("context", "up to " + std::to_string(model.max_context_len) + " tokens");
  print("vocabulary", std::to_string(model.vocab_size) + " ids, " + std::to_string(Vocabulary::built_in().size()) +
                          " of them with text");
  print("embedding", std::to_string(model.embedding_size) + " floats");
  print("prefill", pace(model.prefill_tokens_per_s));
  print("decode", pace(model.decode_tokens_per_s));
  print("answers", std::to_string(model.answer_tokens[0]) + " to " + std::to_string(model.answer_tokens[1]) +
                       " tokens: " + languages(model));
  print("thinks", model.thinking ? "yes, if enable_thinking is set" : "no");
  print("template", chat_template(model));
  print("system text", model.default_system);
  print("prefix reuse", model.reuses_prefix ? "yes" : "no, and no prompt cache");
  if (model.npu_memory_mb > 0) print("NPU memory", std::to_string(model.npu_memory_mb) + " MB");
  for (const Fault& one : model.faults) print("fault", fault(one));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) == "--help") {
    std::fputs(
        "usage: rkllm-sim-info MODEL...\n"
        "Says what simulated models (JSON files, see the simulator's README) do. They compute nothing.\n",
        argc < 2 ? stderr : stdout);
    return argc < 2 ? 2 : 0;
  }
  int status = 0;
  for (int i = 1; i < argc; ++i) {
    try {
      if (i > 1) std::puts("");
      describe(read_model_file(argv[i]));
    } catch (const std::exception& refusal) {
      std::fprintf(stderr, "rkllm-sim-info: %s: %s\n", argv[i], refusal.what());
      status = 1;
    }
  }
  return status;
}
