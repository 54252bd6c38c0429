#include "memory/postgresql/postgresql_connection.hpp"

#include "clock.hpp"
#include "text/url.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <new>
#include <vector>

namespace rkllm_mcp::memory::postgresql {
namespace {

constexpr std::chrono::seconds kToConnect{5};
// kSession: when the server ends a statement. kToAnswer is longer: when we give up a server that says nothing at all.
constexpr const char* kSession =
    "SET statement_timeout = '30s'; SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '30s'; "
    "SET search_path = rkllm_mcp, pg_catalog; "
    // What was acknowledged is on disk. A setting that asks for more than that is left alone.
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";
constexpr std::chrono::seconds kToAnswer{45};
constexpr std::chrono::milliseconds kBetweenLooks{100};

std::string without_newline(const char* text) {
  std::string line = text == nullptr ? "" : text;
  while (!line.empty() && line.back() == '\n') line.pop_back();
  std::ranges::replace(line, '\n', ' ');
  return line;
}

// By the classes of SQLSTATE.
StoreError::Kind kind_of(std::string_view state) {
  using Kind = StoreError::Kind;
  if (state.starts_with("40") || state.starts_with("08") || state.starts_with("57P") || state == "25P03") {
    return Kind::kInterrupted;  // deadlock, serialization; lost connection; the server ends
  }
  if (state == "55P03" || state == "57014" || state == "53300") return Kind::kBusy;  // lock, time, connections
  if (state.starts_with("53")) return Kind::kNoSpace;
  if (state.starts_with("XX")) return Kind::kDamaged;
  return Kind::kUnavailable;
}

void say_nothing(void* /*nobody*/, const char* /*notice*/) {}

}  // namespace

std::int64_t Rows::changed() const {
  const std::string_view text = library_->command_tuples(result_.get());
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::int64_t Rows::integer(int row, int column) const {
  const std::string_view text = library_->value(result_.get(), row, column);
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string Rows::text(int row, int column) const {
  return {library_->value(result_.get(), row, column),
          static_cast<std::size_t>(library_->length(result_.get(), row, column))};
}

Connection::Connection(const std::string& address, const std::atomic<bool>* stop)
    : shown_(shown_address(address)), stop_(stop) {
  char* why = nullptr;
  PQconninfoOption* const options = library_.parse_address(address.c_str(), &why);
  library_.free_memory(why);  // it may quote a password
  if (options == nullptr) {
    throw StoreError(StoreError::Kind::kUnavailable,
                     "memory.database is no address of PostgreSQL: expected postgresql://user@host:port/database");
  }
  library_.free_options(options);
  try {
    connect(address);
    run_script(kSession);
  } catch (...) {
    library_.finish(connection_);
    throw;
  }
}

Connection::~Connection() { library_.finish(connection_); }

void Connection::connect(const std::string& address) {
  // dbname has the whole address. What stands before dbname here can be set to another value in the address.
  constexpr std::array keywords{"application_name",
                                "target_session_attrs",
                                "keepalives_idle",
                                "keepalives_interval",
                                "keepalives_count",
                                "tcp_user_timeout",
                                "dbname",
                                "client_encoding",
                                static_cast<const char*>(nullptr)};
  const std::array values{
      "rkllm-mcp", "read-write", "10", "5", "3", "20000", address.c_str(), "UTF8", static_cast<const char*>(nullptr)};
  connection_ = library_.connect_start(keywords.data(), values.data(), 1);
  if (connection_ == nullptr) throw std::bad_alloc();
  library_.set_notice_processor(connection_, say_nothing, nullptr);
  const auto deadline = Clock::now() + kToConnect;
  auto state = library_.status(connection_) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
  while (state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED) {
    await_socket(state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline);
    state = library_.connect_poll(connection_);
  }
  if (state == PGRES_POLLING_FAILED) {
    throw StoreError(StoreError::Kind::kUnavailable,
                     shown_ + ": " + without_newline(library_.error_message(connection_)));
  }
  library_.set_nonblocking(connection_, 1);
}

void Connection::await_socket(short events, Clock::time_point deadline) {
  while (true) {
    if (stop_ != nullptr && stop_->load()) {
      is_lost_ = true;  // whatever was begun is not waited for
      throw StoreError(StoreError::Kind::kBusy, "the server is ending");
    }
    if (Clock::now() >= deadline) lose("no answer");
    struct pollfd socket {
      library_.socket(connection_), events, 0
    };
    const int ready = ::poll(&socket, 1, static_cast<int>(kBetweenLooks.count()));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) lose(std::strerror(errno));
  }
}

void Connection::lose(const std::string& why) {
  is_lost_ = true;
  throw StoreError(StoreError::Kind::kInterrupted, shown_ + ": the connection is lost: " + why);
}

void Connection::fail(const PGresult* result) {
  const auto field = [&](int code) {
    const char* const text = library_.error_field(result, code);
    return std::string(text == nullptr ? "" : text);
  };
  const std::string state = field(PG_DIAG_SQLSTATE);
  // After errors of these classes the server ends the connection, but we may not have seen that yet.
  is_lost_ = is_lost_ || state.starts_with("57P") || state.starts_with("08") || state == "25P03";
  throw StoreError(kind_of(state), shown_ + ": " + field(PG_DIAG_MESSAGE_PRIMARY) + " (" + state + ")");
}

void Connection::send_all() {
  const auto deadline = Clock::now() + kToAnswer;
  while (true) {
    const int left = library_.flush(connection_);
    if (left == 0) return;
    if (left < 0) lose(without_newline(library_.error_message(connection_)));
    await_socket(POLLIN | POLLOUT, deadline);
    // The server may want to be read first.
    if (library_.consume_input(connection_) == 0) lose(without_newline(library_.error_message(connection_)));
  }
}

Rows Connection::await_answer(int was_sent) {
  if (was_sent == 0) lose(without_newline(library_.error_message(connection_)));
  send_all();
  const auto deadline = Clock::now() + kToAnswer;
  Rows last(library_, nullptr);
  Rows failed(library_, nullptr);
  while (true) {
    while (library_.is_busy(connection_) == 1) {
      await_socket(POLLIN, deadline);
      if (library_.consume_input(connection_) == 0) lose(without_newline(library_.error_message(connection_)));
    }
    Rows next(library_, library_.get_result(connection_));
    if (!next.result_) break;
    const auto status = library_.result_status(next.result_.get());
    const bool is_well = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
    (is_well ? last : failed) = std::move(next);
  }
  if (library_.status(connection_) == CONNECTION_BAD) lose(without_newline(library_.error_message(connection_)));
  if (failed.result_) fail(failed.result_.get());
  return last;
}

Rows Connection::run_script(const std::string& sql) {
  if (is_lost_) lose("it was lost before");
  return await_answer(library_.send_query(connection_, sql.c_str()));
}

Rows Connection::run_prepared(const char* sql, const std::string* texts, std::size_t count) {
  if (is_lost_) lose("it was lost before");
  const std::string name = std::to_string(reinterpret_cast<std::uintptr_t>(sql));
  if (!prepared_.contains(sql)) {
    await_answer(library_.send_prepare(connection_, name.c_str(), sql, 0, nullptr));
    prepared_.insert(sql);
  }
  std::vector<const char*> values;
  for (std::size_t at = 0; at < count; ++at) values.push_back(texts[at].c_str());
  return await_answer(
      library_.send_prepared(connection_, name.c_str(), static_cast<int>(count), values.data(), nullptr, nullptr, 0));
}

bool Connection::has_committed(const Rows& last) const {
  return std::string_view(library_.command_status(last.result_.get())) == "COMMIT";
}

bool Connection::is_in_transaction() const {
  const auto state = library_.transaction_status(connection_);
  return state == PQTRANS_INTRANS || state == PQTRANS_INERROR;
}

}  // namespace rkllm_mcp::memory::postgresql
