// A model while one turn uses it: its runs, and what the host knows of its KV cache. Older runtimes have no limit for
// one run; here they get it, by an abort. Event loop only.
#pragma once

#include "chat/turn/cache_record.hpp"
#include "chat/turn/model_lender.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

class LeasedModel {
 public:
  // `record` is that of this load of the model, and outlives the lease.
  LeasedModel(std::unique_ptr<ModelLease> lease, CacheRecord& record);

  const ModelFacts& facts() const { return lease_->model().facts(); }
  const ModelLease& lease() const { return *lease_; }
  std::size_t reusable_bytes(std::string_view prompt) const { return record_.reusable_bytes(prompt); }

  // Switches the runtime's own template off if that has to be done (again). `done` gets an empty text or a complaint.
  void clear_template(std::function<void(std::string complaint)> done);
  // Loads the KV cache of `text` from a file, so that the next run begins with it. If that fails, the run is cold.
  void load_cache(const std::string& path, std::string text, std::function<void(bool loaded)> done);
  // One run. `on_token` gets at most `options.max_new_tokens` tokens. What the runtime tells of the work of other runs
  // is not in the report.
  void run(const std::string& prompt, const RunOptions& options, std::function<void(std::string_view)> on_token,
           std::function<void(const RunReport&)> done);
  // See CacheRecord.
  bool may_hold_conversation() const { return record_.may_hold_conversation(lease_->model().foreign_changes()); }
  void has_only_counted() { record_.has_only_counted(); }
  void abort() { lease_->model().abort(); }
  void hold() { lease_->model().hold(); }
  void go_on() { lease_->model().go_on(); }

 private:
  const std::unique_ptr<ModelLease> lease_;
  CacheRecord& record_;
};

}  // namespace rkllm_mcp::chat
