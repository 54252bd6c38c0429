// The host that makes turns: for all dialects over HTTP, and for MCP. It owns what goes on; whoever asked holds a
// Running, and gives the turn up by destroying that.
//
// Threads: event loop only.
#pragma once

#include "chat/host/embedding_maker.hpp"
#include "chat/host/prompt_caches.hpp"
#include "chat/host/turn_listener.hpp"
#include "chat/host/turn_maker.hpp"
#include "chat/turn/cache_record.hpp"
#include "chat/turn/model_lender.hpp"
#include "lifetime.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rkllm_mcp::chat {

class ChatHost {
 public:
  // `lender` outlives it.
  ChatHost(ModelLender& lender, HostOptions options);
  ChatHost(const ChatHost&) = delete;
  ChatHost& operator=(const ChatHost&) = delete;
  ~ChatHost();

  // Throws TurnError for what is known to be wrong at once; then `listener` hears nothing. It outlives what is
  // returned.
  std::unique_ptr<Running> start(Turn turn, const Asker& asker, std::string peer, TurnListener& listener);
  // Starts a turn, as start() does, on the model of that name, whatever profile has the name too.
  std::unique_ptr<Running> start_on_model(Turn turn, const Asker& asker, std::string peer, TurnListener& listener);
  // Throws TurnError as start() does; else either `done` or `failed` is called, unless it is given up before.
  std::unique_ptr<Running> embed(EmbeddingWish wish, const Asker& asker, std::string peer,
                                 EmbeddingMaker::DoneFunction done, EmbeddingMaker::FailedFunction failed,
                                 EmbeddingMaker::CheckFirstFunction check_first = {});

  // Counts the tokens of the turn's prompt by its prefill, on a model that was loaded by its name, that nobody uses,
  // and whose KV cache holds no conversation, which the prompt would replace. Null, and `done` is not called: there is
  // no such model at this moment. `done` gets nothing if that shows only later, if somebody else asks for the model
  // meanwhile, or if the count fails. Throws TurnError.
  using CountedFunction = std::function<void(std::optional<std::int64_t> tokens)>;
  std::unique_ptr<Running> count(Turn turn, const Asker& asker, std::string peer, CountedFunction done);

  // As model_for(), but throws a TurnError also if the name means a profile.
  ModelDescription plain_model_for(std::string_view name, const Asker& asker) const;
  // What the turn's prompt would be. Throws TurnError.
  struct PromptOfModel {
    std::string text;
    bool is_whole;     // else the runtime's own template puts around it what nobody sees
    std::string path;  // of the model's file
  };
  PromptOfModel prompt_of(const Turn& turn, const Asker& asker) const;
  // The model or profile that `name` means; if it is empty, the only model. Throws TurnError.
  ModelDescription model_for(std::string_view name, const Asker& asker) const;
  // By any of its names; nothing if there is none.
  std::optional<ModelDescription> find(std::string_view name, const Asker& asker) const;
  // Models, and behind them profiles.
  std::vector<ModelDescription> models(const Asker& asker) const;
  // The speed of the model's latest answer since it was last loaded.
  Speed speed_of_model(const std::string& model) const;
  ModelLender& lender() { return lender_; }
  // Turns that name a profile are made there; it outlives the last turn. Null: there are none.
  void use_profiles(ProfileTurns* profiles) { profiles_ = profiles; }

  // Called with the seconds from each later turn's request to its first token, and the handle that made it. Must not
  // throw.
  using FirstTokenFunction = std::function<void(const std::string& handle, double seconds)>;
  void when_first_token(FirstTokenFunction action) { first_token_ = std::move(action); }

  // Somebody's conversation has been deleted: removes all KV caches that are in files, with their texts.
  void forget_caches() { caches_.forget_all(); }

  std::size_t turns() const { return turns_.size(); }  // that are being made, or waited for, or warmed up for
  const PromptCaches& caches() const { return caches_; }

 private:
  class RunningTurn;
  class RunningEmbedding;
  class RunningCount;
  struct Record {
    std::uint64_t load_number = 0;
    CacheRecord record;
    Speed speed;  // of its latest answer
  };

  std::size_t held_for_nobody(const std::string& model) const;
  CacheRecord& record_of(const std::string& model, std::uint64_t load_number);

  ModelLender& lender_;
  ProfileTurns* profiles_ = nullptr;
  const HostOptions options_;
  FirstTokenFunction first_token_;
  PromptCaches caches_;
  std::map<std::string, Record> records_;  // by model
  std::unordered_map<std::uint64_t, std::unique_ptr<TurnMaker>> turns_;
  std::uint64_t next_turn_ = 0;
  const Lifetime alive_;  // expired: a Running that outlives the host does nothing
};

}  // namespace rkllm_mcp::chat
