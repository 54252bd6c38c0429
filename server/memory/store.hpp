// Where conversations are kept: one connection to a store, used by one thread.
//
// Every function throws StoreError if the store fails; a transaction is then to be rolled back. Writes are made between
// begin() and commit(), and are safe on disk when commit() has returned; reads may be made in a transaction or without.
//
// There are two, SqliteStore and PostgresqlStore, which pass the same tests
// (tests/server/memory/store_contract_test.cpp).
#pragma once

#include "jsonrpc/unread.hpp"
#include "memory/conversation.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::memory {

// What can be wrong with a store, as an exception. A request that is wrong in itself throws an RpcError instead, and
// has changed nothing then.
class StoreError : public std::runtime_error {
 public:
  enum class Kind {
    kBusy,         // another program holds it; may go better later
    kNoSpace,      // the disk is full
    kUnavailable,  // it cannot be opened, read or written; the message says why and what to do
    kDamaged,      // as kUnavailable, and what is in it is not to be trusted
    kInterrupted,  // the transaction was not made, through no fault of its own: it may be tried again at once
    kUnknown,      // nobody knows whether the transaction was made: it must not be tried again
  };
  StoreError(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

// As clients are told.
inline RpcError as_client_sees(const StoreError& error) {
  const std::string text = std::string("memory store unavailable: ") + error.what();
  switch (error.kind()) {
    case StoreError::Kind::kBusy: return {ErrorCode::kQueueFull, text, Json{{"reason", "busy"}}};
    case StoreError::Kind::kNoSpace: return {ErrorCode::kQueueFull, text, Json{{"reason", "no space"}}};
    case StoreError::Kind::kUnavailable:
    case StoreError::Kind::kDamaged:
    case StoreError::Kind::kInterrupted:
    case StoreError::Kind::kUnknown: break;
  }
  return {ErrorCode::kRuntimeUnavailable, text, Json{{"reason", error.what()}, {"signal", nullptr}}};
}

inline RpcError no_such_conversation(const std::string& id) {
  return {ErrorCode::kResourceNotFound, "no conversation " + to_text(shortened(id)) + " exists",
          Json{{"conversation_id", shortened(id)}}};
}

struct Limits {
  std::int64_t count = 50;
  // Of contents and metadata together; at least one message is returned.
  std::int64_t bytes = std::int64_t{1} << 62U;
};

struct Search {
  std::string text{};       // words; all of them must occur in a message
  bool fold = true;         // "tieng" finds "tiếng", and "d" finds "đ"
  std::string id{};         // in this conversation only; empty: in all of the space
  std::int64_t before = 0;  // hits of earlier messages than that `Hit::place`; 0: from the newest on
  std::int64_t count = 20;
  std::int64_t content_bytes = std::int64_t{1} << 30U;  // of longer contents the beginning is returned
  // Of what is returned of contents and metadata together; at least one hit is returned.
  std::int64_t bytes = std::int64_t{1} << 62U;
};

struct Hit {
  std::string id;  // of the conversation
  StoredMessage message;
  std::int64_t place = 0;
  bool is_cut = false;  // there is more of the content
};

struct SearchPage {
  std::vector<Hit> hits;
  bool is_more = false;  // behind the last of them
};

// The names of spaces that hold lines of an import until it is complete begin with this.
inline constexpr std::string_view kWaitingSpaces = "\x01import:";

class Store {
 public:
  virtual ~Store() = default;

  // --- transactions ---
  virtual void begin() = 0;
  virtual void begin_reading() = 0;  // a transaction whose reads all see the store as it was at one moment
  // What was written since begin() lasts from here on. Throws StoreError if it does not, or if that is not known
  // (kUnknown).
  virtual void commit() = 0;
  // Undoes what was written since begin(). Does nothing if no transaction is open.
  virtual void rollback() noexcept = 0;

  // --- writes ---
  // False if there is such a conversation already.
  virtual bool create(const Key& key, Milliseconds time) = 0;
  // Adds the message at the end; makes the conversation if there is none. Gives its number.
  virtual std::int64_t append(const Key& key, const NewMessage& message) = 0;
  // Replaces the summary, which then covers all messages but the last `recent`; an empty text covers none.
  virtual void set_summary(const Key& key, const std::string& text, std::int64_t recent, Milliseconds time) = 0;
  // Replaces the summary by an imported one: summary.covers says how many of the first messages it covers.
  virtual void put_summary(const Key& key, const Summary& summary) = 0;
  // False if there is no such conversation.
  virtual bool rename(const Key& key, const std::string& title) = 0;
  // Removes the conversation's messages and its summary; false if there is no such conversation.
  virtual bool clear(const Key& key, Milliseconds time) = 0;
  // Removes the conversation; false if there is no such one.
  virtual bool remove(const Key& key) = 0;
  // All conversations of one space become another's. Throws RpcError that names one which exists there already.
  virtual void move_space(const std::string& from, const std::string& to) = 0;

  // --- housekeeping ---
  // Frees what clear() and remove() have left, so many messages at most. Whether there is more.
  virtual bool purge(std::int64_t messages) = 0;
  // Removes at most `most` conversations not changed since `time`, of spaces whose names begin with `spaces`. How many.
  // Neither this nor forget_oldest() removes what waits to be imported: the rest of it would be added to another
  // conversation.
  virtual std::int64_t forget_before(Milliseconds time, std::int64_t most, const std::string& spaces = {}) = 0;
  // Removes the one that has not changed for longest; false if there is none.
  virtual bool forget_oldest() = 0;
  // What the store takes, without what is free in it.
  virtual std::int64_t used_bytes() = 0;
  // Looks whether what is in it can be read. Takes long, but ends early once the `stop` that it was opened with is
  // true. Throws StoreError kDamaged.
  virtual void check() = 0;

  // --- reads ---
  virtual std::optional<Conversation> find(const Key& key) = 0;
  // The last messages, in order; none if there is no such conversation. Those before them are left out where there are
  // more, or longer ones, than `limits` has.
  virtual std::vector<StoredMessage> recent(const Key& key, const Limits& limits) = 0;
  // The messages behind number `after`, in order.
  virtual std::vector<StoredMessage> messages(const Key& key, std::int64_t after, const Limits& limits) = 0;
  // The messages before the last `recent` ones that no summary covers.
  virtual std::vector<StoredMessage> old(const Key& key, std::int64_t recent, const Limits& limits) = 0;
  virtual std::optional<Summary> summary(const Key& key) = 0;
  // Newest first, those with a lower place than `before`; 0: from the newest on.
  virtual std::vector<Conversation> list(const std::string& space, std::int64_t before, std::int64_t count) = 0;
  virtual std::vector<std::string> spaces() = 0;
  virtual SearchPage search(const std::string& space, const Search& search) = 0;
};

// Rolls back at its end, unless commit() was called.
class Transaction {
 public:
  enum class Use { kWriting, kReading };
  explicit Transaction(Store& store, Use use = Use::kWriting) : store_(store) {
    use == Use::kWriting ? store_.begin() : store_.begin_reading();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (is_open_) store_.rollback();
  }
  void commit() {
    store_.commit();
    is_open_ = false;
  }

 private:
  Store& store_;
  bool is_open_ = true;
};

}  // namespace rkllm_mcp::memory
