#include "memory/memory_service.hpp"

#include "clock.hpp"
#include "jsonrpc/unread.hpp"
#include "memory/postgresql/postgresql_store.hpp"
#include "memory/sqlite/sqlite_store.hpp"
#include "memory/transfer.hpp"
#include "text/url.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/post.hpp>

#include <cstdlib>
#include <utility>

namespace rkllm_mcp::memory {
namespace {

// Changes within so long are told of as one.
constexpr std::chrono::milliseconds kBeforeTelling{50};
constexpr std::int64_t kPurgedAtOnce = 200;     // messages
constexpr std::int64_t kForgottenAtOnce = 100;  // conversations
constexpr Milliseconds kDay = 86'400'000;

bool is_on_server(const std::string& database) {
  return database.starts_with("postgresql://") || database.starts_with("postgres://");
}

StoreThreads::Options thread_options(const MemoryOptions& options, std::function<bool(Store&)> tidy) {
  StoreThreads::Options result;
  if (options.database == ":memory:") result.readers = 0;
  result.tidy = std::move(tidy);
  return result;
}

}  // namespace

std::string default_database() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/rkllm-mcp/memory.db";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return std::string(home) + "/.local/state/rkllm-mcp/memory.db";
  return ":memory:";
}

std::unique_ptr<Store> open_store(const std::string& database, StoreThreads::Use use, const std::atomic<bool>* stop) {
  if (is_on_server(database)) {
    using postgresql::PostgresqlStore;
    return std::make_unique<PostgresqlStore>(
        PostgresqlStore::Options{database, stop},
        use == StoreThreads::Use::kWriting ? PostgresqlStore::Use::kWriting : PostgresqlStore::Use::kReading);
  }
  return std::make_unique<SqliteStore>(Connection::Options{database, nullptr, stop}, use == StoreThreads::Use::kWriting
                                                                                         ? SqliteStore::Use::kWriting
                                                                                         : SqliteStore::Use::kReading);
}

MemoryService::MemoryService(asio::io_context& loop, const MemoryOptions& options, spdlog::logger& log, Events events)
    : loop_(loop),
      options_(options),
      log_(log),
      events_(std::move(events)),
      until_told_(loop),
      service_(make_service()),
      threads_(
          loop,
          [database = options.database](StoreThreads::Use use, const std::atomic<bool>& stop) {
            return open_store(database, use, &stop);
          },
          thread_options(options, [this](Store& store) { return tidy(store); }),
          [this](const std::string& trouble) { state_changed(trouble); }) {}

void MemoryService::stop() {
  until_told_.cancel();
  threads_.stop();
}

Json MemoryService::status() const {
  Json status{{"state", trouble_.empty() ? "ready" : "unavailable"}, {"database", shown_address(options_.database)}};
  if (!trouble_.empty()) status["reason"] = trouble_;
  return status;
}

void MemoryService::state_changed(const std::string& trouble) {
  trouble_ = trouble;
  if (trouble.empty()) return log_.info("conversations are kept in {}", shown_address(options_.database));
  log_.error("memory store unavailable: {}", trouble);
}

// --- housekeeping ---------------------------------------------------------------------------------------------------

void MemoryService::make_room(Store& store) const {
  if (options_.most_bytes == 0) return;
  std::int64_t used = store.used_bytes();
  while (used >= options_.most_bytes && options_.when_full == WhenFull::kForget) {
    const bool is_purged = store.purge(kPurgedAtOnce);
    if (!is_purged && !store.forget_oldest()) break;
    if (!is_purged) tell_removed();
    used = store.used_bytes();
  }
  if (used < options_.most_bytes) return;
  throw RpcError(ErrorCode::kQueueFull,
                 "the memory store is full (memory.max_bytes); delete conversations, or raise the limit",
                 Json{{"bytes", used}, {"limit", options_.most_bytes}, {"setting", "memory.max_bytes"}});
}

// An import that was begun, and has got no more lines since the last look, an hour ago. Whoever began it has gone.
void MemoryService::discard_forgotten_imports(Store& store) {
  std::map<std::string, std::int64_t> waiting;
  for (const std::string& space : store.spaces()) {
    if (!is_waiting_space(space)) continue;
    const auto newest = store.list(space, 0, 1);
    const std::int64_t state = newest.front().place + newest.front().messages;
    const auto before = waiting_imports_.find(space);
    if (before != waiting_imports_.end() && before->second == state) {
      discard_waiting(store, space);
    } else {
      waiting.emplace(space, state);
    }
  }
  waiting_imports_ = std::move(waiting);
}

std::int64_t MemoryService::forget_before(Store& store, Milliseconds time, const std::string& spaces) {
  const std::int64_t forgotten = store.forget_before(time, kForgottenAtOnce, spaces);
  if (forgotten > 0) tell_removed();
  return forgotten;
}

void MemoryService::tell_removed() const {
  if (!events_.removed) return;
  asio::post(loop_, [this, alive = alive_.watch()] {
    if (!alive.expired()) events_.removed();
  });
}

bool MemoryService::tidy(Store& store) {
  // For what looks through all of the store, and so must not be done after every write.
  constexpr std::chrono::hours kBetweenLooks{1};
  if (Clock::now() >= next_look_) {
    next_look_ = Clock::now() + kBetweenLooks;  // first: one that fails is not repeated at once
    if (!options_.brief_spaces.empty()) {
      const Milliseconds time = now() - options_.brief_days * kDay;
      if (forget_before(store, time, options_.brief_spaces) == kForgottenAtOnce) {
        next_look_ = {};  // there is more
        return true;
      }
    }
    discard_forgotten_imports(store);
  }
  if (options_.retention_days > 0) {
    const Milliseconds time = now() - options_.retention_days * kDay;
    if (forget_before(store, time) == kForgottenAtOnce) return true;
  }
  return store.purge(kPurgedAtOnce);
}

void MemoryService::note(const Change& change) {
  if (change.what == Change::What::kNothing) return;
  if (changed_.empty() && !list_changed_) {
    until_told_.expires_after(kBeforeTelling);
    until_told_.async_wait([this, alive = alive_.watch()](const asio::error_code& error) {
      if (!error && !alive.expired()) tell();
    });
  }
  changed_.insert(change.key);
  list_changed_ = list_changed_ || change.what == Change::What::kList;
}

void MemoryService::tell() {
  for (const Key& key : std::exchange(changed_, {})) {
    if (events_.changed) events_.changed(key);
  }
  if (std::exchange(list_changed_, false) && events_.list_changed) events_.list_changed();
}

// --- how methods are made -------------------------------------------------------------------------------------------

void MemoryService::add_reading(mcp::Service& service, mcp::ServiceMethod method, ReadFunction read) {
  method.annotations = {.read_only = true, .idempotent = true};
  method.run = [this, read = std::move(read)](mcp::MethodCall call, mcp::DoneFunction done) {
    threads_.read([read, form = call.form, params = std::move(call.params),
                   holder = TokenHolder{call.principal->name, call.principal->may_admin}](
                      Store& store) { return mcp::answer_in(form, read(store, Params(params, holder))); },
                  std::move(done));
  };
  service.methods.push_back(std::move(method));
}

void MemoryService::add_changing(mcp::Service& service, mcp::ServiceMethod method, ChangeFunction change) {
  method.run = [this, change = std::move(change)](mcp::MethodCall call, mcp::DoneFunction done) {
    const auto made = std::make_shared<Change>();  // filled in by the writer, told of by the loop
    threads_.write(
        [change, made, form = call.form, params = std::move(call.params),
         holder = TokenHolder{call.principal->name, call.principal->may_admin}](Store& store) {
          *made = change(store, Params(params, holder));
          return mcp::answer_in(form, made->result);
        },
        [this, made, done = std::move(done)](Json result, const std::exception_ptr& error) {
          if (!error) note(*made);
          if (!error && made->has_removed && events_.removed) events_.removed();
          done(std::move(result), error);
        });
  };
  service.methods.push_back(std::move(method));
}

mcp::Service MemoryService::make_service() {
  mcp::Service service;
  service.name = kServiceName;
  service.instructions =
      "memory_add_message keeps the messages of a conversation, memory_get_context gives the most recent ones, and "
      "memory_search finds what was said.";
  add_context_methods(service);
  add_message_methods(service);
  add_summary_methods(service);
  add_list_methods(service);
  add_transfer_methods(service);
  service.documents = documents();
  return service;
}

}  // namespace rkllm_mcp::memory
