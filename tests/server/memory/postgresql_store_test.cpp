// What only the PostgreSQL store has: connections that are lost, and databases that are not ours.
#include "memory/postgresql/postgresql_store.hpp"
#include "memory/store_threads.hpp"
#include "server/memory/postgresql_server.hpp"
#include "server/memory/store_places.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::memory;
using postgresql::PostgresqlStore;
using test::commit;
using test::said;

namespace {

const Key kShared{"", "chat_1"};

std::unique_ptr<PostgresqlStore> opened(const std::string& address,
                                        PostgresqlStore::Use use = PostgresqlStore::Use::kWriting) {
  return std::make_unique<PostgresqlStore>(PostgresqlStore::Options{address}, use);
}

std::string refusal_of(const std::string& address) {
  try {
    opened(address);
  } catch (const StoreError& error) {
    return error.what();
  }
  return "none";
}

// Ends the other connections to the database, as an administrator may.
void end_connections(const std::string& address) {
  postgresql::Connection admin(address, nullptr);
  admin.run_script(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
      "datname = current_database()");
}

std::vector<std::string> kept_in(const std::string& address) {
  return test::contents_of(opened(address, PostgresqlStore::Use::kReading)->messages(kShared, 0, {1'000'000}));
}

// Threads over a database, and the loop that hears of them.
struct Instance {
  explicit Instance(const std::string& address)
      : guard(asio::make_work_guard(loop)),
        threads(
            loop,
            [address](StoreThreads::Use use, const std::atomic<bool>& stop) -> std::unique_ptr<Store> {
              return std::make_unique<PostgresqlStore>(
                  PostgresqlStore::Options{address, &stop},
                  use == StoreThreads::Use::kWriting ? PostgresqlStore::Use::kWriting : PostgresqlStore::Use::kReading);
            },
            {}, [this](const std::string& trouble) { states.push_back(trouble); }) {}

  void append(const Key& key, const std::string& content) {
    ++asked;
    threads.write(
        [key, content](Store& store) {
          store.append(key, said(content));
          return Json();
        },
        [this, content](const Json&, const std::exception_ptr& error) {
          ++answered;
          if (!error) acknowledged.push_back(content);
        });
  }
  void await_all() {
    while (answered < asked) loop.run_one();
  }

  asio::io_context loop;
  asio::executor_work_guard<asio::io_context::executor_type> guard;
  int asked = 0;
  int answered = 0;
  std::vector<std::string> acknowledged;
  std::vector<std::string> states;
  StoreThreads threads;
};

// Between a client and the server's socket. It ends the connection at the first COMMIT after arm(): before the server
// has got it, or when the server has answered it, so that the client cannot know.
class Cutter {
 public:
  enum class When { kBefore, kAfter };
  Cutter(const test::PostgresqlServer& server, When when) : server_(server.socket_path()), when_(when) {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = address_of(directory_ / ".s.PGSQL.5432");
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_, 8) != 0) {
      throw std::runtime_error("cannot listen");
    }
    thread_ = std::thread([this] { serve(); });
  }
  Cutter(const Cutter&) = delete;
  Cutter& operator=(const Cutter&) = delete;
  ~Cutter() {
    is_ending_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  void arm() { is_armed_ = true; }
  bool has_cut() const { return !is_armed_; }
  // Of the database at that address of the server's own, through here.
  std::string through(const std::string& address) const {
    return address.substr(0, address.find('?')) + "?host=" + directory_.path();
  }

 private:
  static sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(static_cast<char*>(address.sun_path), path.c_str(), sizeof address.sun_path - 1);
    return address;
  }

  void serve() {
    while (!is_ending_) {
      const int client = ::accept(listener_, nullptr, nullptr);
      if (client < 0) return;
      const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_un address = address_of(server_);
      if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) relay(client, server);
      ::close(client);
      ::close(server);
    }
  }

  // One connection at a time, which is what a writer has.
  void relay(int client, int server) {
    std::vector<char> bytes(std::size_t{64} << 10U);
    bool is_last = false;
    while (true) {
      std::array<pollfd, 2> ends{pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
      ::poll(ends.data(), ends.size(), -1);
      const bool is_from_client = ends[0].revents != 0 && !is_last;
      const auto count = ::read(is_from_client ? client : server, bytes.data(), bytes.size());
      if (count <= 0) return;
      const std::string_view text(bytes.data(), static_cast<std::size_t>(count));
      if (!is_from_client && is_last) return;  // the answer is here, and goes no further
      if (is_from_client && is_armed_ && text.find("COMMIT") != std::string_view::npos) {
        is_armed_ = false;
        if (when_ == When::kBefore) return;
        is_last = true;
      }
      if (::write(is_from_client ? server : client, text.data(), text.size()) != count) return;
    }
  }

  const test::TemporaryDirectory directory_;
  const std::string server_;
  const When when_;
  std::atomic<bool> is_armed_{false};
  std::atomic<bool> is_ending_{false};
  int listener_ = -1;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a connection that is lost while tables are made is told with the reason of the loss") {
  const std::string address = test::shared_postgresql_server().new_database();
  postgresql::Connection(address, nullptr)
      .run_script(
          "CREATE FUNCTION lose() RETURNS event_trigger LANGUAGE plpgsql AS "
          "$$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); END $$; "
          "CREATE EVENT TRIGGER loses ON ddl_command_start EXECUTE FUNCTION lose()");
  CHECK_THAT(refusal_of(address), test::has_text("terminating connection due to administrator command"));
}

TEST_CASE("a database that cannot be used is refused with a reason, which has no password in it") {
  auto& server = test::shared_postgresql_server();
  CHECK_THAT(refusal_of("postgresql://me:s3cret@127.0.0.1:1/x"), test::has_text("postgresql://127.0.0.1:1/x: "));
  CHECK(refusal_of("postgresql://me:s3cret@127.0.0.1:1/x").find("s3cret") == std::string::npos);
  CHECK_THAT(refusal_of("postgresql://me:s3cret@h/x?what=s3cret"), test::has_text("no address of PostgreSQL"));
  CHECK_THAT(refusal_of(server.address_of("nowhere")), test::has_text("does not exist"));
  const std::string latin = server.new_database("ENCODING 'LATIN1' TEMPLATE template0");
  CHECK_THAT(refusal_of(latin), test::has_text("not UTF8"));
  const std::string foreign = server.new_database();
  postgresql::Connection admin(foreign, nullptr);
  admin.run_script("CREATE SCHEMA rkllm_mcp; CREATE TABLE rkllm_mcp.mine(x int)");
  CHECK_THAT(refusal_of(foreign), test::has_text("another program's"));
  CHECK(admin
            .run("SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                 "WHERE nspname = 'rkllm_mcp'")
            .integer(0, 0) == 1);
  const std::string newer = server.new_database();
  opened(newer);
  postgresql::Connection(newer, nullptr).run_script("UPDATE store SET version = 99");
  CHECK_THAT(refusal_of(newer), test::has_text("newer"));
}

TEST_CASE("a database is made by one of those that open it at once, and waited for by the others") {
  const std::string address = test::shared_postgresql_server().emptied_database();
  std::atomic<int> well{0};
  std::vector<std::thread> instances;
  for (int at = 0; at < 8; ++at) {
    instances.emplace_back([&] {
      const auto store = opened(address);
      commit(*store, [&] { store->append(kShared, said("x")); });
      ++well;
    });
  }
  for (auto& each : instances) each.join();
  CHECK(well == 8);
  CHECK(kept_in(address).size() == 8);
}

TEST_CASE("connections that are ended cost no message, and double none") {
  const std::string address = test::shared_postgresql_server().emptied_database();
  Instance instance(address);
  std::vector<std::string> asked{"first"};
  instance.append(kShared, "first");
  instance.await_all();  // from now on it is open
  for (int round = 0; round < 10; ++round) {
    for (int n = 0; n < 40; ++n) {
      asked.push_back(std::to_string(asked.size()));
      instance.append(kShared, asked.back());
    }
    end_connections(address);
  }
  instance.await_all();
  CHECK(instance.acknowledged == asked);
  CHECK(kept_in(address) == asked);
}

TEST_CASE(
    "a transaction whose connection is lost while it is committed is made once, whether it was committed or not") {
  auto& server = test::shared_postgresql_server();
  for (const auto when : {Cutter::When::kBefore, Cutter::When::kAfter}) {
    const std::string address = server.emptied_database();
    opened(address);
    Cutter cutter(server, when);
    {
      const auto store = opened(cutter.through(address));
      commit(*store, [&] { store->append(kShared, said("one")); });
      cutter.arm();
      const auto write = [&] { commit(*store, [&] { store->append(kShared, said("two")); }); };
      if (when == Cutter::When::kAfter) {
        write();
      } else {
        try {
          write();
          FAIL("it was not committed");
        } catch (const StoreError& error) {
          CHECK(error.kind() == StoreError::Kind::kInterrupted);
        }
        write();
      }
      CHECK(cutter.has_cut());
      commit(*store, [&] { store->append(kShared, said("three")); });
    }
    CHECK(kept_in(address) == std::vector<std::string>{"one", "two", "three"});
  }
}

TEST_CASE("two instances that write to the same conversations have one order, and do not block each other") {
  const std::string address = test::shared_postgresql_server().emptied_database();
  const Key other{"", "chat_2"};
  opened(address);
  std::vector<std::thread> threads;
  std::atomic<int> acknowledged{0};
  for (int at = 0; at < 2; ++at) {
    threads.emplace_back([&, at] {
      Instance instance(address);
      for (int n = 0; n < 200; ++n) {
        // Each in its own order, which would be a deadlock if they locked one conversation after the other.
        instance.append(at == 0 ? kShared : other, std::to_string(at) + "." + std::to_string(n));
        instance.append(at == 0 ? other : kShared, std::to_string(at) + "." + std::to_string(n));
      }
      instance.await_all();
      acknowledged += static_cast<int>(instance.acknowledged.size());
    });
  }
  for (auto& each : threads) each.join();
  CHECK(acknowledged == 800);
  for (const Key& key : {kShared, other}) {
    const auto first = opened(address)->messages(key, 0, {1000});
    CHECK(first == opened(address)->messages(key, 0, {1000}));
    REQUIRE(first.size() == 400);
    std::array<int, 2> next{0, 0};
    for (std::size_t n = 0; n < first.size(); ++n) {
      CHECK(first[n].seq == static_cast<std::int64_t>(n) + 1);
      const std::size_t writer = first[n].content[0] == '0' ? 0 : 1;
      CHECK(first[n].content == std::to_string(writer) + "." + std::to_string(next.at(writer)++));
    }
  }
}

TEST_CASE("a database that somebody holds locked keeps neither the loop nor readers waiting") {
  const std::string address = test::shared_postgresql_server().emptied_database();
  Instance instance(address);
  instance.append(kShared, "a");
  instance.await_all();
  std::vector<std::string> order;
  {
    postgresql::Connection holder(address, nullptr);
    holder.run_script("BEGIN; LOCK TABLE message IN EXCLUSIVE MODE");
    instance.append(kShared, "b");
    asio::post(instance.loop, [&order] { order.emplace_back("loop"); });
    instance.threads.read([](Store& store) { return Json(store.recent(kShared, {1}).front().content); },
                          [&order](const Json& result, const std::exception_ptr&) { order.push_back(result); });
    while (order.size() < 2) instance.loop.run_one();
    CHECK(instance.acknowledged.size() == 1);
  }
  instance.await_all();
  CHECK(order == std::vector<std::string>{"loop", "a"});
  CHECK(instance.acknowledged == std::vector<std::string>{"a", "b"});
}

TEST_CASE(
    "a word that is longer than PostgreSQL takes, and a message of nothing but different words, can be searched") {
  const std::string address = test::shared_postgresql_server().emptied_database();
  const auto store = opened(address);
  std::string many;
  for (int n = 0; many.size() < (256U << 10U); ++n) many += "ǖ" + std::to_string(n) + " ";
  const std::string longest(100'000, 'q');
  commit(*store, [&] {
    store->append(kShared, said(longest + " short"));
    store->append(kShared, said(many));
  });
  CHECK(store->search("", {.text = longest}).hits.size() == 1);
  CHECK(store->search("", {.text = longest + "q"}).hits.empty());
  CHECK(store->search("", {.text = "u77"}).hits.size() == 1);
}

TEST_CASE("what a database takes counts its conversations, titles and summaries, and is 0 again when all are gone") {
  const std::string address = test::shared_postgresql_server().emptied_database();
  const auto store = opened(address);
  const std::string long_text(100'000, 'x');
  const auto changes = [&](const auto& action) {
    const std::int64_t before = store->used_bytes();
    commit(*store, action);
    return store->used_bytes() - before;
  };
  const std::int64_t empty = changes([&] { store->create({"", "empty"}, 1); });
  CHECK(empty > 0);
  CHECK(changes([&] { store->create({"", "empty"}, 2); }) == 0);
  const std::int64_t first = changes([&] { store->append(kShared, said("x")); });
  const std::int64_t second = changes([&] { store->append(kShared, said("x")); });
  CHECK(first == second + empty);
  CHECK(changes([&] { store->append({"", "empty"}, said("x")); }) == second);
  CHECK(changes([&] { store->set_summary(kShared, long_text, 0, 1); }) == 100'000);
  CHECK(changes([&] { store->put_summary(kShared, {"S", 1, 1}); }) == 1 - 100'000);
  CHECK(changes([&] { store->rename(kShared, "Title"); }) == 5);
  CHECK(changes([&] { store->set_summary({"", "new"}, long_text, 0, 1); }) == empty + 100'000);
  CHECK(changes([&] { store->clear({"", "new"}, 2); }) == -100'000);
  commit(*store, [&] {
    for (const char* const id : {"empty", "chat_1", "new"}) CHECK(store->remove({"", id}));
  });
  for (bool is_more = true; is_more;) {
    commit(*store, [&] { is_more = store->purge(2); });
  }
  CHECK(store->used_bytes() == 0);
}
