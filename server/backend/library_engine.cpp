#include "backend/library_engine.hpp"

#include "backend/run_sink.hpp"
#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

CallOutcome call_library(const LoadedLibrary& library, const FilePolicy& files, const CallRequest& request,
                         HandleRecord* handle, ResultSink* sink) {
  CallOutcome outcome;
  try {
    // What no one needed while the call waited is read now.
    const Json whole = has_unread(request.params) ? read_whole(request.params) : Json();
    CallContext context{whole.is_null() ? request.params : whole, handle, sink, request.encoding, {}, library.file().version, &files};
    outcome.result = library.binding().call(*request.method, context);
  } catch (...) {
    outcome.error = std::current_exception();
  }
  return outcome;
}

class LibraryModel final : public Model {
 public:
  LibraryModel(const LoadedLibrary& library, const FilePolicy& files, const std::string& id)
      : library_(library), files_(files), abort_(find_method(library.abi().methods, [](const Method& each) { return each.aborts; })) {
    record_.id = id;
  }

  void begin_run(std::shared_ptr<CallObserver> observer) override {
    const auto batch_size = static_cast<std::size_t>(std::max<std::int64_t>(1, record_.session_value("n_batch").value_or(1)));
    run_ = std::make_shared<RunSink>(std::move(observer), batch_size, [this] { abort(); });
  }

  CallOutcome call(const CallRequest& request) override {
    if (!request.method->streams) return call_library(library_, files_, request, &record_, nullptr);
    CallOutcome outcome = call_library(library_, files_, request, &record_, run_.get());
    run_->complete(outcome);
    for (const auto& [name, learnt] : run_->learnt()) record_.session[name] = learnt;
    if (run_->gave_up()) abandoned_.push_back(run_);
    return outcome;
  }

  CallOutcome call_beside(const CallRequest& request) override {
    return call_library(library_, files_, request, &record_, nullptr);
  }

  void stop_run() override { run_->stop(); }

  bool loaded() const override { return record_.native != nullptr; }
  Values values() const override { return record_.session; }

 private:
  // If it fails, the run goes on to its end; its observer stops listening all the same.
  void abort() {
    if (abort_ != nullptr) call_library(library_, files_, {abort_, Json::object()}, &record_, nullptr);
  }

  const LoadedLibrary& library_;
  const FilePolicy& files_;
  const Method* const abort_;  // null if this API set has none
  HandleRecord record_;
  // Of the latest run: the thread that made its last callback may still be on its way out of it.
  std::shared_ptr<RunSink> run_;
  // Of runs that the library never ended properly: it might still call them.
  std::vector<std::shared_ptr<RunSink>> abandoned_;
};

}  // namespace

std::unique_ptr<Model> LibraryEngine::new_model(const std::string& id, LostFunction) {
  return std::make_unique<LibraryModel>(library_, files_, id);
}

CallOutcome LibraryEngine::call(const CallRequest& request) {
  return call_library(library_, files_, request, nullptr, nullptr);
}

}  // namespace rkllm_mcp
