// A loaded model while it is leased, as the chat host uses it: for turns, or for embeddings. Event loop only.
#pragma once

#include "chat/turn/model_seam.hpp"
#include "models/leased_calls.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// What the facts of a loaded model are made from, by the two functions below.
struct LoadedFacts {
  NamedModel model{};    // name, path, template
  Json param = nullptr;  // the parameters that it was loaded with, defaults included
  std::string handle{};
};

chat::ModelFacts turn_facts(const LoadedFacts& loaded, const ModelRuntime& runtime);
chat::EmbeddingFacts embedding_facts(const LoadedFacts& loaded);

class LeasedTurnModel final : public chat::ModelSeam {
 public:
  LeasedTurnModel(asio::io_context& loop, const ModelRuntime& runtime, const TokenStream::Options& options,
                  Backend::CallId lease, const LoadedFacts& loaded);

  const chat::ModelFacts& facts() const override { return facts_; }
  std::uint64_t foreign_changes() const override;
  void clear_template(std::function<void(std::string complaint)> done) override;
  void run(std::string prompt, const chat::RunOptions& options, std::function<void(std::string_view text)> on_token,
           std::function<void(const chat::RunReport&)> done) override;
  void abort() override {
    is_aborted_ = true;
    calls_.abort();
  }
  void hold() override { calls_.hold(); }
  void go_on() override { calls_.go_on(); }
  void load_cache(const std::string& path, std::function<void(bool loaded)> done) override;

 private:
  void ended(const CallOutcome& outcome, std::uint64_t tokens, std::function<void(const chat::RunReport&)> done);

  const ModelRuntime runtime_;
  const std::string handle_;
  const chat::ModelFacts facts_;
  bool is_aborted_ = false;  // whether the latest run was aborted
  LeasedCalls calls_;
};

class LeasedEmbeddingModel final : public chat::EmbeddingSeam {
 public:
  LeasedEmbeddingModel(asio::io_context& loop, const ModelRuntime& runtime, const TokenStream::Options& options,
                       Backend::CallId lease, const LoadedFacts& loaded);

  const chat::EmbeddingFacts& facts() const override { return facts_; }
  void hidden_rows(std::string text, std::function<void(chat::HiddenRows)> done) override;

 private:
  using Done = std::function<void(chat::HiddenRows)>;
  void clear_and_run(std::string text, Done done);
  void run(std::string text, Done done);

  const chat::EmbeddingFacts facts_;
  bool has_cleared_template_ = false;
  LeasedCalls calls_;
};

}  // namespace rkllm_mcp
