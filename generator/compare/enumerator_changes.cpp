// What has changed in enums, of which a C program knows the names and the values (diff.hpp).
#include "compare/diff.hpp"

#include <algorithm>
#include <string>

namespace bindgen {
namespace {

// The names of enumerators are global in C, whichever enum they are in.
struct Placed {
  std::string path;
  const c::Enumerator* enumerator;
  bool enum_is_told;  // the enum as a whole was added or removed
};

std::vector<Placed> placed(const c::Header& header, const c::Header& other) {
  std::vector<Placed> found;
  for (const c::Enum* entity : c::all<c::Enum>(header)) {
    const bool is_told = !entity->name.empty() && c::find<c::Enum>(other, entity->name) == nullptr;
    for (const c::Enumerator& enumerator : entity->enumerators) {
      const std::string prefix = entity->name.empty() ? "" : entity->name + ".";
      found.push_back({prefix + enumerator.name, &enumerator, is_told});
    }
  }
  return found;
}

const Placed* with_name(const std::vector<Placed>& all, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Placed& one) { return one.enumerator->name == name; });
  return found == all.end() ? nullptr : &*found;
}

Side value(const Placed& one) { return {std::to_string(one.enumerator->value)}; }

Change change(ChangeKind kind, Breaks worst, const Placed& one, std::optional<Side> before, std::optional<Side> after) {
  return {kind, worst, "enumerator", one.path, std::move(before), std::move(after), one.enumerator->location};
}

}  // namespace

std::vector<Change> enumerator_changes(const c::Header& before, const c::Header& after) {
  const auto old = placed(before, after);
  const auto now = placed(after, before);
  std::vector<Change> changes;
  for (const Placed& one : now) {
    const Placed* other = with_name(old, one.enumerator->name);
    if (other == nullptr) {
      if (!one.enum_is_told) changes.push_back(change(ChangeKind::kAdded, Breaks::kNone, one, {}, value(one)));
    } else if (one.enumerator->value != other->enumerator->value) {
      changes.push_back(change(ChangeKind::kChanged, Breaks::kAbi, one, value(*other), value(one)));
    } else if (other->path != one.path && !(other->enum_is_told && one.enum_is_told)) {
      changes.push_back(change(ChangeKind::kChanged, Breaks::kApi, one, Side{other->path}, Side{one.path}));
    }
  }
  for (const Placed& one : old) {
    if (one.enum_is_told || with_name(now, one.enumerator->name) != nullptr) continue;
    changes.push_back(change(ChangeKind::kRemoved, Breaks::kAbi, one, value(one), {}));
  }
  return changes;
}

}  // namespace bindgen
