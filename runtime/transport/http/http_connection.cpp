#include "transport/http/http_connection.hpp"

#include "clock.hpp"
#include "faults.hpp"
#include "transport/bytes/input_backlog.hpp"
#include "transport/http/http_message.hpp"
#include "transport/websocket/websocket_protocol.hpp"

#include <asio/post.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace rkllm_mcp::http {

namespace {

// So much of what a client pipelines is kept while an answer is under way; then it is not read until that is done.
constexpr std::size_t kBacklogBytes = 64 * 1024;

// The field Date of an answer that begins now. Made anew once a second at most; valid until the thread asks again.
std::string_view date_now() {
  thread_local std::int64_t second = -1;
  thread_local std::string text;
  const std::int64_t now = seconds_since_1970();
  if (now != second) text = http_date(now);
  second = now;
  return text;
}

}  // namespace

// The exchange as a connection serves it. It outlives the connection if the layer above keeps it, and then does
// nothing.
class Connection::OwnExchange final : public Exchange {
 public:
  OwnExchange(Connection& connection, const Request& request)
      : connection_(connection.weak_from_this()),
        is_head_(request.method == "HEAD"),
        is_http_1_0_(request.is_http_1_0),
        keep_alive_(request.keep_alive),
        cors_headers_(connection.around_->origin_policy.cors_headers(request)) {}

  ~OwnExchange() override {
    try {
      if (state_ == State::kWaiting) answer(plain_response(500, "the request was dropped"));
      break_off();
    } catch (const std::exception&) {  // no memory
      if (const auto connection = connection_.lock()) connection->channel_->abort();
    }
  }

  void respond(Response response) override { answer(std::move(response)); }

  void start_stream(int status, const Headers& headers) override {
    const auto connection = connection_.lock();
    if (state_ != State::kWaiting || !connection) return;
    Head head(status);
    head.add("Date", date_now()).add(headers).add(cors_headers_);
    // HTTP/1.0 knows no chunks: there the end of the connection is the end of the answer.
    keep_alive_ = keep_alive_ && !is_http_1_0_;
    if (!is_http_1_0_) head.add("Transfer-Encoding", "chunked");
    if (!keep_alive_) head.add("Connection", "close");
    connection->channel_->write({head.text()});
    state_ = State::kStreaming;  // not if that has thrown
  }

  void write(std::string_view bytes) override {
    const auto connection = connection_.lock();
    if (state_ != State::kStreaming || !connection || bytes.empty() || is_head_) return;
    if (is_http_1_0_) return connection->channel_->write({bytes});
    std::array<char, 16> size{};
    const auto end = std::to_chars(size.data(), size.data() + size.size(), bytes.size(), 16).ptr;
    const std::string_view digits(size.data(), static_cast<std::size_t>(end - size.data()));
    connection->channel_->write({digits, "\r\n", bytes, "\r\n"});
  }

  void finish() override {
    const auto connection = connection_.lock();
    if (state_ != State::kStreaming || !connection) return;
    state_ = State::kDone;
    if (!is_http_1_0_ && !is_head_) connection->channel_->write({"0\r\n\r\n"});
    connection->exchange_done(keep_alive_);
  }

  bool ready() const override {
    const auto connection = connection_.lock();
    return connection && connection->channel_->ready();
  }
  bool closed() const override { return state_ == State::kGone || connection_.expired(); }
  bool has_room_for(std::size_t bytes) const override {
    const auto connection = connection_.lock();
    return !connection || connection->channel_->has_room_for(bytes);
  }

  // Ends it, whatever has become of it so far.
  void fail() {
    respond(plain_response(500, "internal error"));
    break_off();
  }
  void channel_is_ready() { became_ready(); }
  void client_is_gone() {
    if (state_ == State::kGone || state_ == State::kDone) return;
    state_ = State::kGone;
    became_closed();
  }

 private:
  enum class State { kWaiting, kStreaming, kDone, kGone };

  // A stream that breaks off must not look complete.
  void break_off() {
    const auto connection = connection_.lock();
    if (state_ == State::kStreaming && connection) connection->channel_->abort();
  }

  void answer(Response response) {
    const auto connection = connection_.lock();
    if (state_ != State::kWaiting || !connection) return;
    Head head(response.status);
    head.add("Date", date_now()).add(response.headers).add(cors_headers_);
    const bool has_body = !status_forbids_body(response.status);
    if (has_body) {
      if (!response.content_type.empty()) head.add("Content-Type", response.content_type);
      head.add("Content-Length", std::to_string(response.body.size()));
    }
    if (!keep_alive_) head.add("Connection", "close");
    if (keep_alive_ && is_http_1_0_) head.add("Connection", "keep-alive");
    connection->channel_->write(head.text(), has_body && !is_head_ ? std::move(response.body) : std::string(), {});
    state_ = State::kDone;  // not if that has thrown: it is still to be answered
    connection->exchange_done(keep_alive_);
  }

  const std::weak_ptr<Connection> connection_;
  const bool is_head_;
  const bool is_http_1_0_;
  bool keep_alive_;
  const Headers cors_headers_;
  State state_ = State::kWaiting;
};

namespace {

void count_refusal(int status, Counts* counts) {
  if (status == 413) count(counts, Limit::kMessageBytes);
  if (status == 414 || status == 431) count(counts, Limit::kHeaderBytes);
  if (status == 503) count(counts, Limit::kMemory);
  if (status == 401) count(counts, Limit::kAuthorization);
  if (status == 408) count(counts, Limit::kHeaderTime);
}

ParserLimits limits_for(const Surroundings& around, const std::string& remote) {
  ParserLimits limits = around.parser_limits;
  limits.remote = remote;
  return limits;
}

}  // namespace

Connection::Connection(const Immutable<Surroundings>& around, Channel& channel, std::string remote)
    : around_(around),
      channel_(channel.shared_from_this()),
      remote_(std::move(remote)),
      parser_(limits_for(*around_, remote_)),
      deadline_(around_->io, [this] { channel_->contain([this] { out_of_time(); }); }) {}

void Connection::start(const Immutable<Surroundings>& around, Channel& channel, std::string remote) {
  const std::shared_ptr<Connection> connection(new Connection(around, channel, std::move(remote)));
  channel.start(connection);
  connection->watch_client();
}

void Connection::channel_received(std::string_view bytes) {
  if (!busy_ && backlog_.empty()) return process(bytes);
  backlog_.append(bytes);
  if (backlog_.size() > kBacklogBytes) channel_->hold_input();
}

// Reads requests until one is not answered at once, none is complete, or the slice is over; the rest is kept for later.
void Connection::process(std::string_view bytes) {
  processing_ = true;
  InputSlice slice;
  const auto takes_more = [this] { return !busy_ && channel_->is_open() && !channel_->congested(); };
  while (takes_more() && !slice.is_over()) {
    bytes.remove_prefix(parser_.feed(bytes));
    if (parser_.refusal()) {
      refuse(*parser_.refusal());
    } else if (parser_.complete()) {
      if (!begin(parser_.take(), bytes)) return;
      slice.count_message();
    } else {
      if (parser_.take_continue()) channel_->write({"HTTP/1.1 100 Continue\r\n\r\n"});
      break;
    }
  }
  processing_ = false;
  backlog_.assign(bytes);
  if (takes_more() && !backlog_.empty()) {
    channel_->hold_input();  // what comes next, be it the end, is behind what waits
    process_later();
  } else if (backlog_.size() <= kBacklogBytes) {
    channel_->resume_input();  // also while one is answered: its client may leave
  }
  watch_client();
}

bool Connection::begin(Request request, std::string_view rest) {
  phase_ = Phase::kAnswer;
  request.remote = remote_;
  const auto objection = around_->origin_policy.objection(request);
  const bool is_handshake = !objection && is_websocket_path(request) && websocket::wants_websocket(request);
  if (is_handshake && upgrade(request, rest)) return false;

  busy_ = true;
  const auto exchange = std::make_shared<OwnExchange>(*this, request);
  exchange_ = exchange;
  if (objection) {
    exchange->respond(answer_to(request, {403, std::string(*objection)}));
  } else if (is_handshake) {
    exchange->respond(websocket::handshake(request));
  } else if (const auto preflight = around_->origin_policy.preflight(request)) {
    exchange->respond(*preflight);
  } else {
    try {
      around_->handler(request, *exchange);
    } catch (...) {
      exchange->fail();  // of this request; the connection may serve the next one
      pass_on(around_->io, std::current_exception());
    }
  }
  return true;
}

bool Connection::is_websocket_path(const Request& request) const {
  return around_->accept_websocket && (around_->websocket_path.empty() || around_->websocket_path == request.path);
}

bool Connection::upgrade(const Request& request, std::string_view rest) {
  const auto response = websocket::handshake(request);
  if (response.status != 101) return false;
  channel_->write({Head(101).add(response.headers).text()});
  deadline_.clear();
  channel_->resume_input();  // it may have been held because of what came behind the handshake
  websocket::Connection::start(
      around_->io, *channel_,
      {.transport = TransportKind::kWebSocket, .address = remote_, .credential = std::string(request.bearer_token())},
      around_->websocket_limits, around_->limits, rest, around_->accept_websocket);
  return true;
}

void Connection::exchange_done(bool keep_alive) {
  busy_ = false;
  exchange_.reset();
  if (has_fault("a request over HTTP is answered twice")) channel_->write({"HTTP/1.1 204 No Content\r\n\r\n"});
  if (!keep_alive) return channel_->close();
  if (processing_) return;  // process() is on the stack, and goes on with the backlog itself
  if (backlog_.empty() || has_fault("what came while a request was answered is forgotten")) return watch_client();
  process_later();  // the next request's handler must not run inside the code that answered this one
}

void Connection::process_later() {
  asio::post(around_->io, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self) self->channel_->contain([&] { self->process(std::exchange(self->backlog_, {})); });
  });
}

Response Connection::answer_to(const Request& request, const Refusal& refusal) const {
  auto shaped = around_->refused ? around_->refused(request, refusal) : std::nullopt;
  Response response = shaped ? *std::move(shaped) : plain_response(refusal.status, refusal.explanation);
  if (refusal.status == 503) response.headers.add("Retry-After", "1");
  if (refusal.status == 401) response.headers.add("WWW-Authenticate", "Bearer");
  return response;
}

void Connection::refuse(const Refusal& refusal) {
  count_refusal(refusal.status, around_->limits.counts);
  const Request& request = parser_.so_far();
  Response response = answer_to(request, refusal);
  response.headers.add("Date", date_now());
  for (const auto& [name, value] : around_->origin_policy.cors_headers(request)) response.headers.add(name, value);
  if (!refusal.is_guess || !around_->refuse_guess) return refuse(response);
  busy_ = true;
  around_->refuse_guess(remote_, [weak = weak_from_this(), response] {
    const auto self = weak.lock();
    if (!self) return;
    self->busy_ = false;
    self->channel_->contain([&] { self->refuse(response); });
  });
}

void Connection::refuse(const Response& response) {
  std::string text = last_response(response);
  if (parser_.so_far().method == "HEAD") text.resize(text.size() - response.body.size());
  channel_->write({text});
  channel_->close();
}

void Connection::channel_ended() {
  if (const auto exchange = exchange_.lock()) exchange->client_is_gone();
  channel_->close();
}

void Connection::channel_ready() {
  if (const auto exchange = exchange_.lock()) exchange->channel_is_ready();
  if (!busy_ && !backlog_.empty()) process(std::exchange(backlog_, {}));  // it had stopped, as too many answers waited
}

void Connection::channel_closed() {
  deadline_.clear();
  if (const auto exchange = exchange_.lock()) exchange->client_is_gone();
}

// Moves the deadline to what the client has to do next. A phase's time runs from its beginning, however many bytes
// trickle in meanwhile.
void Connection::watch_client() {
  const auto& timeouts = around_->timeouts;
  auto phase = Phase::kBetween;
  auto time = timeouts.keep_alive;
  if (busy_ || !backlog_.empty()) {  // what waits behind unread answers is no idleness
    phase = Phase::kAnswer;
  } else if (parser_.started()) {
    phase = parser_.in_body() ? Phase::kBody : Phase::kHeader;
    time = parser_.in_body() ? timeouts.body : timeouts.header;
  }
  const auto before = std::exchange(phase_, phase);
  if (!channel_->is_open() || phase == Phase::kAnswer) return deadline_.clear();
  if (has_fault("a connection on which nothing is asked any more is kept for ever")) return deadline_.clear();
  if (phase == Phase::kBetween || phase != before) deadline_.set_after(time);
}

void Connection::out_of_time() {
  if (phase_ == Phase::kBetween) return channel_->close();
  refuse({408, phase_ == Phase::kBody ? "the body takes too long" : "the header fields take too long"});
}

}  // namespace rkllm_mcp::http
