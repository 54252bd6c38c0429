#include "emit/type_names.hpp"

#include "emit/parts.hpp"
#include "meaning/walk.hpp"
#include "read/declaration.hpp"

#include <algorithm>

namespace bindgen {

std::string shared_name(const Api& api, const std::string& name) { return present_path(api, name); }

std::string TypeNames::spell(c::Type type) {
  rename(type);
  return spelling(type);
}

std::string TypeNames::declare(c::Type type, const std::string& name) {
  rename(type);
  return declaration(type, name);
}

std::string TypeNames::spell(const std::string& name) { return name_here(name); }

std::string TypeNames::enumerator(const c::Type& of, const std::string& name) {
  if (of.name.empty()) return name;
  if (!is_shared_) return of.name + "::" + name;  // a parameter may be called like it
  const std::string type = name_here(of.name);
  const std::string keyword = "typename ";
  return (type.rfind(keyword, 0) == 0 ? type.substr(keyword.size()) : type) + "::" + name;
}

std::string TypeNames::name_here(const std::string& name) {
  if (!is_shared_ || is_known_everywhere(name)) return name;
  std::string shared = shared_name(api_, name);
  // A parameter that is called like a type hides the alias.
  for (const c::Param& param : function_.params) {
    if (param.name == shared) return "typename Abi::" + shared;
  }
  if (std::find(aliases_.begin(), aliases_.end(), shared) == aliases_.end()) aliases_.push_back(shared);
  return shared;
}

void TypeNames::rename(c::Type& type) {
  if (!type.name.empty()) {
    type.name = name_here(type.name);
    return;
  }
  for (c::Type& target : type.target) rename(target);
  for (c::Type& param : type.params) rename(param);
}

}  // namespace bindgen
