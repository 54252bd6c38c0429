#include "backend/handle_table.hpp"

#include "jsonrpc/envelope.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string_view>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kLongestId = 64;  // of the handles that there are; megabytes are not searched

RpcError none_may_be_left_out(const std::vector<std::string>& loaded_by_name) {
  return {ErrorCode::kUnknownHandle,
          loaded_by_name.empty()
              ? "no handle exists; call rkllm_init first"
              : "rkllm_init has made no handle that may be left out; name one of those of models that were loaded by "
                "their names: " +
                    named_in_message(loaded_by_name),
          Json{{"handles", loaded_by_name}}};
}

}  // namespace

std::shared_ptr<ModelHandle> HandleTable::make(Mutex& mutex_of_backend) {
  if (by_id_.size() >= most_) {
    count(counts_, Limit::kHandles);
    throw RpcError(ErrorCode::kQueueFull, "as many models are loaded as limits.max_handles allows; destroy one first",
                   Json{{"queued", by_id_.size()}, {"limit", most_}});
  }
  const bool is_new = given_back_.empty();
  auto handle = std::make_shared<ModelHandle>(mutex_of_backend, is_new ? next_number_ : *given_back_.begin());
  // Now that there was memory for the handle, its number is taken.
  if (is_new) {
    ++next_number_;
  } else {
    given_back_.erase(given_back_.begin());
  }
  return handle;
}

void HandleTable::add(ModelHandle& handle) { by_id_.emplace(handle.id, handle.shared_from_this()); }

void HandleTable::remove(const ModelHandle& handle) {
  const auto found = by_id_.find(handle.id);
  if (found != by_id_.end() && found->second.get() == &handle) by_id_.erase(found);
}

void HandleTable::give_back(const ModelHandle& handle) { given_back_.insert(handle.number); }

ModelHandle* HandleTable::find(const std::string& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second.get();
}

ModelHandle& HandleTable::meant_by(const Method& method, const Json& params) const {
  const std::string path = "params." + std::string(method.handle_param);
  const auto named = params.find(std::string(method.handle_param));
  if (named == params.end() || named->is_null()) return the_only_one(path);
  if (!named->is_string()) throw InvalidParams(path, "expected string, such as \"llm-1\"");
  const auto& id = named->get_ref<const std::string&>();
  if (id.size() > kLongestId) throw unknown_handle(id, live_ids());
  if (id.find('\0') != std::string::npos) throw InvalidParams(path, "must not contain U+0000");
  ModelHandle* const found = find(id);
  if (found == nullptr || found->closing) throw unknown_handle(id, live_ids());
  return *found;
}

ModelHandle& HandleTable::the_only_one(const std::string& path) const {
  std::vector<ModelHandle*> unnamed;  // those that rkllm_init has made, or is making
  std::vector<std::string> live;      // of these
  for (const auto& [id, handle] : by_id_) {
    if (!handle->name.empty() || handle->closing) continue;
    unnamed.push_back(handle.get());
    if (handle->live) live.push_back(id);
  }
  if (live.size() == 1) return *find(live.front());
  // A call that is sent right behind rkllm_init waits for the handle.
  if (live.empty() && unnamed.size() == 1) return *unnamed.front();
  if (unnamed.empty()) throw none_may_be_left_out(live_ids());
  const std::string these = live.empty() ? "several are being made" : "these do: " + named_in_message(live);
  throw RpcError(ErrorCode::kInvalidParams, path + ": required while more than one handle exists; " + these,
                 Json{{"path", path}, {"handles", live}});
}

std::vector<std::string> HandleTable::live_ids() const {
  std::vector<std::string> ids;
  for (const auto& [id, handle] : by_id_) {
    if (handle->live && !handle->closing) ids.push_back(id);
  }
  return ids;
}

}  // namespace rkllm_mcp
