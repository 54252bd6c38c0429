#include "engine/generation.hpp"

#include "answers/compose_answer.hpp"
#include "answers/random.hpp"
#include "engine/contract.hpp"
#include "model/kv_cache.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <thread>
#include <utility>

namespace rkllm_mcp::sim {
namespace {

std::string_view text_of_input(const Input& input) {
  if (const auto* prompt = std::get_if<PromptInput>(&input.content)) return prompt->text;
  if (const auto* multimodal = std::get_if<MultimodalInput>(&input.content)) return multimodal->text;
  return {};
}

std::uint64_t hash_of(const Sampling& sampling) {
  // At temperature 0 the most probable token is taken, whatever the other values are.
  if (!(sampling.temperature > 0)) return 0;
  static_assert(sizeof(Sampling) == 36, "hashed as bytes: no padding");
  return fnv1a(bytes_of(std::span<const Sampling>(&sampling, 1)));
}

}  // namespace

Generation::Generation(Instance& instance, const RunRequest& request, AbortSignal& signal, std::function<void()> ending)
    : instance_(instance),
      request_(request),
      signal_(signal),
      ending_(std::move(ending)),
      lanes_(instance.caches.size()),
      outputs_(instance.caches.size()) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i].cache = &instance.caches[i];
}

int Generation::run() {
  instance_.record.begin(text_of_input(request_.inputs[0]), lanes_.size());
  const Ending ending = attempt();
  const int status = ending == Ending::kFinished || ending == Ending::kPaused ? 0 : -1;
  // When the vendor's library refuses a single turn, it has emptied the cache for it already.
  if (ending == Ending::kFailed && callbacks_ == 0 && !request_.keep_history) instance_.clear_caches();
  const auto record = [&](std::string_view word) {
    instance_.record.end(callbacks_, signal_.raised(), status, word, prefilled_, reused_);
  };
  switch (ending) {
    case Ending::kFinished:
      record("finish");
      finish_callback();
      break;
    case Ending::kPaused: record("pause"); break;
    case Ending::kFailed: record("failure"); break;
    case Ending::kError:
      record("error");
      ending_();
      instance_.client->deliver({}, State::kError, request_.userdata);
      break;
  }
  return status;
}

Generation::Ending Generation::attempt() {
  if (const auto refused = check_configuration()) return *refused;
  const Placement where = placement();
  instance_.paused = false;
  if (!encode_inputs(where)) return Ending::kFailed;
  if (std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.prompt.is_empty; })) {
    return answer_nothing();
  }
  const std::size_t dropped = where == Placement::kFresh ? lanes_[0].cache->size() : 0;
  if (!place_prompts(where)) return Ending::kFailed;
  if (instance_.history_in_cache != request_.keep_history) miscounted_ = dropped;
  instance_.history_in_cache = request_.keep_history;
  instance_.batch_history_used = instance_.batch_history_used || (lanes_.size() > 1 && request_.keep_history);
  if (!compute_prompts()) return Ending::kError;
  save_prompt_cache();
  if (request_.mode == Mode::kLastHiddenLayer) return answer_hidden_states();
  return generate();
}

std::optional<Generation::Ending> Generation::check_configuration() const {
  const auto fail = [this](Ending ending, std::string_view reason) {
    instance_.log.error(reason);
    return ending;
  };
  if (instance_.context == 0) return fail(Ending::kError, "the context window is empty");
  if (instance_.options.use_cross_attn && !instance_.cross_attention_set) {
    return fail(Ending::kError, "use_cross_attn is set, but rkllm_set_cross_attn_params was not called");
  }
  if (request_.lora) {
    const auto adapter = instance_.adapters.find(*request_.lora);
    if (adapter == instance_.adapters.end()) return fail(Ending::kFailed, "unknown LoRA adapter " + *request_.lora);
    if (!adapter->second) {
      broken_contract(Death::kAbort, "rkllm_run: LoRA adapter " + *request_.lora + " could not be applied when loaded");
    }
  }
  if (instance_.batch_history_used) {
    return fail(Ending::kFailed, "with n_batch above 1 nothing runs after a run with keep_history");
  }
  return std::nullopt;
}

Placement Generation::placement() const {
  if (instance_.paused) return Placement::kAppend;
  if (request_.keep_history) return instance_.history_in_cache ? Placement::kAppend : Placement::kFresh;
  if (request_.inputs[0].from_tool) return Placement::kAppend;
  const bool comparable = !instance_.history_in_cache || instance_.loaded_prompt;
  return comparable && instance_.model.reuses_prefix ? Placement::kReuse : Placement::kFresh;
}

bool Generation::encode_inputs(Placement placement) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const bool first = placement != Placement::kAppend || lanes_[i].cache->size() == 0;
    std::optional<EncodedPrompt> prompt = encode_input(request_.inputs[i], instance_, first);
    if (!prompt) return false;
    lanes_[i].prompt = std::move(*prompt);
    if (first && !lanes_[i].prompt.is_empty) instance_.system_tokens = lanes_[i].prompt.system_cells;
  }
  return true;
}

// The entries of a batch share what they have in common: only the first is compared with the previous prompt, those
// behind it with the first, and never with what they held themselves.
bool Generation::place_prompts(Placement placement) {
  const bool fits = std::all_of(lanes_.begin(), lanes_.end(), [&](const Lane& lane) {
    return lane.cache->fits(lane.prompt.cells, placement, request_.keep_history);
  });
  if (!fits) {
    instance_.log.error("the prompt does not fit into the context of " + std::to_string(instance_.context) + " tokens");
    instance_.clear_caches();
    return false;
  }
  if (placement == Placement::kReuse && instance_.loaded_prompt) {
    instance_.caches[0].restore(std::move(*instance_.loaded_prompt));
    instance_.loaded_prompt.reset();
  }
  const Lane* leader = nullptr;
  for (Lane& lane : lanes_) {
    if (lane.prompt.is_empty) continue;
    Placement how = placement;
    if (leader == nullptr) {
      leader = &lane;
    } else if (placement != Placement::kAppend && instance_.model.reuses_prefix) {
      lane.cache->restore(leader->prompt.cells);
      how = Placement::kReuse;
    }
    const auto placed = lane.cache->place(lane.prompt.cells, how, lane.prompt.said, instance_.n_keep);
    lane.computed = placed.computed;
    prefilled_ += placed.computed;
    reused_ += placed.reused;
    lane.done = false;
    log_prompt(lane, placed.reused);
  }
  return true;
}

// Takes the time that the model file asks for; not interrupted by an abort. False if embed_callback failed: what it was
// to embed is not in the cache then, but has been counted.
bool Generation::compute_prompts() {
  const auto start = Clock::now();
  std::size_t computed = 0;
  for (const Lane& lane : lanes_) {
    if (lane.done) continue;
    if (!embed(lane.cache->cells().last(lane.computed))) {
      instance_.perf.prefilled(lane.computed, {});
      lane.cache->truncate(lane.cache->size() - lane.computed);
      return false;
    }
    computed += lane.computed;
  }
  if (const double speed = instance_.model.prefill_tokens_per_s; speed > 0) {
    std::this_thread::sleep_until(NpuClock::book(start, static_cast<double>(computed) / speed));
  }
  const auto per_token = (Clock::now() - start) / std::max<std::int64_t>(1, static_cast<std::int64_t>(computed));
  for (const Lane& lane : lanes_) {
    instance_.perf.prefilled(lane.computed, per_token * static_cast<std::int64_t>(lane.computed));
  }
  return true;
}

bool Generation::embed(std::span<const Cell> cells) {
  if (instance_.model.embeddings) return true;
  std::vector<TokenId> ids;
  for (const Cell cell : cells) {
    if ((cell & kEmbeddingCell) == 0) ids.push_back(static_cast<TokenId>(cell));
  }
  if (ids.empty()) return true;
  std::vector<float> rows(ids.size() * static_cast<std::size_t>(instance_.model.embedding_size));
  if (instance_.client->embed(ids, rows) == 0) return true;
  instance_.log.error("embed_callback failed");
  return false;
}

void Generation::save_prompt_cache() const {
  if (!request_.save_prompt_cache) return;
  if (lanes_.size() > 1) return instance_.log.warning("a prompt cache cannot be saved with n_batch above 1");
  if (!instance_.model.reuses_prefix) return instance_.log.warning("this model cannot save a prompt cache");
  write_prompt_cache(*request_.save_prompt_cache, instance_.model.name, lanes_[0].cache->cells());
  instance_.log.info("prompt cache saved to " + *request_.save_prompt_cache);
}

Generation::Ending Generation::answer_nothing() {
  for (Output& output : outputs_) output.token = -1;
  deliver(State::kNormal);
  return Ending::kFinished;
}

Generation::Ending Generation::answer_hidden_states() {
  if (lanes_.size() > 1) {
    instance_.log.warning("RKLLM_INFER_GET_LAST_HIDDEN_LAYER gives nothing with n_batch above 1");
    return Ending::kFinished;
  }
  outputs_[0].hidden = instance_.tensors.hidden_states(lanes_[0].cache->cells(), lanes_[0].computed);
  deliver(State::kNormal);  // neither a pause nor a release changes anything here
  return Ending::kFinished;
}

Generation::Ending Generation::generate() {
  if (request_.mode == Mode::kLogits && lanes_.size() > 1) {
    instance_.log.warning("RKLLM_INFER_GET_LOGITS gives no logits with n_batch above 1");
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) prepare(lanes_[i], i);
  begun_ = computed_until_ = Clock::now();
  std::int64_t step = 0;
  Ending ending = Ending::kFinished;
  for (;;) {
    if (const auto fault = inject_fault(++step)) {
      ending = *fault;
      break;
    }
    if (const auto stop = step > 1 ? advance() : std::nullopt) {
      ending = *stop;
      break;
    }
    const int wish = deliver(sample());
    ++callbacks_;
    if (wish == kReleaseRequest) instance_.tensors.release();
    if (wish == kPauseRequest) {
      ending = Ending::kPaused;
      break;
    }
    if (signal_.raised() || all_done()) break;
  }
  // The first token of an entry comes out of its prompt's own step.
  std::size_t generated = 0;
  for (const Lane& lane : lanes_) generated += lane.tokens == 0 ? 0 : lane.tokens - 1;
  instance_.perf.generated(generated, Clock::now() - begun_);
  if (ending == Ending::kPaused) instance_.perf = {};
  instance_.paused = ending == Ending::kPaused;
  instance_.paused_single_turn = instance_.paused && !request_.keep_history;
  return ending;
}

void Generation::prepare(Lane& lane, std::size_t entry) {
  if (lane.done) return;
  const Sampling& sampling = request_.sampling ? *request_.sampling : instance_.options.sampling;
  const Input& input = request_.inputs[entry];
  Question question;
  question.prompt = lane.prompt.said;
  question.earlier = lane.cache->turns().first(lane.cache->turns().size() - 1);
  question.directives = read_directives(lane.prompt.said);
  const std::int32_t most = request_.max_new_tokens > 0 ? request_.max_new_tokens : instance_.options.max_new_tokens;
  question.asked_before = count_question(question.directives, most);
  question.seed = mix(fnv1a(bytes_of(lane.cache->cells())), mix(hash_of(sampling), fnv1a(request_.lora.value_or(""))));
  question.thinks =
      !lane.prompt.said.empty() && instance_.chat_template.thinks(input.enable_thinking, lane.prompt.rendered);
  question.from_tool = input.from_tool;
  question.eos_is_sampled = !instance_.options.ignore_eos_token;
  lane.answer = compose_answer(question, instance_.model, instance_.chat_template.tools());
  const bool is_unlimited = question.directives.exact_tokens && !question.directives.is_line;
  lane.left = is_unlimited ? std::numeric_limits<std::int64_t>::max() : std::max(most, 1);
}

// A run of one token only counts or warms up: it is no answer.
std::size_t Generation::count_question(const Directives& directives, std::int32_t most_tokens) {
  if (directives.texts.empty()) return 0;
  if (instance_.asked_line != directives.line) {
    instance_.asked_line = directives.line;
    instance_.times_asked = 0;
  }
  return most_tokens > 1 ? instance_.times_asked++ : instance_.times_asked;
}

std::optional<Generation::Ending> Generation::inject_fault(std::int64_t step) const {
  for (const Fault& fault : instance_.model.faults) {
    if (fault.token != step) continue;
    switch (fault.what) {
      case Fault::What::kFail: return Ending::kFailed;
      case Fault::What::kError: return Ending::kError;
      case Fault::What::kHang: hang();
      case Fault::What::kLog: instance_.log.error("the model file asks for an error line"); break;
      case Fault::What::kCrash:
      case Fault::What::kOutOfMemory: die(Death::kSegmentationFault);
    }
  }
  return std::nullopt;
}

// The forward step of the previous token: it enters the cache, and the time of one token passes. An abort cuts the
// waiting short; the token that is being computed still comes.
std::optional<Generation::Ending> Generation::advance() {
  if (instance_.lacks_cpus) instance_.log.bare("cannot set the CPU affinity: no such CPU (SIMULATED)");
  if (const double speed = instance_.model.decode_tokens_per_s; speed > 0) {
    computed_until_ = NpuClock::book(computed_until_, 1 / speed);
    signal_.sleep_until(computed_until_);
    NpuClock::give_back(computed_until_);
  }
  for (Lane& lane : lanes_) {
    if (lane.done) continue;
    const auto cell = static_cast<Cell>(lane.last);
    if (!embed({&cell, 1})) return Ending::kError;
    if (lane.cache->push(cell, request_.keep_history, instance_.n_keep) == KvCache::Pushed::kFull) {
      instance_.log.error("the prompt fills the context: there is no room for generated tokens");
      return Ending::kFailed;
    }
  }
  return std::nullopt;
}

State Generation::sample() {
  bool has_text = !instance_.model.tokenizer;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    Output& output = outputs_[i];
    if (lane.done) {
      output = Output{};
      output.token = -1;
      continue;
    }
    output.token = lane.last = lane.answer.next();
    output.text = text_of(lane);
    has_text = has_text || output.text != nullptr;
    if (request_.mode == Mode::kLogits && lanes_.size() == 1) {
      const std::size_t rows = callbacks_ == 0 ? lane.computed : 1;
      output.logits = instance_.tensors.logits(lane.cache->cells(), rows, lane.last);
    }
    ++lane.tokens;
    --lane.left;
    lane.done = lane.left <= 0 || Vocabulary::ends_answer(lane.last) || lane.answer.exhausted();
  }
  return has_text ? State::kNormal : State::kWaiting;
}

const char* Generation::text_of(Lane& lane) {
  if (!instance_.model.tokenizer) return nullptr;
  const Vocabulary& vocabulary = Vocabulary::built_in();
  const auto special = vocabulary.special_token(lane.last, instance_.model.special_tokens);
  const bool hidden = (special || Vocabulary::is_special(lane.last)) && instance_.options.skip_special_token;
  const char* text = hidden ? lane.joiner.add("", true)
                            : lane.joiner.add(special.value_or(vocabulary.piece(lane.last)),
                                              special || vocabulary.is_whole(lane.last));
  if (text == nullptr) return nullptr;
  // A copy, so that a program that keeps the pointer reads another text later, and not by luck the right one.
  lane.text = text;
  return lane.text.c_str();
}

bool Generation::all_done() const {
  return std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.done; });
}

int Generation::deliver(State state) {
  if (instance_.record.is_on()) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].text != nullptr) instance_.record.add(i, outputs_[i].text);
    }
  }
  return instance_.client->deliver(outputs_, state, request_.userdata);
}

void Generation::finish_callback() {
  std::fill(outputs_.begin(), outputs_.end(), Output{});
  outputs_[0].perf = instance_.perf.take();
  log_end(outputs_[0].perf);
  ending_();
  instance_.client->deliver(outputs_, State::kFinish, request_.userdata);
}

void Generation::log_prompt(const Lane& lane, std::size_t reused) const {
  if (!instance_.log.shows(Detail::kPrompts)) return;
  instance_.log.info("prompt: " + lane.prompt.rendered);
  std::string ids;
  for (const Cell cell : lane.prompt.cells) {
    ids += (cell & kEmbeddingCell) == 0 ? " " + std::to_string(cell) : " (embedding)";
  }
  instance_.log.info("tokens:" + ids);
  instance_.log.info(std::to_string(reused) + " of " + std::to_string(lane.prompt.cells.size()) +
                     " tokens are in the cache");
}

void Generation::log_end(const Perf& perf) const {
  if (signal_.raised()) instance_.log.info("the run was aborted");
  if (!instance_.log.shows(Detail::kPerf)) return;
  instance_.log.info("prefill: " + std::to_string(perf.prefill_tokens) + " tokens in " +
                     std::to_string(perf.prefill_time_ms) + " ms (SIMULATED)");
  instance_.log.info("generate: " + std::to_string(perf.generate_tokens) + " tokens in " +
                     std::to_string(perf.generate_time_ms) + " ms (SIMULATED)");
  instance_.log.info("peak memory: " + std::to_string(perf.memory_usage_mb) + " MB");
  instance_.log.detail(Detail::kPrompts,
                       "current kv cache size: " + std::to_string(lanes_[0].cache->size() + miscounted_));
}

}  // namespace rkllm_mcp::sim
