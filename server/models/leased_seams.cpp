#include "models/leased_seams.hpp"

#include "backend/kept_caches.hpp"
#include "json_members.hpp"
#include "jsonrpc/envelope.hpp"

#include <filesystem>
#include <optional>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::string_view kSetTemplate = "rkllm_set_chat_template";
constexpr std::string_view kCacheSize = "rkllm_get_kv_cache_size";
constexpr std::string_view kClearCache = "rkllm_clear_kv_cache";
constexpr std::string_view kLoadCache = "rkllm_load_prompt_cache";
constexpr std::string_view kHiddenLayer = "last_hidden_layer";

// Whether the parameters of a run have that field in this version of the runtime.
bool run_has(const ModelRuntime& runtime, std::string_view field) {
  const Method* const run = runtime.method(kRunMethod);
  return run != nullptr && run->input_schema.find("\"" + std::string(field) + "\"") != std::string_view::npos;
}

template <typename Value>
void take_number(const Json& param, const char* key, Value& value) {
  const auto found = param.find(key);
  if (found != param.end() && found->is_number()) value = found->get<Value>();
}

chat::Sampling sampling_of(const Json& param) {
  chat::Sampling sampling;
  take_number(param, "top_k", sampling.top_k);
  take_number(param, "top_p", sampling.top_p);
  take_number(param, "temperature", sampling.temperature);
  take_number(param, "repeat_penalty", sampling.repeat_penalty);
  take_number(param, "frequency_penalty", sampling.frequency_penalty);
  take_number(param, "presence_penalty", sampling.presence_penalty);
  take_number(param, "mirostat", sampling.mirostat);
  take_number(param, "mirostat_tau", sampling.mirostat_tau);
  take_number(param, "mirostat_eta", sampling.mirostat_eta);
  return sampling;
}

Json json_of(const chat::Sampling& sampling) {
  return Json{{"top_k", sampling.top_k},
              {"top_p", sampling.top_p},
              {"temperature", sampling.temperature},
              {"repeat_penalty", sampling.repeat_penalty},
              {"frequency_penalty", sampling.frequency_penalty},
              {"presence_penalty", sampling.presence_penalty},
              {"mirostat", sampling.mirostat},
              {"mirostat_tau", sampling.mirostat_tau},
              {"mirostat_eta", sampling.mirostat_eta}};
}

Json input_of(const ModelRuntime& runtime, std::string prompt, const chat::RunOptions& options) {
  Json input{{"input_type", "RKLLM_INPUT_PROMPT"}, {"prompt_input", std::move(prompt)}};
  if (run_has(runtime, "enable_thinking")) input["enable_thinking"] = options.enable_thinking;
  return input;
}

std::int64_t context_of(const Json& param) {
  constexpr std::int64_t kRuntimesOwn = 512;  // rkllm_createDefaultParam's
  std::int64_t context = kRuntimesOwn;
  take_number(param, "max_context_len", context);
  return context;
}

std::int64_t batch_of(const Json& param) {
  std::int64_t n_batch = 1;
  if (const auto extend = param.find("extend_param"); extend != param.end() && extend->is_object()) {
    take_number(*extend, "n_batch", n_batch);
  }
  return n_batch;
}

std::string text_of(const std::exception_ptr& error) { return as_rpc_error(error).what(); }

// The result where a call that comes before the run has failed.
chat::HiddenRows not_begun(const std::exception_ptr& error) {
  const RpcError why = as_rpc_error(error);
  return {.complaint = why.what(), .is_unsupported = why.code() == ErrorCode::kUnsupported};
}

bool has_broken_off(const RpcError& error) { return error.data().is_object() && error.data().contains("state"); }

}  // namespace

chat::ModelFacts turn_facts(const LoadedFacts& loaded, const ModelRuntime& runtime) {
  chat::ModelFacts facts;
  facts.name = loaded.model.name;
  facts.handle = loaded.handle;
  facts.file_name = std::filesystem::path(loaded.model.path).filename().string();
  facts.runtime_version = runtime.version;
  facts.max_context_len = context_of(loaded.param);
  facts.preset = sampling_of(loaded.param);
  facts.has_run_options = run_has(runtime, "sampling_params") && run_has(runtime, "max_new_tokens");
  facts.has_kv_size = runtime.method(kCacheSize) != nullptr;
  facts.n_batch = batch_of(loaded.param);
  facts.template_name = loaded.model.template_name;
  if (const auto use = runtime.queue->use_of(loaded.handle); use && !use->file.empty()) {
    facts.cache_identity = runtime.version + "\n" + use->file + "\n" + to_text(loaded.param);
  }
  const auto skips = loaded.param.find("skip_special_token");
  facts.shows_special_tokens = skips != loaded.param.end() && *skips == false;
  return facts;
}

chat::EmbeddingFacts embedding_facts(const LoadedFacts& loaded) {
  return {context_of(loaded.param), loaded.model.pooling, loaded.model.suffix, batch_of(loaded.param)};
}

LeasedTurnModel::LeasedTurnModel(asio::io_context& loop, const ModelRuntime& runtime,
                                 const TokenStream::Options& options, Backend::CallId lease, const LoadedFacts& loaded)
    : runtime_(runtime),
      handle_(loaded.handle),
      facts_(turn_facts(loaded, runtime)),
      calls_(loop, runtime, options, lease) {}

std::uint64_t LeasedTurnModel::foreign_changes() const {
  const auto use = runtime_.queue->use_of(handle_);
  return use ? use->foreign_changes : ~std::uint64_t{0};  // it has gone: nothing that was known of it holds
}

void LeasedTurnModel::clear_template(std::function<void(std::string complaint)> done) {
  calls_.call(kSetTemplate, Json{{"system_prompt", ""}, {"prompt_prefix", ""}, {"prompt_postfix", ""}},
              [done = std::move(done)](const CallOutcome& outcome) {
                done(outcome.error ? text_of(outcome.error) : std::string());
              });
}

void LeasedTurnModel::run(std::string prompt, const chat::RunOptions& options,
                          std::function<void(std::string_view text)> on_token,
                          std::function<void(const chat::RunReport&)> done) {
  Json infer{{"mode", "RKLLM_INFER_GENERATE"}};
  if (run_has(runtime_, "keep_history")) infer["keep_history"] = 0;
  if (facts_.has_run_options) {
    infer["sampling_params"] = json_of(options.sampling);
    infer["max_new_tokens"] = options.max_new_tokens;
  }
  if (!options.save_cache_to.empty()) {
    infer["prompt_cache_params"] = Json{{"save_prompt_cache", 1}, {"prompt_cache_path", options.save_cache_to}};
  }
  is_aborted_ = false;
  Json params{{"rkllm_input", input_of(runtime_, std::move(prompt), options)},
              {"rkllm_infer_params", std::move(infer)}};
  Json without_file;  // the same run, where the cache is to be saved in a file; else null
  if (!options.save_cache_to.empty()) {
    without_file = params;
    without_file["rkllm_infer_params"].erase("prompt_cache_params");
  }
  calls_.run(std::move(params), on_token,
             [this, without_file = std::move(without_file), on_token, done = std::move(done)](
                 const CallOutcome& outcome, std::uint64_t tokens) mutable {
               const bool is_refused = !without_file.is_null() && outcome.error &&
                                       as_rpc_error(outcome.error).code() == ErrorCode::kInvalidParams;
               if (!is_refused || is_aborted_) return ended(outcome, tokens, std::move(done));
               // There is no room for the file, so nothing has been run. The run is made without the file: the
               // prefill alone is of use, too.
               calls_.run(std::move(without_file), std::move(on_token),
                          [this, done = std::move(done)](const CallOutcome& again, std::uint64_t tokens_of_that) {
                            ended(again, tokens_of_that, [done](chat::RunReport report) {
                              report.cache_saved = false;
                              done(report);
                            });
                          });
             });
}

void LeasedTurnModel::ended(const CallOutcome& outcome, std::uint64_t tokens,
                            std::function<void(const chat::RunReport&)> done) {
  chat::RunReport report;
  report.tokens = static_cast<std::int64_t>(tokens);
  if (is_only_not_saved(outcome)) {
    report.cache_saved = false;
  } else if (outcome.error) {
    const RpcError error = as_rpc_error(outcome.error);
    report.end = error.code() == ErrorCode::kCancelled ? chat::RunEnd::kAborted : chat::RunEnd::kFailed;
    report.complaint = error.what();
    report.lost = error.code() == ErrorCode::kRuntimeUnavailable || error.code() == ErrorCode::kUnknownHandle;
    report.broke_off = has_broken_off(error);
    return done(report);
  }
  report.end = outcome.aborted ? chat::RunEnd::kAborted : chat::RunEnd::kFinished;
  const Json perf = outcome.values.is_object() ? outcome.values.value("perf", Json()) : Json();
  report.prefill_tokens = integer_in(perf, "prefill_tokens");
  report.prefill_ms = number_in(perf, "prefill_time_ms");
  report.generate_ms = number_in(perf, "generate_time_ms");
  if (!facts_.has_kv_size) return done(report);
  calls_.call(kCacheSize, Json::object(), [report, done = std::move(done)](const CallOutcome& size) mutable {
    if (!size.error) {
      const Json sizes = size.result.value("cache_sizes", Json::array());
      if (sizes.is_array() && !sizes.empty() && sizes.front().is_number_integer()) {
        report.kv_size = sizes.front().get<std::int64_t>();
      }
    }
    done(report);
  });
}

void LeasedTurnModel::load_cache(const std::string& path, std::function<void(bool loaded)> done) {
  calls_.call(kLoadCache, Json{{"prompt_cache_path", path}},
              [done = std::move(done)](const CallOutcome& outcome) { done(!outcome.error); });
}

LeasedEmbeddingModel::LeasedEmbeddingModel(asio::io_context& loop, const ModelRuntime& runtime,
                                           const TokenStream::Options& options, Backend::CallId lease,
                                           const LoadedFacts& loaded)
    : facts_(embedding_facts(loaded)), calls_(loop, runtime, options, lease) {}

void LeasedEmbeddingModel::hidden_rows(std::string text, std::function<void(chat::HiddenRows)> done) {
  if (has_cleared_template_) return clear_and_run(std::move(text), std::move(done));
  // In every lease: somebody else may have set one.
  calls_.call(kSetTemplate, Json{{"system_prompt", ""}, {"prompt_prefix", ""}, {"prompt_postfix", ""}},
              [this, text = std::move(text), done = std::move(done)](const CallOutcome& outcome) {
                if (outcome.error) return done(not_begun(outcome.error));
                has_cleared_template_ = true;
                clear_and_run(text, done);
              });
}

void LeasedEmbeddingModel::clear_and_run(std::string text, Done done) {
  calls_.call(kClearCache, Json{{"keep_system_prompt", 0}},
              [this, text = std::move(text), done = std::move(done)](const CallOutcome& outcome) {
                if (outcome.error) return done(not_begun(outcome.error));
                run(text, done);
              });
}

void LeasedEmbeddingModel::run(std::string text, Done done) {
  Json params{{"rkllm_input", {{"input_type", "RKLLM_INPUT_PROMPT"}, {"prompt_input", std::move(text)}}},
              {"rkllm_infer_params", {{"mode", "RKLLM_INFER_GET_LAST_HIDDEN_LAYER"}, {"keep_history", 0}}}};
  calls_.run(
      std::move(params), [](std::string_view) {},
      [done = std::move(done)](CallOutcome outcome, std::uint64_t) {
        if (outcome.error) {
          const RpcError error = as_rpc_error(outcome.error);
          return done({.complaint = error.what(),
                       .is_refused = error.code() == ErrorCode::kCallFailed && !has_broken_off(error)});
        }
        for (ValueRows& rows : outcome.rows) {
          if (rows.field != kHiddenLayer) continue;
          return done({.values = std::move(rows.values), .rows = rows.rows, .columns = rows.columns});
        }
        if (outcome.aborted) return done({.complaint = "the run was aborted"});
        done({});
      });
}

}  // namespace rkllm_mcp
