// The threads that use a store, so that the event loop never waits for one: a writer, which commits together what many
// clients have asked for meanwhile, and readers beside it.
//
// Writes are made in the order in which they were asked for. A write is answered after it is safe on disk, together
// with those that were committed with it. If the store fails in the middle of such a group, each of it is tried once
// more by itself, so that one bad write costs no other; but if nobody knows whether the group was committed, all of it
// fails. A transaction that was interrupted (another one was in its way, a connection was lost) is made again; so
// `work` may be called more than once. A piece of reading sees the store as it was at one moment.
//
// A store that cannot be opened fails each piece of work with the reason, and is opened again after a while.
//
// Threads: everything on the event loop, but for the work itself, which is done on one of these threads.
#pragma once

#include "lifetime.hpp"
#include "mcp/service.hpp"
#include "memory/store.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace rkllm_mcp::memory {

class StoreThreads {
 public:
  enum class Use { kWriting, kReading, kChecking };
  // Opens the store. `stop` becomes true when nothing is to be waited for any more. Throws StoreError.
  using OpenFunction = std::function<std::unique_ptr<Store>(Use use, const std::atomic<bool>& stop)>;
  using Work = std::function<Json(Store& store)>;

  struct Options {
    std::size_t readers = 2;          // 0: the writer reads as well, as it must where a store is in its memory only
    std::size_t most_waiting = 4096;  // pieces of work; more are refused
    std::size_t most_together = 256;  // writes of one group
    // Called by the writer now and then when it has nothing else to do, with a transaction of its own; true: there is
    // more to do. Null: nothing is.
    std::function<bool(Store& store)> tidy{};
    std::chrono::seconds between_tidying{60};
  };
  // Whether the store can be used; the reason if not. Called on the loop when that changes.
  using StateFunction = std::function<void(const std::string& trouble)>;

  // Throws std::system_error if a thread cannot be started.
  StoreThreads(asio::io_context& loop, OpenFunction open, Options options, StateFunction changed);
  StoreThreads(const StoreThreads&) = delete;
  StoreThreads& operator=(const StoreThreads&) = delete;
  ~StoreThreads();

  // `work` throws RpcError before it has changed anything, or StoreError. `done` is called on the loop. Both throw
  // RpcError 4004 if too much waits already, and after stop().
  void write(Work work, mcp::DoneFunction done);
  void read(Work work, mcp::DoneFunction done);

  // Accepts no more; what waits is still written. The destructor waits for that, though not for ever.
  void stop();

 private:
  struct Piece {
    Work work;
    mcp::DoneFunction done;
    Json result{};
    std::exception_ptr error{};
  };
  // Where pieces wait for one kind of thread.
  struct Queue {
    std::condition_variable news;
    std::deque<Piece> waiting;
  };

  void add(Queue& queue, Work work, mcp::DoneFunction done);
  void write_on();
  void read_on();
  void check_on();
  static void write_group(Store& store, std::vector<Piece>& group);
  static void write_alone(Store& store, Piece& piece);
  static void read_one(Store& store, Piece& piece);
  bool tidy(Store& store, std::string& trouble);
  void answer(std::vector<Piece> group);
  void say(const std::string& trouble);
  void end_writing();
  void join();
  // Opens `store` if it is not open; false if that fails, with the reason in `why`.
  bool open(Use use, std::unique_ptr<Store>& store, std::exception_ptr& why);

  asio::io_context& loop_;
  const OpenFunction open_;
  const Options options_;
  const StateFunction changed_;
  const Lifetime alive_;  // looked at on the loop

  std::mutex mutex_;  // guards what follows
  Queue writes_;
  Queue reads_;
  bool stopping_ = false;
  bool is_opened_ = false;       // the writer has had it open: readers find a file that is up to date
  std::exception_ptr damage_{};  // not null: the store is not to be used
  bool has_ended_ = false;       // the writer
  std::condition_variable opened_;
  std::condition_variable ended_;

  std::atomic<bool> hurry_{false};       // nothing is to be waited for any more
  std::atomic<bool> stop_check_{false};  // the check is not to be waited for
  std::vector<std::thread> threads_;
};

}  // namespace rkllm_mcp::memory
