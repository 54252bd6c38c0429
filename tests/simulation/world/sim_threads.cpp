#include "sim_threads.hpp"

#include "world.hpp"

#include "thread.hpp"

#include <cxxabi.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define RKLLM_MCP_ASAN_THREADS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RKLLM_MCP_ASAN_THREADS
#endif
#endif

#ifdef RKLLM_MCP_ASAN_THREADS
#include <sanitizer/common_interface_defs.h>
#endif

namespace rkllm_mcp::simulation {
namespace {

constexpr std::size_t kStackBytes = std::size_t{512} << 10U;  // of which the system gives what is used
constexpr std::size_t kLoopStackBytes = std::size_t{8} << 20U;
constexpr std::uint32_t kSeldom = 8;

// Stacks are used again: a schedule has a dozen of them.
auto& spare_stacks() {
  static std::vector<SimThreads::Stack> stacks;
  return stacks;
}
auto& spare_loop_stacks() {
  static std::vector<SimThreads::Stack> stacks;
  return stacks;
}

}  // namespace

struct SimThreads::SimThread {
  // What the language keeps of exceptions for each thread: those that are being handled, and how many are under way.
  struct Exceptions {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };
  static Exceptions& current_exceptions() { return *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals()); }

  std::function<void()> work;
  std::shared_ptr<bool> has_ended;
  std::function<bool()> can_go_on;  // empty: yes
  bool is_over = false;
  Stack stack;
  ucontext_t context{};
  Exceptions exceptions;

#ifdef RKLLM_MCP_ASAN_THREADS
  void* fake_stack = nullptr;
  const void* bottom = nullptr;
  std::size_t bytes = 0;
#endif

  // From this one to the other.
  void switch_to(SimThread& other) {
    exceptions = std::exchange(current_exceptions(), other.exceptions);
#ifdef RKLLM_MCP_ASAN_THREADS
    __sanitizer_start_switch_fiber(is_over ? nullptr : &fake_stack, other.bottom, other.bytes);
#endif
    ::swapcontext(&context, &other.context);
    arrive(other);
  }
  void arrive([[maybe_unused]] SimThread& from) {
#ifdef RKLLM_MCP_ASAN_THREADS
    __sanitizer_finish_switch_fiber(fake_stack, &from.bottom, &from.bytes);
#endif
  }
};

SimThreads::SimThreads(Choices& choices)
    : choices_(choices), outside_(std::make_unique<SimThread>()), loop_(std::make_unique<SimThread>()) {
  current = this;
}

SimThreads::~SimThreads() {
  current = nullptr;
  // What is on their stacks stays where it is: nobody can say whether it may be destroyed. Where there is no memory for
  // that, the test ends. NOLINTNEXTLINE(bugprone-unhandled-exception-at-new)
  static auto* const left = new std::vector<std::unique_ptr<SimThread>>();
  for (auto& thread : threads_) left->push_back(std::move(thread));
}

void SimThreads::start(std::function<void()> work, std::shared_ptr<bool> has_ended) {
  auto thread = std::make_unique<SimThread>();
  thread->work = std::move(work);
  thread->has_ended = std::move(has_ended);
  prepare(*thread, spare_stacks(), kStackBytes);
  threads_.push_back(std::move(thread));
}

void SimThreads::prepare(SimThread& thread, std::vector<Stack>& spare, std::size_t bytes) {
  if (spare.empty()) spare.emplace_back(static_cast<char*>(std::malloc(bytes)));
  thread.stack = std::move(spare.back());
  spare.pop_back();
  ::getcontext(&thread.context);
  thread.context.uc_stack.ss_sp = thread.stack.get();
  thread.context.uc_stack.ss_size = bytes;
  ::makecontext(&thread.context, run, 0);
#ifdef RKLLM_MCP_ASAN_THREADS
  thread.bottom = thread.stack.get();
  thread.bytes = bytes;
#endif
}

void SimThreads::run_loop(std::function<void()> work) {
  loop_->work = std::move(work);
  loop_->has_ended = std::make_shared<bool>(false);
  prepare(*loop_, spare_loop_stacks(), kLoopStackBytes);
  outside_->switch_to(*loop_);
  if (!is_loop_stuck_) spare_loop_stacks().push_back(std::move(loop_->stack));
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void SimThreads::run() {
  SimThread& self = current->running_ == nullptr ? *current->loop_ : *current->running_;
  self.arrive(current->running_ == nullptr ? *current->outside_ : *current->loop_);
  try {
    self.work();
    self.work = nullptr;
  } catch (...) {
    current->failure_ = std::current_exception();
  }
  *self.has_ended = true;
  self.is_over = true;
  current->go_back();
}

void SimThreads::go_on(SimThread& thread) {
  running_ = &thread;
  loop_->switch_to(thread);
  running_ = nullptr;
  if (!thread.is_over) return;
  spare_stacks().push_back(std::move(thread.stack));
  std::erase_if(threads_, [&thread](const auto& each) { return each.get() == &thread; });
}

void SimThreads::go_back() { running_ == nullptr ? loop_->switch_to(*outside_) : running_->switch_to(*loop_); }

void SimThreads::wait(std::function<bool()> is_so) {
  if (running_ != nullptr) {
    running_->can_go_on = std::move(is_so);
    return go_back();
  }
  while (!is_so()) {
    if (let_one_go_on()) continue;
    const Violation stuck{"the event loop waits for a thread that waits itself"};
    if (!loop_->stack) throw Violation(stuck);
    failure_ = std::make_exception_ptr(stuck);
    is_loop_stuck_ = true;
    go_back();
  }
}

bool SimThreads::let_one_go_on() {
  for (const auto& thread : threads_) {
    if (thread->can_go_on && !thread->can_go_on()) continue;
    go_on(*thread);
    return true;
  }
  return false;
}

void SimThreads::perhaps_give_way() {
  if (threads_.empty() || !choices_.happens(kSeldom)) return;
  if (running_ == nullptr) {
    let_one_go_on();
  } else {
    wait([] { return true; });
  }
}

bool SimThreads::any_can_go_on() const {
  return std::any_of(threads_.begin(), threads_.end(),
                     [](const auto& thread) { return !thread->can_go_on || thread->can_go_on(); });
}

void SimThreads::step() {
  std::vector<SimThread*> all;
  for (const auto& thread : threads_) all.push_back(thread.get());
  for (SimThread* const thread : all) {
    // One may have let others go on meanwhile, to their ends.
    const bool is_there =
        std::any_of(threads_.begin(), threads_.end(), [thread](const auto& each) { return each.get() == thread; });
    if (!is_there || (thread->can_go_on && !thread->can_go_on()) || choices_.happens(3)) continue;
    go_on(*thread);
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace rkllm_mcp::simulation

namespace rkllm_mcp {

using simulation::SimThreads;

void Mutex::lock() {
  SimThreads::current->perhaps_give_way();
  if (is_locked_) SimThreads::current->wait([this] { return !is_locked_; });
  is_locked_ = true;
}

void ConditionVariable::wait_once(std::unique_lock<Mutex>& lock, Clock::time_point deadline) {
  bool is_told = false;
  waiting_.push_back(&is_told);
  lock.unlock();
  SimThreads::current->wait([&is_told, deadline] { return is_told || Clock::now() >= deadline; });
  std::erase(waiting_, &is_told);
  lock.lock();
}

void ConditionVariable::notify_one() {
  if (waiting_.empty()) return;
  *waiting_.front() = true;
  waiting_.erase(waiting_.begin());
}

void ConditionVariable::notify_all() {
  while (!waiting_.empty()) notify_one();
}

Thread::Thread(std::function<void()> work) : has_ended_(std::make_shared<bool>(false)) {
  SimThreads::current->start(std::move(work), has_ended_);
}

void Thread::join() {
  SimThreads::current->wait([ended = has_ended_] { return *ended; });
  has_ended_ = nullptr;
}

int poll_descriptors(pollfd* descriptors, nfds_t count, int timeout_ms) {
  const auto deadline =
      timeout_ms < 0 ? Clock::time_point::max() : Clock::now() + std::chrono::milliseconds(timeout_ms);
  int found = 0;
  SimThreads::current->wait([&] {
    found = ::poll(descriptors, count, 0);
    return found != 0 || Clock::now() >= deadline;
  });
  return found;
}

}  // namespace rkllm_mcp
