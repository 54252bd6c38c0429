#include "library/library_engine.hpp"

#include "backend/kept_caches.hpp"
#include "backend/logged_errors.hpp"
#include "jsonrpc/unread.hpp"
#include "library/run_sink.hpp"

#include <rkllm_mcp/errors.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

CallOutcome call_library(const LoadedLibrary& library, const FileRules& files, const CallRequest& request,
                         HandleRecord* handle, ResultSink* sink) {
  CallOutcome outcome;
  const NotedFiles noted(files);
  try {
    // Unread parts (jsonrpc/unread.hpp) are parsed only now: while the call waited they were text.
    const Json whole = has_unread(request.params) ? read_whole(request.params) : Json();
    const Json& params = whole.is_null() ? request.params : whole;
    const KeptCaches caches(noted, files, params);
    CallContext context{params, handle, sink, request.encoding, {}, library.file().version, &caches};
    outcome.result = library.binding().call(*request.method, context);
    const bool speaks_of_a_model = request.method->streams || request.method->handle == HandleRole::kCreates;
    if (speaks_of_a_model && library.file().simulated) outcome.result["simulated"] = true;
    caches.check(std::string(request.method->name));
  } catch (const CallFailed& failure) {
    const auto explained = noted.explained(failure);
    outcome.error = explained ? std::make_exception_ptr(*explained) : std::current_exception();
  } catch (...) {
    outcome.error = std::current_exception();
  }
  return outcome;
}

constexpr std::string_view kTellsCacheSize = "rkllm_get_kv_cache_size";

class LibraryModel final : public Model {
 public:
  LibraryModel(const LoadedLibrary& library, const FileRules& files, const std::string& id, StandardErrorTap* printed,
               std::mutex& loading)
      : library_(library),
        files_(files),
        printed_(printed),
        loading_(loading),
        abort_(find_method(library.abi().methods, [](const Method& each) { return each.aborts; })),
        cache_size_(find_method(library.abi().methods, kTellsCacheSize)) {
    record_.id = id;
  }

  void begin_run(CallObserver& observer) override {
    if (run_ && run_->gave_up()) abandoned_.push_back(std::move(run_));
    const auto batch_size = static_cast<std::size_t>(std::max<std::int64_t>(1, record_.value("n_batch").value_or(1)));
    run_ = std::make_unique<RunSink>(observer, batch_size, [this] { abort(); });
  }

  CallOutcome call(const CallRequest& request) override {
    const bool creates = request.method->handle == HandleRole::kCreates;
    if (!creates && !loaded()) return without_model(record_.id);
    std::unique_lock<std::mutex> alone;
    if (creates) alone = std::unique_lock(loading_);
    const std::uint64_t lines = printed_ == nullptr ? 0 : printed_->line_count();
    const bool is_run = request.method->streams;
    CallOutcome outcome = call_library(library_, files_, request, &record_, is_run ? run_.get() : nullptr);
    if (is_run) end_run(request, outcome);
    if (printed_ != nullptr) add_logged_errors(printed_->errors_since(lines), outcome);
    return outcome;
  }

  CallOutcome call_beside(const CallRequest& request) override {
    if (!loaded()) return without_model(record_.id);
    return call_library(library_, files_, request, &record_, nullptr);
  }

  void stop_run() override { run_->stop(); }

  bool loaded() const override { return record_.native != nullptr; }
  Values values() const override { return record_.values; }

 private:
  void end_run(const CallRequest& request, CallOutcome& outcome) {
    const RunFacts run = run_->complete(outcome);
    for (const auto& [name, size] : run.sizes) record_.values[name] = size;
    if (run.has_failed) {
      say_failed_state(request.method->name, outcome);
    } else if (!outcome.error && run.was_empty) {
      outcome.error = std::make_exception_ptr(CallFailed(
          request.method->name, 0,
          std::string(request.method->name) +
              " returned 0, but the run gave nothing: the runtime took the input for none at all, or lacks the mode"));
    }
    if (outcome.error) say_if_cache_was_emptied(run_->gave_up() || run.has_failed, outcome);
  }

  // A function that returns before its run has ended reports success whatever becomes of the run.
  static void say_failed_state(std::string_view function, CallOutcome& outcome) {
    const auto told = refusal_in(outcome);
    if (outcome.error && !told) return;  // the call has failed before its run could end
    const RpcError error = told.value_or(CallFailed(function, 0));
    const std::string message =
        std::string(error.what()) + (told ? ": " : ", but ") + "the run ended with " + outcome.state;
    Json data = error.data();
    data["state"] = outcome.state;
    outcome.error = std::make_exception_ptr(RpcError(error.code(), message, std::move(data)));
  }

  // A run that the library refuses, or that does not fit, has dropped the conversation so far.
  void say_if_cache_was_emptied(bool has_begun, CallOutcome& outcome) {
    if (cache_size_ == nullptr || record_.native == nullptr) return;
    const auto error = refusal_in(outcome);
    if (!error) return;
    const Json& status = error->data()["status"];
    const bool was_made = has_begun || (status.is_number() && status != 0);
    if (!was_made) return;
    const CallOutcome sizes = call_library(library_, files_, {cache_size_, Json::object()}, &record_, nullptr);
    if (sizes.error || !holds_nothing(sizes.result["cache_sizes"])) return;
    Json data = error->data();
    data["kv_cache_emptied"] = true;
    outcome.error = std::make_exception_ptr(
        RpcError(error->code(), std::string(error->what()) + "; the run has emptied the KV cache", std::move(data)));
  }

  // The error, if the library was called and has refused; nothing if there is none, or another one.
  static std::optional<RpcError> refusal_in(const CallOutcome& outcome) {
    try {
      if (outcome.error) std::rethrow_exception(outcome.error);
    } catch (const RpcError& error) {
      if (error.code() == ErrorCode::kCallFailed) return error;
    } catch (...) {
      // A bug: it is reported as one.
    }
    return std::nullopt;
  }

  static bool holds_nothing(const Json& sizes) {
    return std::all_of(sizes.begin(), sizes.end(), [](const Json& size) { return size == 0; });
  }

  // If it fails, the run goes on to its end; its observer stops listening all the same.
  void abort() {
    if (abort_ != nullptr) call_library(library_, files_, {abort_, Json::object()}, &record_, nullptr);
  }

  const LoadedLibrary& library_;
  const FileRules& files_;
  StandardErrorTap* const printed_;  // see LibraryEngine
  std::mutex& loading_;              // see LibraryEngine
  const Method* const abort_;        // null if this API set has none
  const Method* const cache_size_;   // null if this API set has none
  HandleRecord record_;
  // The latest run's sink: the thread that made its last callback may still be on its way out of it.
  std::unique_ptr<RunSink> run_;
  // Sinks of runs that the library never ended properly: it might still call them.
  std::vector<std::unique_ptr<RunSink>> abandoned_;
};

// Why this file cannot be loaded, as far as the disk tells; empty if nothing is wrong with it.
std::string what_is_wrong_with(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? "no such file" : std::generic_category().message(errno);
  }
  if (S_ISDIR(status.st_mode)) return "this is a directory";
  if (::access(path.c_str(), R_OK) != 0)
    return "not readable for the server (" + std::generic_category().message(errno) + ")";
  return S_ISREG(status.st_mode) && status.st_size == 0 ? "this file is empty" : "";
}

}  // namespace

std::unique_ptr<Model> LibraryEngine::new_model(const std::string& id, LostFunction) {
  return std::make_unique<LibraryModel>(library_, files_, id, printed_, loading_);
}

CallOutcome LibraryEngine::call(const CallRequest& request) {
  return call_library(library_, files_, request, nullptr, nullptr);
}

std::optional<RpcError> NotedFiles::explained(const CallFailed& failure) const {
  for (const std::string& path : read_) {
    const std::string fault = what_is_wrong_with(path);
    if (fault.empty()) continue;
    return RpcError(failure.code(), fault + ": " + shortened_path(path) + " (" + failure.what() + ")", failure.data());
  }
  return std::nullopt;
}

}  // namespace rkllm_mcp
