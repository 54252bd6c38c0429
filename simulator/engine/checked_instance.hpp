// A handle: an instance of a model, and the rules about who may use it when.
//
// The vendor's library has no locks: one thing at a time on a handle is its users' duty. The simulator checks it. While
// a run goes on or waits in the queue, only the thread of that run (inside its callbacks) may call anything but
// run_async(), abort() and is_running(); anyone else breaks the contract. A run counts as over when its last callback
// begins, so whoever was told by that callback may go on at once; the call then waits for the callback to return.
#pragma once

#include "engine/abort_signal.hpp"
#include "engine/async_queue.hpp"
#include "engine/instance.hpp"
#include "engine/run_request.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>

namespace rkllm_mcp::sim {

// Every int is what the C function of that name returns. Threads: as this file's first comment says.
class CheckedInstance {
 public:
  // rkllm_init; throws std::runtime_error where that returns -1.
  CheckedInstance(Options options, std::unique_ptr<Client> client);
  // rkllm_destroy.
  ~CheckedInstance();
  CheckedInstance(const CheckedInstance&) = delete;
  CheckedInstance& operator=(const CheckedInstance&) = delete;

  std::size_t n_batch() const noexcept { return instance_.caches.size(); }
  std::size_t context() const noexcept { return instance_.context; }
  const MediaTexts& image_texts() const noexcept { return instance_.options.image_texts; }
  std::size_t embedding_size() const noexcept { return static_cast<std::size_t>(instance_.model.embedding_size); }

  int run(const RunRequest& request);
  int run_async(RunRequest request);
  int abort();             // any thread
  int is_running() const;  // any thread

  int clear_kv_cache(bool keep_system_prompt);
  // Takes positions out of every sequence; `starts` and `ends` have n_batch() entries.
  int clear_kv_range(std::span<const int> starts, std::span<const int> ends);
  int kv_cache_sizes(std::span<int> sizes);

  int load_lora(const std::string& name, const std::string& path);
  int load_prompt_cache(const std::string& path);
  int release_prompt_cache();
  int set_chat_template(std::string system, std::string prefix, std::string postfix);
  int set_function_tools(std::string system, std::string_view tools, std::string tag);
  // `complete`: every pointer is there.
  int set_cross_attention(bool complete, int num_tokens);

 private:
  // A child of fork() has none of the threads that the vendor's library computes with.
  void refuse_forked_child() const;
  // Waits for the callback of a run that is over; breaks the contract if another thread's run is not.
  std::unique_lock<std::recursive_mutex> enter(std::string_view function);
  void accept();
  int execute(const RunRequest& request);

  Instance instance_;
  AbortSignal signal_;
  std::recursive_mutex use_;        // held during a run, and while anything of instance_ is used; recursive since
                                    // callbacks may call back
  std::atomic<int> unfinished_{0};  // runs accepted whose last callback has not begun
  std::atomic<int> running_{0};     // runs accepted that have not returned
  std::atomic<int> ran_in_{0};      // the process that has run something; 0: none yet
  std::atomic<std::thread::id> runner_{};  // whose callbacks may use the handle
  std::unique_ptr<AsyncQueue> queue_;      // if is_async was set; last, so that its thread ends first
};

}  // namespace rkllm_mcp::sim
