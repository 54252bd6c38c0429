#include "library/loaded_library.hpp"

#include <rkllm_mcp/abi_sets.hpp>
#include <rkllm_mcp/errors.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <utility>

namespace rkllm_mcp {
namespace {

// "1.3" of "1.3.1": versions that share it are expected to share their layout, too.
std::string_view series_of(std::string_view version) { return version.substr(0, version.rfind('.')); }

std::string known_versions() {
  std::string list;
  for (const AbiSet* set : abi_sets()) {
    for (const std::string_view version : set->stands_for) list += (list.empty() ? "" : ", ") + std::string(version);
  }
  return list;
}

template <class Predicate>
const AbiSet* find_set(const Predicate& predicate) {
  const auto sets = abi_sets();
  const auto found = std::find_if(sets.begin(), sets.end(), predicate);
  return found == sets.end() ? nullptr : *found;
}

// What dlerror() says, with its usual meaning: "NAME: cannot open shared object file: No such file or directory" of
// another file than the one that was to be loaded.
std::string why_not_loaded(const std::string& path, const std::string& said) {
  constexpr std::string_view kMissing = ": cannot open shared object file: No such file or directory";
  if (said.ends_with(kMissing)) {
    const std::string name = said.substr(0, said.size() - kMissing.size());
    if (name != path) return path + " needs " + name + ", which this system does not have";
  }
  return "cannot load the library: " + said;
}

}  // namespace

std::span<const AbiSet* const> abi_sets() { return kAbiSets; }

AbiChoice choose_abi_set(std::string_view version, std::string_view forced) {
  const std::string_view wanted = forced.empty() ? version : forced;
  const auto stands_for_it = [&](const AbiSet* set) {
    return std::find(set->stands_for.begin(), set->stands_for.end(), wanted) != set->stands_for.end();
  };
  if (const AbiSet* exact = find_set(stands_for_it)) {
    if (forced.empty() || forced == version) return {exact, {}};
    return {exact, "ABI set " + std::string(forced) + " is forced on a runtime of version " + std::string(version)};
  }
  if (!forced.empty()) {
    throw runtime_unavailable("runtime.abi names no ABI set of this program: " + std::string(forced) + " (it has " +
                              known_versions() + ")");
  }
  // All published versions of older series are known; only the newest one may have got another since.
  const AbiSet* const newest = abi_sets().back();
  if (series_of(newest->version) == series_of(version)) {
    return {newest,
            "runtime " + std::string(version) + " is not known; ABI set " + std::string(newest->version) + " is used"};
  }
  throw runtime_unavailable("runtime version " + std::string(version) +
                            " is not supported: its structs may differ from all of " + known_versions() +
                            ". To try one nevertheless, set runtime.abi");
}

LoadedLibrary::LoadedLibrary(LibraryFile file, const AbiSet& set) : file_(std::move(file)), set_(set) {
  native_ = ::dlopen(file_.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (native_ == nullptr) throw runtime_unavailable(why_not_loaded(file_.path, ::dlerror()));
  binding_ = set_.bind([this](const char* name) { return ::dlsym(native_, name); });
}

}  // namespace rkllm_mcp
