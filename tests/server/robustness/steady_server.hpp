// A server that has to be, after whatever was done to it, what it was before: it answers on every transport, its memory
// is given back, and no descriptor, thread or process is left behind.
#pragma once

#include "support/holdings.hpp"
#include "support/live_server.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace rkllm_mcp::test {

class SteadyServer {
 public:
  // With a model loaded, "llm-1". A UDP client that is silent for a second is forgotten, unless the options say longer.
  explicit SteadyServer(LiveServer::Options options = LiveServer::with_stdio());

  LiveServer& live() { return live_; }
  // Loads another model, for good; gives its handle.
  std::string load(const std::string& model);
  // How often that prompt has been run.
  std::size_t runs_of(std::string_view prompt) const;
  // Waits until all clients have gone. Gives what is held then, whether it is right or not.
  Holdings await_quiet();
  Holdings settled();
  // Plays the scenario once, so that what is made once and kept is there, and then `times` times more. Fails the test
  // unless the server then is what it was after the first time.
  //
  // Under sanitizers memory is not compared: theirs is kept back when it is freed.
  void endures(int times, const std::function<void()>& scenario);

 private:
  bool await(const std::function<bool()>& state);
  void check_answers();

  const bool with_stdio_;
  LiveServer live_;
  Holdings idle_;
  int streams_ = 0;
};

}  // namespace rkllm_mcp::test
