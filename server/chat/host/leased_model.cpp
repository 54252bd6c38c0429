#include "chat/host/leased_model.hpp"

#include <memory>
#include <utility>

namespace rkllm_mcp::chat {

LeasedModel::LeasedModel(std::unique_ptr<ModelLease> lease, CacheRecord& record)
    : lease_(std::move(lease)), record_(record) {}

void LeasedModel::clear_template(std::function<void(std::string complaint)> done) {
  const std::uint64_t changes = lease_->model().foreign_changes();
  lease_->model().clear_template([this, changes, done = std::move(done)](const std::string& complaint) {
    if (complaint.empty()) record_.template_cleared(changes);
    done(complaint);
  });
}

void LeasedModel::load_cache(const std::string& path, std::string text, std::function<void(bool loaded)> done) {
  lease_->model().load_cache(path, [this, text = std::move(text), done = std::move(done)](bool loaded) {
    if (loaded) record_.cache_loaded(text);
    done(loaded);
  });
}

void LeasedModel::run(const std::string& prompt, const RunOptions& options,
                      std::function<void(std::string_view)> on_token, std::function<void(const RunReport&)> done) {
  if (!facts().has_run_options) {  // this runtime knows no limit of one run: it is aborted
    on_token = [this, most = options.max_new_tokens, count = std::int64_t{0},
                on_token = std::move(on_token)](std::string_view text) mutable {
      if (count >= most) return;  // it came before the abort took effect
      if (++count == most) abort();
      on_token(text);
    };
  }
  record_.run_begins(lease_->model().foreign_changes());
  lease_->model().run(prompt, options, std::move(on_token),
                      [this, prompt, done = std::move(done)](const RunReport& told) {
                        RunReport report = told;
                        if (!record_.has_true_figures()) {
                          report.prefill_tokens.reset();
                          report.prefill_ms.reset();
                          report.generate_ms.reset();
                        }
                        record_.run_ended(report.end, prompt);
                        done(report);
                      });
}

}  // namespace rkllm_mcp::chat
