// The models of this server by name: their loading, and the unloading of those that are used no more. Stands
// behind the chat host (chat::ModelLender), and behind calls that name a model where a handle is asked for.
//
// Handles that rkllm_init has made are never unloaded here.
//
// Threads: the event loop's.
#pragma once

#include "chat/turn/model_lender.hpp"
#include "counts.hpp"
#include "lifetime.hpp"
#include "models/file_digests.hpp"
#include "models/known_models.hpp"
#include "models/model_place.hpp"
#include "models/model_slot.hpp"
#include "stream/token_stream.hpp"

#include <rkllm_mcp/json.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {

class ServerModels final : public chat::ModelLender {
 public:
  // What the settings say; may be replaced while the server runs.
  struct Choices : KnownModels::Choices {
    chat::KeepAlive keep_alive{};                                // runtime.keep_alive_s
    std::int64_t default_context = 0;                            // runtime.default_context
    std::size_t most_waiting = static_cast<std::size_t>(-1);     // queue.max_per_handle
    std::size_t most_per_holder = static_cast<std::size_t>(-1);  // queue.max_per_token
    bool has_one_process = false;                                // runtime.isolation=thread
  };

  struct Options {
    TokenStream::Options stream{};          // of runs
    std::function<void()> changed = [] {};  // called when other models are there, or are loaded
    // Turns a preset's path into the one that the library gets; throws if that may not be used. Called on any thread.
    std::function<std::string(const std::string& path)> resolved = [](const std::string& path) { return path; };
    Counts* counts = nullptr;  // of refusals
  };

  // All that is passed outlives it, and all leases and places end before it.
  ServerModels(asio::io_context& loop, spdlog::logger& log, Choices choices, Options options);
  ServerModels(const ServerModels&) = delete;
  ServerModels& operator=(const ServerModels&) = delete;

  // Another runtime serves from now on; the one before has no models.
  void use_runtime(ModelRuntime runtime);
  void choose(Choices choices);
  // The model of that handle is gone although nobody has destroyed it.
  void lost(const std::string& handle);
  // A preset is being loaded as the settings say (models.NAME.autoload): who asks for it waits for that load.
  void autoload_begun(const std::string& name);
  // That load has ended. Calls that name the preset use `handle` from now on; empty: the load has failed.
  void autoload_ended(const std::string& name, const std::string& handle);
  void stop();

  // chat::ModelLender
  void refresh(std::function<void()> then) override { known_.refresh(std::move(then)); }
  std::vector<chat::ModelDescription> models(const chat::Asker& asker) const override;
  std::optional<chat::ModelDescription> find(std::string_view name, const chat::Asker& asker) const override;
  std::unique_ptr<chat::QueuePlace> ask(chat::PlaceWish wish, chat::PlaceEvents<chat::ModelLease> events) override;
  std::unique_ptr<chat::QueuePlace> ask_for_embeddings(chat::PlaceWish wish,
                                                       chat::PlaceEvents<chat::EmbeddingLease> events) override;
  std::unique_ptr<chat::QueuePlace> load(chat::PlaceWish wish, chat::PlaceEvents<chat::OnlyLoaded> events) override;
  void unload(std::string name, chat::Asker asker, std::function<void(std::optional<chat::TurnError>)> done) override;

  // For calls that name a model where a handle is asked for. Null: no model has that name.
  ModelSlot* slot_for(std::string_view name);
  // The handle that the name stands for now, without loading anything; empty: none.
  std::string handle_of(std::string_view name) const;
  // As handle_of(), for a call that comes now: empty also while others wait for the model, who go first.
  std::string handle_for_newcomer(std::string_view name) const;
  // The handle that the name stands for if the settings had its model loaded (autoload); empty: none.
  std::string autoloaded_handle(std::string_view name) const;
  // Whether the model of this name is being loaded because its settings have autoload.
  bool is_autoloading(std::string_view name) const;
  // Calls `then` when the load that is_autoloading() tells of has ended.
  void after_autoload(std::string_view name, std::function<void()> then);
  // Why that model has no further place: its queue is full, or this access token has too many; the refusal is counted.
  // Nothing: it has one.
  std::optional<RpcError> full_for(const ModelSlot& slot, const std::string& holder) const;
  // Which there are, and which one a name means.
  const KnownModels& known() const { return known_; }
  void look_again(std::function<void()> then) { known_.look_again(std::move(then)); }  // into the directories

 private:
  class HeldPlace;
  using SlotKey = std::pair<std::string, ModelSlot::Use>;

  ModelSlot& slot(const NamedModel& model, ModelSlot::Use use);
  ModelSlot* existing_slot(const std::string& name, ModelSlot::Use use) const;
  std::optional<LoadFailure> why_not() const;
  void make_room(ModelSlot& slot, std::function<void(bool made_room)> then);
  void update_slots();
  chat::ModelDescription describe(const NamedModel& model) const;

  std::unique_ptr<chat::QueuePlace> place(ModelSlot::Use use, chat::PlaceWish wish, ModelPlace::Events events);
  void begin(HeldPlace& held, ModelSlot::Use use, chat::PlaceWish wish, ModelPlace::Events events);

  asio::io_context& loop_;
  spdlog::logger& log_;
  Choices choices_;
  const Options options_;
  ModelRuntime runtime_;
  std::map<SlotKey, std::shared_ptr<ModelSlot>> slots_;                    // none is ever taken out
  std::map<std::string, std::vector<std::function<void()>>> autoloading_;  // name → what waits for it
  bool stopped_ = false;
  const Lifetime alive_;
  const std::unique_ptr<FileDigests> digests_;
  KnownModels known_;  // last: its thread must end first, as its results change the members above
};

}  // namespace rkllm_mcp
