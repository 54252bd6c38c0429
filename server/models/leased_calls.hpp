// Calls that are made in a lease of a handle, with their outcomes on the event loop. No callback comes from inside the
// function that began the call, nor after this object's end.
//
// Event loop only.
#pragma once

#include "backend.hpp"
#include "lifetime.hpp"
#include "models/model_slot.hpp"
#include "stream/stream_reader.hpp"
#include "stream/token_stream.hpp"

#include <asio/io_context.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace rkllm_mcp {

inline constexpr std::string_view kRunMethod = "rkllm_run";

// Hands on the tokens of a run one by one, and then its outcome.
class RunReader final : public StreamReader {
 public:
  using TokenFunction = std::function<void(std::string_view text)>;
  using DoneFunction = std::function<void(CallOutcome outcome, std::uint64_t tokens)>;

  RunReader(TokenFunction on_token, DoneFunction done);

  void hold() { is_held_ = true; }
  void go_on() { is_held_ = false; }
  void look();  // hands on what has come meanwhile; to be called after go_on(), in a pass of the loop of its own
  // Calls nobody any more.
  void drop();

 protected:
  void drain() override;
  void fail(const std::exception_ptr& fault) override;

 private:
  void end(CallOutcome outcome);

  struct Listener {
    TokenFunction on_token;
    DoneFunction done;
  };
  std::shared_ptr<Listener> listener_;  // a callback may drop it while it is being executed
  bool is_held_ = false;
};

class LeasedCalls {
 public:
  LeasedCalls(asio::io_context& loop, const ModelRuntime& runtime, const TokenStream::Options& options,
              Backend::CallId lease);
  LeasedCalls(const LeasedCalls&) = delete;
  LeasedCalls& operator=(const LeasedCalls&) = delete;
  ~LeasedCalls();

  const Method* method(std::string_view name) const { return runtime_.method(name); }

  // One call that does not stream.
  using OutcomeFunction = std::function<void(const CallOutcome& outcome)>;
  void call(std::string_view name, Json params, OutcomeFunction done);
  // rkllm_run. One at a time.
  void run(Json params, RunReader::TokenFunction on_token, RunReader::DoneFunction done);
  void abort();  // the run
  void hold();
  void go_on();

 private:
  asio::io_context& loop_;
  const ModelRuntime runtime_;
  const TokenStream::Options options_;
  const Backend::CallId lease_;
  const Lifetime alive_;
  std::shared_ptr<RunReader> reader_;
  Backend::CallId run_ = 0;
};

}  // namespace rkllm_mcp
