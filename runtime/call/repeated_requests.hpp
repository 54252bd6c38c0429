// Requests that come again, where the network may repeat or lose messages: they are recognised by their bytes, are not
// executed a second time, and are answered once more as far as there is an answer.
//
// While a request is being executed its repetitions are swallowed: the answer will come. After that they get the same
// answer, for `kept_for`. A request that is answered by a stream has its stream send again what it retains.
//
// When a client goes, its answers go with it. Which requests it has sent is still known by its address, for
// `known_for`: a repetition may have arrived before the client went, and be read after that. It is swallowed.
//
// Memory: what is kept for one client, and for all of them, is bounded, and is part of the server's budget; when there
// is no room, the oldest answers are forgotten first, and their requests would be executed again. Requests in progress
// are never forgotten: a session may only have so many.
//
// Threads: belongs to the event loop.
#pragma once

#include "call/session.hpp"
#include "clock.hpp"
#include "jsonrpc/reply.hpp"
#include "lifetime.hpp"
#include "memory_budget.hpp"
#include "text/sha256.hpp"
#include "transport/peer.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

class RepeatedRequests {
 public:
  struct Limits {
    std::chrono::milliseconds kept_for = kKeptForLostMessages;  // after the answer
    std::size_t client_bytes = std::size_t{1} << 20U;           // of answers to one client
    std::size_t bytes = std::size_t{16} << 20U;                 // of answers to all clients
    static constexpr std::size_t kBytesBesideTheAnswer = 256;   // counted for each answer in addition
    std::chrono::milliseconds known_for{1000};                  // after the client has gone
    std::size_t known_requests = 1024;                          // of all that have gone
  };

  RepeatedRequests() : RepeatedRequests(Limits()) {}
  // Without `memory` the limits alone bound it.
  explicit RepeatedRequests(const Limits& limits, MemoryBudget memory = {})
      : limits_(limits), share_(std::move(memory)) {}

  // Whether `text` is a request of this client that has been taken before. If so, the caller has nothing more to do.
  bool repeat(const Session& client, std::string_view text, Peer& peer);
  // `text` is about to be executed, and answered through `reply`.
  void add(const Session& client, std::string_view text, Reply& reply);
  // The client has gone.
  void forget(const Session& client);

  std::size_t kept_bytes() const { return kept_bytes_; }

 private:
  struct Record {
    const Session* client;
    Sha256 digest;
    std::weak_ptr<Reply> reply;  // lives as long as its call, or as its stream retains something
    std::string answer;          // empty: none yet, or none to be told
    Clock::time_point until;     // once it is answered
  };
  using Records = std::list<Record*>;  // into the clients' `records`

  struct Client {
    std::string address;
    std::map<Sha256, Record> records;
    std::list<Records::iterator> kept;  // this client's part of kept_, the oldest first
    std::size_t bytes = 0;
  };

  // A request of a client that has gone.
  struct Known {
    Sha256 digest;
    std::string address;
    Clock::time_point until;
  };

  static std::size_t bytes_of(const Record& record) { return record.answer.size() + Limits::kBytesBesideTheAnswer; }
  bool is_above_its_bounds() const;
  Record* find(const Session* client, const Sha256& digest);  // null if there is none (any more)
  void answered(Record& record, std::optional<std::string_view> answer);
  void forget_oldest_of(Client& client);
  void forget_expired();
  bool is_known(const Sha256& digest, std::string_view address) const;

  const Limits limits_;
  std::map<const Session*, Client> clients_;
  Records kept_;             // answered, the oldest first
  std::deque<Known> known_;  // the oldest first
  std::size_t kept_bytes_ = 0;
  MemoryShare share_;     // of kept_bytes_
  const Lifetime alive_;  // a reply may be given up after this has ended
};

}  // namespace rkllm_mcp
