// The memory server: conversations that outlive the program, as a service (mcp/service.hpp).
//
// Each client sees the conversations of its access token's name; admins may ask for others' with "space". Who watches
// memory://conversation/ID hears when it changes.
//
// Threads: the event loop's; the store is used on threads of its own.
#pragma once

#include "clock.hpp"
#include "immutable.hpp"
#include "lifetime.hpp"
#include "mcp/service.hpp"
#include "memory/conversation.hpp"
#include "memory/params.hpp"
#include "memory/store_threads.hpp"

#include <rkllm_mcp/json.hpp>

#include <settings_defaults.h>
#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace rkllm_mcp::memory {

inline constexpr const char* kServiceName = "memory-server";

enum class WhenFull { kRefuse, kForget };

struct MemoryOptions {
  std::string database;  // a path, ":memory:", or "postgresql://…"
  // Messages that get_context gives, and that no summary covers.
  std::int64_t keep_recent = defaults::kMemoryKeepRecentMessages;
  std::int64_t most_bytes = 0;  // of the store; 0: no limit
  WhenFull when_full = WhenFull::kRefuse;
  std::int64_t retention_days = 0;  // conversations that have not changed for so long are removed; 0: never
  std::string brief_spaces{};       // spaces whose names begin with this have brief_days instead; empty: none have
  std::int64_t brief_days = 0;      // retention_days of the conversations in these spaces
  std::int64_t answer_bytes = defaults::kLimitsMaxMessageBytes;  // longest answer
};

// Opens the store that `database` names, for a program of its own: the command line. Throws StoreError.
std::unique_ptr<Store> open_store(const std::string& database, StoreThreads::Use use, const std::atomic<bool>* stop);

// Where memory.database is if the settings do not say: in the user's state directory; ":memory:" if there is none.
std::string default_database();

class MemoryService {
 public:
  // What the server tells its clients of.
  struct Events {
    std::function<void(const Key& key)> changed{};  // the conversation, or that it exists
    std::function<void()> list_changed{};
    // Messages have been deleted, with or without their conversation. Called before the request for that is answered.
    std::function<void()> removed{};
  };

  MemoryService(asio::io_context& loop, const MemoryOptions& options, spdlog::logger& log, Events events);
  MemoryService(const MemoryService&) = delete;
  MemoryService& operator=(const MemoryService&) = delete;

  const Immutable<mcp::Service>& service() const { return service_; }
  // For /health: {"state":"ready"} or {"state":"unavailable","reason"}; and where it is.
  Json status() const;
  // Accepts no more; what has been asked for is still written.
  void stop();

 private:
  using ReadFunction = std::function<Json(Store& store, const Params& params)>;
  // What a write has changed, for those who watch it.
  struct Change {
    Json result;
    Key key;
    enum class What { kNothing, kConversation, kList } what = What::kConversation;
    bool has_removed = false;  // messages
  };
  using ChangeFunction = std::function<Change(Store& store, const Params& params)>;

  mcp::Service make_service();
  void add_reading(mcp::Service& service, mcp::ServiceMethod method, ReadFunction read);
  void add_changing(mcp::Service& service, mcp::ServiceMethod method, ChangeFunction change);
  void add_context_methods(mcp::Service& service);
  void add_message_methods(mcp::Service& service);
  void add_summary_methods(mcp::Service& service);
  void add_list_methods(mcp::Service& service);
  void add_transfer_methods(mcp::Service& service);
  mcp::Documents documents();

  // Makes room for one more write, or throws RpcError.
  void make_room(Store& store) const;
  bool tidy(Store& store);
  std::int64_t forget_before(Store& store, Milliseconds time, const std::string& spaces = {});
  void tell_removed() const;  // any thread
  void discard_forgotten_imports(Store& store);
  void note(const Change& change);
  void tell();
  void state_changed(const std::string& trouble);

  asio::io_context& loop_;
  const MemoryOptions options_;
  spdlog::logger& log_;
  const Events events_;
  std::string trouble_ = "it is being opened";
  // Of the writing thread: the unfinished imports as they were at the last look, and the time of the next look.
  std::map<std::string, std::int64_t> waiting_imports_;
  Clock::time_point next_look_{};
  std::set<Key> changed_;
  bool list_changed_ = false;
  Timer until_told_;
  const Immutable<mcp::Service> service_;
  const Lifetime alive_;
  StoreThreads threads_;  // last: they use the members above, so they have to end first
};

}  // namespace rkllm_mcp::memory
