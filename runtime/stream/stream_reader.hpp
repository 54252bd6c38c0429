// The event loop's end of a stream: woken when a run has produced something, empties the buffer its own way: push
// (to a connection as it comes), poll (when asked), collect (for one answer at the end), or another. Whatever the way,
// every token is told once, in order, and then one end: tests/runtime/stream/stream_reader_contract.hpp.
//
// Threads: the event loop only. The stream may wake a reader from any thread; the wake-up is posted.
#pragma once

#include "run_loop.hpp"
#include "stream/token_stream.hpp"

#include <asio/io_context.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <utility>

namespace rkllm_mcp {

class StreamReader : public std::enable_shared_from_this<StreamReader> {
 public:
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;
  virtual ~StreamReader() = default;

  // The end that the run writes to. Outlives the reader if it must.
  const std::shared_ptr<TokenStream>& stream() const { return stream_; }

  // Makes a reader of kind R with its stream.
  template <class R, class... Args>
  static std::shared_ptr<R> make(asio::io_context& loop, const TokenStream::Options& options, Args&&... args) {
    auto reader = std::make_shared<R>(std::forward<Args>(args)...);
    std::weak_ptr<StreamReader> weak = reader;
    reader->stream_ = std::make_shared<TokenStream>(options, [&loop, weak] {
      post_patiently(loop, [weak] {
        const auto woken = weak.lock();
        if (!woken) return;
        woken->stream_->rearm();
        try {
          woken->drain();
        } catch (...) {
          woken->fail(std::current_exception());
          throw;
        }
      });
    });
    return reader;
  }

  // The client has gone: from now on the stream is emptied without it, so that its run can end. For readers that wait
  // for the client.
  virtual void client_gone() {}

  // `finished` is called once, on the loop, when the reader has told all.
  void on_finished(std::function<void()> finished) { finished_ = std::move(finished); }

 protected:
  StreamReader() = default;
  // Takes all that there is. Called after each wake-up. A token that comes while this runs causes one more wake-up,
  // although this call may take the token, and even the end of the stream: so a call may find nothing.
  virtual void drain() = 0;
  // drain() has thrown: the client is told, and the run is stopped.
  virtual void fail(const std::exception_ptr& fault) = 0;
  // Runs something that the loop calls beside a wake-up: what it throws ends this stream, as what drain() throws does.
  template <class Action>
  void contain(Action action) {
    or_else(std::move(action), [this] { fail(std::current_exception()); });
  }
  // To be called by the reader when it has told all: calls the function of on_finished(), once.
  void finish() {
    if (const auto finished = std::exchange(finished_, {})) finished();
  }

 private:
  std::shared_ptr<TokenStream> stream_;
  std::function<void()> finished_;
};

}  // namespace rkllm_mcp
