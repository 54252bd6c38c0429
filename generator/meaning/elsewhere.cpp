// What each version lacks that another one has (understand.hpp).
#include "meaning/understand.hpp"

#include "meaning/walk.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace bindgen {
namespace {

// Names on the wire by the path of what they are in; that of functions and of what can be asked for by name is "".
using Names = std::map<std::string, std::vector<std::string>>;

void add(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

void add_parts(const Api& api, const std::vector<Part>& parts, const std::string& path, Names& names) {
  names[path];
  for (const Part& part : parts) {
    const Role& role = api.role(part.path);
    if (!is_on_wire(role.meaning) || part.name.empty()) continue;
    if (!role.group.empty()) add(names[path + "." + role.group], part.name);
    add(names[path], role.group.empty() ? part.name : role.group);
  }
}

Names names_of(const Api& api) {
  Names names;
  for (const NamedRecord& record : all_records(api)) {
    add_parts(api, parts_of(api, *record.record, record.path), present_path(api, record.path), names);
  }
  for (const c::Function* function : methods_of(api)) {
    add(names[""], function->name);
    add_parts(api, parts_of(api, *function), function->name, names);
  }
  for (const c::Symbol& symbol : api.header.symbols) {
    if (!std::holds_alternative<c::Function>(symbol) && !std::holds_alternative<c::Opaque>(symbol) &&
        !c::name_of(symbol).empty())
      add(names[""], c::name_of(symbol));
    if (const auto* entity = std::get_if<c::Enum>(&symbol)) {
      for (const c::Enumerator& enumerator : entity->enumerators) add(names[""], enumerator.name);
    }
  }
  return names;
}

// How to say in which versions something is that is in the marked ones.
std::string versions_with(const std::vector<Api>& sets, const std::vector<bool>& has, std::size_t asking) {
  for (std::size_t newer = asking + 1; newer < sets.size(); ++newer) {
    if (has[newer]) return sets[newer].stands_for.front();
  }
  std::size_t last = 0;
  for (std::size_t older = 0; older < asking; ++older) {
    if (has[older]) last = older;
  }
  return "<= " + sets[last].version;
}

}  // namespace

void note_elsewhere(std::vector<Api>& sets) {
  std::vector<Names> names;
  Names all;
  for (const Api& api : sets) {
    names.push_back(names_of(api));
    for (const auto& [path, of_path] : names.back()) {
      for (const std::string& name : of_path) add(all[path], name);
    }
  }
  for (std::size_t set = 0; set < sets.size(); ++set) {
    for (const auto& [path, of_path] : all) {
      const auto here = names[set].find(path);
      if (here == names[set].end()) continue;  // a whole struct or function that is elsewhere
      for (const std::string& name : of_path) {
        std::vector<bool> has;
        for (const Names& of_set : names) {
          const auto there = of_set.find(path);
          has.push_back(there != of_set.end() &&
                        std::find(there->second.begin(), there->second.end(), name) != there->second.end());
        }
        if (has[set]) continue;
        auto& list = path.empty() ? sets[set].names_elsewhere : sets[set].elsewhere[path];
        list.push_back({name, versions_with(sets, has, set)});
      }
    }
  }
}

}  // namespace bindgen
