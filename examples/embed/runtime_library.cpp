#include "runtime_library.hpp"

#include <rkllm_mcp/abi_sets.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace {

std::string version_in(const std::string& path) {
  constexpr std::string_view kMarker = "RKLLM SDK (version: ";
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  const auto at = content.find(kMarker);
  if (at == std::string::npos) throw std::runtime_error(path + " is no RKLLM runtime");
  const auto begin = at + kMarker.size();
  return content.substr(begin, content.find_first_of(" )", begin) - begin);
}

const rkllm_mcp::AbiSet* set_for(std::string_view version) {
  for (const rkllm_mcp::AbiSet* set : rkllm_mcp::kAbiSets) {
    const auto& versions = set->stands_for;
    if (std::find(versions.begin(), versions.end(), version) != versions.end()) return set;
  }
  throw std::runtime_error("no ABI set for version " + std::string(version));
}

}  // namespace

RuntimeLibrary::RuntimeLibrary(const std::string& path) : version_(version_in(path)), set_(set_for(version_)) {
  // Never unloaded: a runtime may leave threads behind.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  binding_ = set_->bind([library](const char* name) { return dlsym(library, name); });
}

rkllm_mcp::Json RuntimeLibrary::call(std::string_view name, const rkllm_mcp::Json& params,
                                     rkllm_mcp::HandleRecord& handle, rkllm_mcp::ResultSink* results) const {
  rkllm_mcp::CallContext call{params, &handle, results, rkllm_mcp::ArrayEncoding::kJson, {}, version_};
  for (const rkllm_mcp::Method& method : set_->methods) {
    if (method.name == name) return binding_->call(method, call);
  }
  throw std::runtime_error("version " + version_ + " has no " + std::string(name));
}
