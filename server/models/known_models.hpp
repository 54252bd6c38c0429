// Which models there are, and which one a name means: presets of the settings, files of runtime.model_dirs, aliases,
// "NAME:latest", chat.any_model for whatever nobody knows, and the handles that there are. Loads nothing.
//
// A handle that rkllm_init has made is named by its value, and by its file's name if nothing else has that name.
//
// Threads: the event loop's. Directories are read on a thread beside it.
#pragma once

#include "backend/queued_backend.hpp"
#include "chat/turn/model_lender.hpp"
#include "clock.hpp"
#include "models/model_files.hpp"
#include "models/model_list.hpp"
#include "models/model_slot.hpp"
#include "side_thread.hpp"

#include <rkllm_mcp/json.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class KnownModels {
 public:
  using Handle = QueuedBackend::HandleStatus;

  // What the settings say; may be replaced while the server runs.
  struct Choices {
    Json presets = Json::object();          // `models`
    std::vector<std::string> model_dirs{};  // runtime.model_dirs
    Json aliases = Json::object();          // chat.aliases
    std::string any_model{};                // chat.any_model
  };

  struct Options {  // none of them null
    // Turns a preset's path into the one that the library gets; throws if that may not be used. Called on any thread.
    std::function<std::string(const std::string& path)> resolved;
    std::function<void()> looked;   // what is known of the models may be different
    std::function<void()> changed;  // called when the models have other names than before
  };

  // `runtime` is who has the handles now. All that is passed outlives this object.
  KnownModels(asio::io_context& loop, spdlog::logger& log, const ModelRuntime& runtime, Choices choices,
              Options options);

  void choose(Choices choices);
  // Looks into the directories again, unless that is stopped, and then calls `then`.
  void look_again(std::function<void()> then);
  // As look_again(), but once a second at most, and not where there is nothing to look at.
  void refresh(std::function<void()> then);
  bool looks_into_directories() const { return !choices_.model_dirs.empty(); }
  void stop() { stopped_ = true; }  // no directory is looked into any more

  const ModelList& list() const { return list_; }
  // The model that has this name or alias. Null: none. Holds until the list is changed.
  const NamedModel* resolve(std::string_view name) const;
  bool knows(std::string_view name) const { return resolve(name) != nullptr; }
  // The model that answers to a name: the one that has it, else chat.any_model. Null if `name` is a handle's, or a path
  // that no model has. Not for code that unloads models or calls the library: with a mistyped name that would happen
  // to another model.
  const NamedModel* meant(std::string_view name) const;
  // Every name as a preset: {NAME: {"param": {…}}}.
  Json as_presets() const;
  // The path that the library gets for this path; empty if it may not be used.
  std::string file_of(const std::string& path) const;
  // As far as that is known without loading it.
  chat::ModelDescription describe(const NamedModel& model) const;

  std::vector<Handle> handles() const;
  // The handle that has this value or, if rkllm_init has made it, this name.
  std::optional<Handle> find_handle(std::string_view name) const;
  // The value of the handle that `name` means; empty: none. One that is being made is found by its value.
  std::string handle_named(std::string_view name) const;
  // Whether its model was loaded by a name, or by autoload: then the handle has that name.
  bool has_own_name(const Handle& handle) const;
  std::string name_of(const Handle& handle) const;
  // The name of the family whose template its conversations are written in; empty: not known.
  std::string family_of(const Handle& handle) const;
  chat::ModelDescription describe(const Handle& handle) const;

  // Autoload has loaded the model of this name into that handle; empty: into none.
  void set_autoloaded(const std::string& name, const std::string& handle);
  std::optional<Handle> autoloaded(const NamedModel& model) const;
  void forget_autoloaded(const std::string& handle);  // it is gone
  void forget_all_autoloaded() { autoloaded_.clear(); }

 private:
  struct Looked;

  void take(Looked& looked);
  const std::string& template_of(const Handle& handle) const;
  std::vector<std::string> unseen_handle_paths() const;

  asio::io_context& loop_;
  spdlog::logger& log_;
  const ModelRuntime& runtime_;
  Choices choices_;
  const Options options_;
  ModelList list_;
  std::map<std::string, std::string> autoloaded_;                     // name → handle
  std::map<std::string, std::optional<ModelFile>> handle_files_;      // by path: of what rkllm_init has loaded
  mutable std::map<std::string, std::string> simulated_templates_{};  // by path, of models that handles have
  std::vector<std::string> told_hidden_;                              // files that the log has been told of
  std::optional<Clock::time_point> looked_at_;                        // when refresh() last looked
  bool stopped_ = false;
  SideThread reading_;  // last: its thread uses the members above, so it has to end first
};

}  // namespace rkllm_mcp
