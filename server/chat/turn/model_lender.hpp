// All that the chat host needs of this server's models: a list of them, places in their queues, loading and unloading.
// ServerModels implements it; tests use a scripted one.
//
// A place is asked for by a model's name: the lender loads the model if it is not loaded, and gives a lease when it is
// the asker's turn. While a lease lives nobody else runs on that handle: not another lease, and no direct call, which
// waits until the lease ends. A direct call that changes a handle between two leases is counted by
// ModelSeam::foreign_changes().
//
// Threads: all calls and all callbacks on the event loop. A callback never comes from inside the call that asked for
// it, nor from inside the destructor of a place or a lease.
#pragma once

#include "chat/turn/model_seam.hpp"
#include "chat/turn/turn.hpp"
#include "chat/turn/turn_error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

// Who asks: the holder of an access token. Without tokens everybody is the same one, with an empty name.
struct Asker {
  std::string name{};
  bool may_call = true;
  bool may_admin = true;
};

// How far a model's loading is: bytes of its file that have been read. Nothing where it is not known.
struct LoadProgress {
  std::optional<std::int64_t> bytes{};
  std::optional<std::int64_t> total{};
  std::optional<double> seconds_left{};  // only from an earlier load of the same file
};

enum class ModelState { kOnDisk, kLoading, kLoaded };

inline std::string_view word_for(ModelState state) {
  switch (state) {
    case ModelState::kOnDisk: return "on_disk";
    case ModelState::kLoading: return "loading";
    case ModelState::kLoaded: return "loaded";
  }
  return "";
}

// What is known of a model; what is not known is nothing, and never guessed.
struct ModelDescription {
  std::string name{};
  std::vector<std::string> aliases{};  // chat.aliases that name it
  std::string path{};
  std::string handle{};                      // kLoaded: the value of its handle
  std::optional<std::int64_t> bytes{};       // of the file
  std::optional<std::int64_t> modified_s{};  // its time, in seconds since 1970
  std::optional<std::string> sha256{};       // hexadecimal; computed in the background
  std::string template_name{};               // models.NAME.template; empty: the file's name tells the family
  std::optional<std::string> platform{};     // "rk3588", by the file's name, if that tells
  std::optional<std::int64_t> context{};     // max_context_len; nothing before it has been loaded once
  ModelState state = ModelState::kOnDisk;
  LoadProgress progress{};                       // kLoading
  std::optional<std::int64_t> loaded_since_s{};  // kLoaded: seconds since 1970
  std::optional<std::int64_t> expires_s{};       // kLoaded: when keep_alive ends; nothing: never, or it is in use
  std::optional<double> load_s{};                // how long its last load took
  std::size_t waiting = 0;                       // places in its queue, the one that runs included
  bool is_profile = false;                       // more than a model: all but the name is that of the model behind it
};

// The use of a model for one whole turn: all its runs, retries and what follows it. Its destruction lets the next one
// in and starts keep_alive.
class ModelLease {
 public:
  virtual ~ModelLease() = default;

  virtual ModelSeam& model() = 0;
  // The number of this load of the model, which no other load has: what is remembered of a handle is forgotten when it
  // changes.
  virtual std::uint64_t load_number() const = 0;
  // Somebody waits for this handle (a lease or a direct call): what is not urgent has to give way.
  virtual bool others_wait() const = 0;
  // How long this place had to wait for the model to be loaded; nothing: it was loaded.
  virtual std::optional<double> load_ms() const = 0;
};

// The use of a model's handle for embeddings, which is another one than that for turns.
class EmbeddingLease {
 public:
  virtual ~EmbeddingLease() = default;

  virtual EmbeddingSeam& model() = 0;
  virtual std::optional<double> load_ms() const = 0;
};

// Stands for a lease in PlaceEvents where somebody only wants the model loaded: granted() then gets a null pointer.
struct OnlyLoaded {};

// A place in a queue. Its destruction gives the place up, at once; after that no callback comes.
class QueuePlace {
 public:
  virtual ~QueuePlace() = default;
};

struct PlaceWish {
  std::string model{};  // a name, an alias, "name:latest", or the name of a handle
  Asker asker{};
  std::optional<KeepAlive> keep_alive{};  // after the lease; nothing: unchanged. Less than 1 s unloads: needs `admin`
  std::string peer{};                     // its address, for logs
};

// What happens to a place. `queued` and `loading` may be null, and come as often as something changes; then exactly one
// of the other two.
template <typename Lease>
struct PlaceEvents {
  std::function<void(std::size_t places_before)> queued{};
  std::function<void(const LoadProgress&)> loading{};
  std::function<void(std::unique_ptr<Lease>)> granted{};
  // kUnknownModel, kQueueFull (also: one access token has too many places), kNoRoom, kForbidden, kNotSupported,
  // kRuntimeFailed.
  std::function<void(const TurnError&)> failed{};
};

class ModelLender {
 public:
  virtual ~ModelLender() = default;

  // Looks for models that have come or gone without anybody saying so, and then calls `then`.
  virtual void refresh(std::function<void()> then) = 0;
  // All that `asker` may use, in a fixed order.
  virtual std::vector<ModelDescription> models(const Asker& asker) const = 0;
  // By any of its names; nothing if there is none. Does not load it.
  virtual std::optional<ModelDescription> find(std::string_view name, const Asker& asker) const = 0;

  // Asks for a lease of the model, or of the model for embeddings; it is loaded first if it is not. No event comes
  // before this has returned, and none after `granted` or `failed`.
  virtual std::unique_ptr<QueuePlace> ask(PlaceWish wish, PlaceEvents<ModelLease> events) = 0;
  virtual std::unique_ptr<QueuePlace> ask_for_embeddings(PlaceWish wish, PlaceEvents<EmbeddingLease> events) = 0;

  // Loads a model and lets it be: waits for the load, and not for those who use it. The wish's keep_alive holds from
  // then on.
  virtual std::unique_ptr<QueuePlace> load(PlaceWish wish, PlaceEvents<OnlyLoaded> events) = 0;
  // Unloads it as soon as nobody uses it; needs `admin`. Not loaded: that is no error.
  virtual void unload(std::string name, Asker asker, std::function<void(std::optional<TurnError>)> done) = 0;
};

}  // namespace rkllm_mcp::chat
