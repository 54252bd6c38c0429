// The caches that runs save below runtime.cache_dir: how much they may take together, and whether a saved one is
// complete. The library does not check whether the disk has taken it, and reports success.
#pragma once

#include "backend.hpp"
#include "backend/file_rules.hpp"
#include "jsonrpc/envelope.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rkllm_mcp {

// Passes on to another policy, and remembers which files the library is to write. For one call, on its thread.
class KeptCaches final : public FilePolicy {
 public:
  // `params` of the call; the others outlive this.
  KeptCaches(const FilePolicy& policy, const FileRules& rules, const Json& params);

  std::string path_for(const std::string& given, FileUse use) const override;
  // After the call. Throws RpcError if a cache that was to be saved is not there as it should be; it is removed then.
  void check(const std::string& function) const;

 private:
  struct Cache {
    std::filesystem::path path;
    std::filesystem::file_time_type before;  // of the file that it replaces; the least time if there is none
  };

  const FilePolicy& policy_;
  const FileRules& rules_;
  const bool is_asked_for_;
  mutable std::vector<Cache> caches_;
};

// Whether a run went well, and only its cache was not saved: then the error is the one that check() throws.
inline bool is_only_not_saved(const CallOutcome& outcome) {
  if (!outcome.error) return false;
  const Json data = as_rpc_error(outcome.error).data();
  // If the run itself has failed as well, one of the other two members is there.
  return data.is_object() && data.contains("prompt_cache") && !data.contains("state") &&
         !data.contains("kv_cache_emptied");
}

}  // namespace rkllm_mcp
