// The place where this server keeps its model files: new ones are fetched from the hub, old ones deleted. It is
// implemented by ServerModelStore; without it, models are only files that the owner of the machine puts there.
//
// Threads: all calls and all callbacks on the event loop. A callback never comes from inside the call that asked for
// it, nor from inside the destructor of a place.
#pragma once

#include "chat/turn/model_lender.hpp"
#include "chat/turn/turn_error.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp::chat {

// How far a pull is. Nothing, and empty, is what is not known.
struct PullProgress {
  enum class Step { kChoosing, kFetching, kVerifying, kListing };

  Step step = Step::kChoosing;          // looks for the file; fetches it; checks its SHA-256; adds it to the models
  std::string file{};                   // its name
  std::string sha256{};                 // that it is to have, in hexadecimal
  std::optional<std::int64_t> bytes{};  // that are there, those of earlier pulls included
  std::optional<std::int64_t> total{};
};

struct PulledModel {
  std::string name;
  std::string path;
  std::int64_t bytes;
  std::string sha256;  // in hexadecimal
  bool is_verified;    // the hub has said what the SHA-256 must be
  bool was_there;      // a file with that SHA-256: nothing was fetched
};

// `progress` comes a few times a second at most; then exactly one of the others.
struct PullListener {
  std::function<void(const PullProgress&)> progress;
  std::function<void(const PulledModel&)> done;
  // kBadField (nothing, or not one model, has that name), kUpstream (the hub), kInternal (this machine's disk, a wrong
  // hash), kNoRoom (the server ends).
  std::function<void(const TurnError&)> failed;
  // What people should know: which of several files is taken, or that one is not for this board. Lines; before any
  // bytes come.
  std::function<void(const std::string& words)> remark = [](const std::string&) {};
};

class ModelStore {
 public:
  virtual ~ModelStore() = default;

  // Fetches the model that `source` names, as `rkllm-mcp pull` does. Who asks for one that is being fetched waits for
  // the same. Throws TurnError: kBadField (no such name can be), kNotSupported (there is no folder to put it in),
  // kQueueFull. The place's destruction gives it up; what has come is kept for the next time.
  virtual std::unique_ptr<QueuePlace> pull(const std::string& source, PullListener listener) = 0;
  // Deletes the files of the models of these names. Throws TurnError, and deletes nothing, if one of them is unknown
  // (kUnknownModel), is loaded, or is no file of the server's folders (kNotSupported). Nothing is deleted, either, if a
  // folder may not be written to; a later error of the disk can leave some of them deleted. `done` gets nothing, or one
  // of these errors, or kInternal.
  virtual void remove(const std::vector<std::string>& names, std::function<void(std::optional<TurnError>)> done) = 0;
};

}  // namespace rkllm_mcp::chat
