#include "models/leased_calls.hpp"

#include "backend/outcome_on_loop.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/post.hpp>

#include <limits>
#include <utility>

namespace rkllm_mcp {

RunReader::RunReader(TokenFunction on_token, DoneFunction done)
    : listener_(std::make_shared<Listener>(Listener{std::move(on_token), std::move(done)})) {}

void RunReader::look() {
  contain([this] { drain(); });
}

void RunReader::drop() {
  listener_.reset();
  stream()->stop();
}

void RunReader::drain() {
  while (listener_ && !is_held_) {
    const auto chunk = stream()->take(ChunkOf::kOneToken, std::numeric_limits<std::size_t>::max());
    if (!chunk) break;
    const auto listener = listener_;
    listener->on_token(chunk->delta);
  }
  if (listener_ && !is_held_ && stream()->drained()) end(stream()->take_outcome());
}

void RunReader::fail(const std::exception_ptr& fault) {
  stream()->stop();
  if (listener_) end({.error = fault});
}

void RunReader::end(CallOutcome outcome) {
  const auto listener = std::exchange(listener_, nullptr);
  listener->done(std::move(outcome), stream()->tokens_so_far());
  finish();
}

LeasedCalls::LeasedCalls(asio::io_context& loop, const ModelRuntime& runtime, const TokenStream::Options& options,
                         Backend::CallId lease)
    : loop_(loop), runtime_(runtime), options_(options), lease_(lease) {}

LeasedCalls::~LeasedCalls() {
  if (reader_) reader_->drop();
}

void LeasedCalls::call(std::string_view name, Json params, OutcomeFunction done) {
  const auto observer = std::make_shared<OutcomeOnLoop>(loop_, alive_.watch(), std::move(done));
  if (const Method* const known = method(name)) {
    CallRequest request{.method = known, .params = std::move(params), .observer = observer};
    runtime_.queue->start_leased(lease_, runtime_.watched(std::move(request)));
    return;
  }
  observer->on_done({.error = std::make_exception_ptr(RpcError(
                         ErrorCode::kUnsupported, std::string(name) + " does not exist in runtime " + runtime_.version,
                         Json{{"have", runtime_.version}}))});
}

void LeasedCalls::run(Json params, RunReader::TokenFunction on_token, RunReader::DoneFunction done) {
  reader_ = StreamReader::make<RunReader>(loop_, options_, std::move(on_token), std::move(done));
  CallRequest request{.method = method(kRunMethod), .params = std::move(params), .observer = reader_->stream()};
  run_ = runtime_.queue->start_leased(lease_, runtime_.watched(std::move(request)));
}

void LeasedCalls::abort() {
  if (run_ != 0) runtime_.queue->cancel(run_);
  go_on();
}

void LeasedCalls::hold() {
  if (reader_) reader_->hold();
}

void LeasedCalls::go_on() {
  if (!reader_) return;
  reader_->go_on();
  asio::post(loop_, [weak = std::weak_ptr(reader_)] {
    if (const auto reader = weak.lock()) reader->look();
  });
}

}  // namespace rkllm_mcp
