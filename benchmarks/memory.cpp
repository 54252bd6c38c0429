// What keeping conversations costs, beside a bare loop over SQLite in the same folder.
// Usage: benchmark_memory FOLDER [CONVERSATIONS [MESSAGES_EACH]]. The folder is on the disk that is measured.
#include "memory/memory_service.hpp"
#include "memory/sqlite/sqlite_store.hpp"
#include "memory/store_threads.hpp"

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace rkllm_mcp;
using namespace rkllm_mcp::memory;
using Clock = std::chrono::steady_clock;

constexpr int kWriters = 64;
constexpr int kWrites = 50'000;
constexpr int kReads = 20'000;
constexpr int kSyncs = 200;
constexpr std::int64_t kTogether = 1000;  // messages of one transaction while the store is filled

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

// About 200 bytes, as a question or a short answer has.
std::string content_of(std::int64_t number) {
  return "Message " + std::to_string(number) +
         ": răng của tôi bị đau khi uống nước lạnh, tôi nên làm gì? Xin hãy giải thích nguyên nhân và cách điều trị, "
         "và "
         "khi nào thì phải đi khám. Thank you very much.";
}

NewMessage message_of(std::int64_t number) { return {Role::kUser, content_of(number), {}, now()}; }

Key key_of_number(std::int64_t number) { return {"", "chat_" + std::to_string(number)}; }

// Milliseconds of each of `count` calls: what half and what 99 of 100 of them take at most.
struct Times {
  double half, most;
};
Times times_of(int count, const std::function<void()>& call) {
  std::vector<double> times;
  for (int n = 0; n < count; ++n) {
    const auto begun = Clock::now();
    call();
    times.push_back(seconds_since(begun) * 1000);
  }
  std::ranges::sort(times);
  return {times[times.size() / 2], times[times.size() * 99 / 100]};
}

void print(const char* what, const Times& times) {
  std::printf("%-52s %9.3f ms median %9.3f ms p99\n", what, times.half, times.most);
}

Times fsync_times(const std::string& folder) {
  const std::string path = folder + "/fsync";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) throw std::runtime_error("cannot write " + path);
  const std::array<char, 4096> page{};
  const Times times = times_of(kSyncs, [&] {
    if (::write(descriptor, page.data(), page.size()) < 0 || ::fdatasync(descriptor) != 0) std::abort();
  });
  ::close(descriptor);
  return times;
}

// Rows a second, `group` of them in each transaction, into a table without index or search.
double bare_writes(const std::string& folder, int group, int writes) {
  Connection db({folder + "/bare-" + std::to_string(group) + ".db"});
  db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA synchronous = FULL");
  db.run("CREATE TABLE message(number INTEGER PRIMARY KEY, log INTEGER, content TEXT)");
  const auto begun = Clock::now();
  for (int n = 0; n < writes;) {
    db.run("BEGIN IMMEDIATE");
    for (int each = 0; each < group && n < writes; ++each, ++n) {
      Query(db, "INSERT INTO message(log, content) VALUES(?1, ?2)", static_cast<std::int64_t>(n % kWriters),
            content_of(n))
          .run();
    }
    db.run("COMMIT");
  }
  return writes / seconds_since(begun);
}

// Acknowledged writes a second of so many writers, each of which waits for its answer before it writes again.
double acknowledged_writes(const std::string& path) {
  asio::io_context loop;
  const auto guard = asio::make_work_guard(loop);
  StoreThreads threads(
      loop, [path](StoreThreads::Use use, const std::atomic<bool>& stop) { return open_store(path, use, &stop); }, {},
      {});
  int asked = 0;
  int answered = 0;
  std::function<void(int)> write_next = [&](int writer) {
    const int number = asked++;
    threads.write(
        [writer, number](Store& store) {
          store.append({"", "writer_" + std::to_string(writer)}, message_of(number));
          return Json();
        },
        [&, writer](const Json&, const std::exception_ptr& error) {
          if (error) std::abort();
          if (++answered == kWrites) loop.stop();
          if (asked < kWrites) write_next(writer);
        });
  };
  const auto begun = Clock::now();
  for (int writer = 0; writer < kWriters; ++writer) write_next(writer);
  loop.run();
  return kWrites / seconds_since(begun);
}

void fill(SqliteStore& store, std::int64_t conversations, std::int64_t each) {
  const auto begun = Clock::now();
  const std::int64_t all = conversations * each;
  for (std::int64_t n = 0; n < all;) {
    store.begin();
    for (std::int64_t together = 0; together < kTogether && n < all; ++together, ++n) {
      store.append(key_of_number(n % conversations), message_of(n));
    }
    store.commit();
  }
  std::printf("filled with %lld conversations, %lld messages: %.0f s, %.0f bytes a message\n",
              static_cast<long long>(conversations), static_cast<long long>(all), seconds_since(begun),
              static_cast<double>(store.used_bytes()) / static_cast<double>(all));
}

void run(const std::string& folder, std::int64_t conversations, std::int64_t each) {
  const std::string path = folder + "/memory.db";
  print("fdatasync of a page (floor)", fsync_times(folder));
  std::printf("%-52s %9.0f /s\n", "bare loop, one row a transaction", bare_writes(folder, 1, 2000));
  std::printf("%-52s %9.0f /s\n", "bare loop, 64 rows a transaction (floor)", bare_writes(folder, kWriters, kWrites));
  {
    SqliteStore store({path}, SqliteStore::Use::kWriting);
    fill(store, conversations, each);
  }
  std::printf("%-52s %9.0f /s\n", "acknowledged writes of 64 writers", acknowledged_writes(path));
  SqliteStore store({path}, SqliteStore::Use::kReading);
  std::mt19937_64 random(1);
  const auto any = [&] {
    return key_of_number(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(conversations)));
  };
  print("get_context: the 6 most recent messages", times_of(kReads, [&] { store.recent(any(), {6}); }));
  print("get_all_messages", times_of(kReads, [&] { store.messages(any(), 0, {1000}); }));
  std::int64_t before = 0;
  print("a page of 50 of the list", times_of(1000, [&] {
          const auto page = store.list("", before, 50);
          before = page.empty() ? 0 : page.back().place;
        }));
  std::int64_t wanted = 0;
  print("search: a word that one message has", times_of(1000, [&] {
          wanted += 997;
          store.search("", {.text = std::to_string(wanted % (conversations * each)), .count = 20});
        }));
  print("search: words that all messages have, newest 20",
        times_of(200, [&] { store.search("", {.text = "rang dau nuoc", .count = 20}); }));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: benchmark_memory FOLDER [CONVERSATIONS [MESSAGES_EACH]]\n");
    return 2;
  }
  try {
    const std::string folder = std::string(argv[1]) + "/benchmark_memory." + std::to_string(::getpid());
    std::filesystem::create_directories(folder);
    run(folder, argc > 2 ? std::atoll(argv[2]) : 100'000, argc > 3 ? std::atoll(argv[3]) : 10);
    std::filesystem::remove_all(folder);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "benchmark_memory: %s\n", error.what());
    return 1;
  }
}
