// The threads beside the event loop: what is committed together, what fails alone, and that the loop never waits.
#include "memory/store_threads.hpp"
#include "memory/sqlite/sqlite_store.hpp"
#include "server/memory/store_places.hpp"
#include "support/catch.hpp"
#include "support/no_more_threads.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <atomic>
#include <cstddef>
#include <future>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

using namespace rkllm_mcp;
using namespace rkllm_mcp::memory;
using test::said;
using test::TemporaryDirectory;

namespace {

const Key kTalk{"", "chat_1"};

// Threads over a file, and the loop that hears of them.
struct Threads {
  explicit Threads(StoreThreads::OpenFunction open_store, StoreThreads::Options options = {})
      : guard(asio::make_work_guard(loop)),
        threads(loop, std::move(open_store), std::move(options),
                [this](const std::string& trouble) { states.push_back(trouble); }) {}

  // Runs the loop until `count` answers have come.
  void await(std::size_t count) {
    while (answers.size() < count) loop.run_one();
  }
  mcp::DoneFunction noted(std::string name) {
    return [this, name = std::move(name)](const Json& result, const std::exception_ptr& error) {
      std::string outcome = result.is_string() ? result.get<std::string>() : "ok";
      if (error) {
        try {
          std::rethrow_exception(error);
        } catch (const RpcError& refused) {
          outcome = std::to_string(static_cast<int>(refused.code()));
          last_message = refused.what();
        }
      }
      answers.push_back(name + ": " + outcome);
    };
  }
  void append(const std::string& content) {
    threads.write(
        [content](Store& store) {
          store.append(kTalk, said(content));
          return Json();
        },
        noted(content));
  }

  asio::io_context loop;
  asio::executor_work_guard<asio::io_context::executor_type> guard;
  std::vector<std::string> answers;
  std::vector<std::string> states;
  std::string last_message;
  StoreThreads threads;
};

StoreThreads::OpenFunction file(const std::string& path) {
  return [path](StoreThreads::Use use, const std::atomic<bool>& stop) -> std::unique_ptr<Store> {
    return std::make_unique<SqliteStore>(Connection::Options{path, nullptr, &stop}, use == StoreThreads::Use::kWriting
                                                                                        ? SqliteStore::Use::kWriting
                                                                                        : SqliteStore::Use::kReading);
  };
}

std::vector<std::string> kept_in(const std::string& path) {
  SqliteStore store({path}, SqliteStore::Use::kReading);
  return test::contents_of(store.messages(kTalk, 0, {1'000'000}));
}

}  // namespace

TEST_CASE("writes are made in the order in which they were asked for, and answered when they are safe") {
  const TemporaryDirectory directory;
  Threads one(file(directory / "memory.db"));
  std::vector<std::string> asked;
  for (int n = 0; n < 1000; ++n) {
    asked.push_back(std::to_string(n));
    one.append(asked.back());
  }
  one.await(1000);
  CHECK(kept_in(directory / "memory.db") == asked);
  CHECK(one.answers.front() == "0: ok");
  CHECK(one.answers.back() == "999: ok");
}

TEST_CASE("what is refused costs no other write, and what breaks neither") {
  const TemporaryDirectory directory;
  Threads one(file(directory / "memory.db"));
  std::promise<void> go;
  one.threads.write(
      [ready = go.get_future().share()](Store&) {
        ready.wait();  // so that what follows is one group
        return Json();
      },
      one.noted("first"));
  one.append("a");
  one.threads.write([](Store&) -> Json { throw InvalidParams("params.x", "wrong"); }, one.noted("refused"));
  one.threads.write(
      [](Store& store) -> Json {
        store.append(kTalk, said("half"));
        throw StoreError(StoreError::Kind::kUnavailable, "broken");
      },
      one.noted("broken"));
  one.append("b");
  go.set_value();
  one.await(5);
  CHECK(one.answers == std::vector<std::string>{"first: ok", "a: ok", "refused: -32602", "broken: 4005", "b: ok"});
  CHECK(kept_in(directory / "memory.db") == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a transaction that was interrupted is made again, as a whole, and one of which nobody knows is not") {
  const TemporaryDirectory directory;
  Threads one(file(directory / "memory.db"));
  const auto fail_once = [&one](StoreError::Kind kind, const std::string& name) {
    one.threads.write(
        [kind, name, tried = 0](Store& store) mutable {
          store.append(kTalk, said(name));
          if (tried++ == 0) throw StoreError(kind, "for the test");
          return Json();
        },
        one.noted(name));
  };
  for (const auto& [kind, name] : {std::pair{StoreError::Kind::kInterrupted, std::string("interrupted")},
                                   std::pair{StoreError::Kind::kUnknown, std::string("unknown")}}) {
    std::promise<void> go;
    std::promise<void> begun;
    const std::size_t before = one.answers.size();
    one.threads.write(
        [ready = go.get_future().share(), &begun](Store&) {
          begun.set_value();
          ready.wait();  // so that what follows is one group
          return Json();
        },
        one.noted("first"));
    begun.get_future().wait();
    one.append("beside " + name);
    fail_once(kind, name);
    go.set_value();
    one.await(before + 3);
  }
  CHECK(one.answers == std::vector<std::string>{"first: ok", "beside interrupted: ok", "interrupted: ok", "first: ok",
                                                "beside unknown: 4005", "unknown: 4005"});
  CHECK(kept_in(directory / "memory.db") == std::vector<std::string>{"beside interrupted", "interrupted"});
}

TEST_CASE("a read that was interrupted is made again") {
  const TemporaryDirectory directory;
  Threads one(file(directory / "memory.db"));
  one.append("a");
  one.await(1);
  one.threads.read(
      [tried = 0](Store& store) mutable {
        if (tried++ == 0) throw StoreError(StoreError::Kind::kInterrupted, "for the test");
        return Json(store.recent(kTalk, {1}).size());
      },
      one.noted("read"));
  one.await(2);
  CHECK(one.answers.back() == "read: ok");
}

TEST_CASE("readers answer while a write is under way") {
  const TemporaryDirectory directory;
  Threads one(file(directory / "memory.db"));
  one.append("a");
  one.await(1);
  std::promise<void> go;
  one.threads.write(
      [ready = go.get_future().share()](Store& store) {
        store.append(kTalk, said("b"));
        ready.wait();
        return Json();
      },
      one.noted("write"));
  one.threads.read([](Store& store) { return Json(store.recent(kTalk, {1}).front().content); }, one.noted("read"));
  one.await(2);
  CHECK(one.answers.back() == "read: a");
  go.set_value();
  one.await(3);
}

TEST_CASE("another program that holds the file keeps neither the loop nor readers waiting") {
  const TemporaryDirectory directory;
  Threads one(file(directory / "memory.db"));
  one.append("a");
  one.await(1);
  Connection other({directory / "memory.db"});
  other.run("BEGIN IMMEDIATE");
  bool turned = false;
  asio::post(one.loop, [&turned] { turned = true; });
  one.append("b");
  one.threads.read([](Store& store) { return Json(store.recent(kTalk, {1}).front().content); }, one.noted("read"));
  one.await(2);
  CHECK(turned);
  CHECK(one.answers.back() == "read: a");
  other.run("COMMIT");
  one.await(3);
  CHECK(one.answers.back() == "b: ok");
}

TEST_CASE("a store that cannot be opened says why to everybody, and is opened when it can be") {
  const TemporaryDirectory directory;
  test::write_file(directory / "memory.db", "not a database");
  Threads one(file(directory / "memory.db"));
  one.append("a");
  one.await(1);
  CHECK(one.answers.back() == "a: 4005");
  CHECK_THAT(one.last_message, test::has_text("is no database"));
  test::write_file(directory / "memory.db", "");
  for (std::size_t times = 2; one.answers.back() != "b: ok"; ++times) {
    one.append("b");
    one.await(times);
  }
  CHECK(kept_in(directory / "memory.db") == std::vector<std::string>{"b"});
  CHECK(one.states.back().empty());
}

TEST_CASE("too many requests that wait are refused") {
  const TemporaryDirectory directory;
  std::promise<void> go;
  StoreThreads::Options options;
  options.most_waiting = 2;
  Threads one(file(directory / "memory.db"), options);
  one.append("a");
  one.await(1);
  std::promise<void> begun;
  one.threads.write(
      [ready = go.get_future().share(), &begun](Store&) {
        begun.set_value();
        ready.wait();
        return Json();
      },
      one.noted("first"));
  begun.get_future().wait();
  one.append("b");
  one.append("c");
  CHECK_THROWS_AS(one.append("d"), RpcError);
  go.set_value();
  one.await(4);
}

TEST_CASE("what was asked for before the end is still written") {
  const TemporaryDirectory directory;
  std::vector<std::string> asked;
  {
    Threads one(file(directory / "memory.db"));
    for (int n = 0; n < 300; ++n) {
      asked.push_back(std::to_string(n));
      one.append(asked.back());
    }
  }
  CHECK(kept_in(directory / "memory.db") == asked);
}

TEST_CASE("what is in memory only is written and read by one thread") {
  StoreThreads::Options options;
  options.readers = 0;
  Threads one(file(":memory:"), options);
  one.append("a");
  one.threads.read([](Store& store) { return Json(store.recent(kTalk, {1}).front().content); }, one.noted("read"));
  one.await(2);
  CHECK(one.answers.back() == "read: a");
}

TEST_CASE("where a thread cannot be started there is no store, and the threads that there are end") {
  const std::size_t left = GENERATE(0U, 1U, 3U);
  const TemporaryDirectory directory;
  asio::io_context loop;
  const test::NoMoreThreads none(left);
  CHECK_THROWS_AS(StoreThreads(loop, file(directory / "memory.db"), {}, {}), std::system_error);
}
