// How a stub names the types of the interface. In code of one version by their names; in code for all versions by
// aliases of what Abi has, which the stub begins with.
#pragma once

#include "meaning/model.hpp"

#include <string>
#include <vector>

namespace bindgen {

class TypeNames {
 public:
  TypeNames(const Api& api, const c::Function& function, bool is_shared)
      : api_(api), function_(function), is_shared_(is_shared) {}

  // "const Point*"
  std::string spell(c::Type type);
  std::string spell(const std::string& name);
  // "const Point* name"
  std::string declare(c::Type type, const std::string& name);
  // An enumerator of this type.
  std::string enumerator(const c::Type& of, const std::string& name);
  // "f<Abi>", if f is a template over Abi.
  std::string with_abi(const std::string& name) const { return name + (is_shared_ ? "<Abi>" : ""); }

  // The aliases to begin with, in the order of their first use.
  const std::vector<std::string>& aliases() const { return aliases_; }

 private:
  std::string name_here(const std::string& name);
  void rename(c::Type& type);

  const Api& api_;
  const c::Function& function_;
  bool is_shared_;
  std::vector<std::string> aliases_;
};

// The name that a declared type goes by in code for all versions.
std::string shared_name(const Api& api, const std::string& name);

}  // namespace bindgen
