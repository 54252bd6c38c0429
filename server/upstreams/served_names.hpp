// The names under which the tools, or the prompts, of all upstreams are served: no two have the same.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp {

class ServedNames {
 public:
  // `taken` are those that are served already, by whomever.
  ServedNames(std::vector<std::string> upstreams, std::set<std::string> taken)
      : upstreams_(std::move(upstreams)), taken_(std::move(taken)) {}

  // The name of what that upstream calls `there`, which is taken from now on. Nothing if there is none left for it.
  std::optional<std::string> take(const std::string& upstream, const std::string& there);

 private:
  bool could_be_anothers(const std::string& upstream, const std::string& plain) const;

  std::vector<std::string> upstreams_;
  std::set<std::string> taken_;
};

}  // namespace rkllm_mcp
