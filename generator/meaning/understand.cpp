#include "meaning/understand.hpp"

#include "diagnostics.hpp"
#include "meaning/suggest.hpp"
#include "meaning/walk.hpp"
#include "read/declaration.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace bindgen {
namespace {

using c::TypeKind;

bool is_scalar(TypeKind kind) {
  return kind == TypeKind::kBool || kind == TypeKind::kSigned || kind == TypeKind::kUnsigned ||
         kind == TypeKind::kFloat || kind == TypeKind::kDouble || kind == TypeKind::kEnum;
}

class Understanding {
 public:
  Understanding(c::Header header, const Overlay& overlay, const std::string& version) : overlay_(overlay) {
    api_.version = version;
    api_.cpp_namespace = overlay.cpp_namespace;
    api_.include_root = overlay.include_root;
    api_.overlay_sha256 = overlay.sha256;
    api_.handle_values = overlay.handle_values;
    api_.groups = overlay.groups;
    api_.renamed = overlay.renamed;
    api_.header = overlay.methods.empty() ? std::move(header) : chosen(std::move(header));
    leave_out_unused_functions();
  }

  Api result() {
    find_meanings();
    forget_bound_lengths();
    for (const Declared& declared : unanswered_) {
      complain_at(declared.path, "nothing says what " + declared.path + " means",
                  "add to " + overlay_.path + ", after correcting it:\n" + suggest_entry(declared));
    }
    derive_counts();
    stop_if_refused();
    return std::move(api_);
  }

  Needs needs() {
    find_meanings();
    forget_bound_lengths();
    return {std::move(unanswered_), std::move(complaints_)};
  }

 private:
  void find_meanings() {
    places_ = places_in(api_.header);
    complaints_.insert(complaints_.end(), places_.complaints.begin(), places_.complaints.end());
    for (const c::Function* function : c::all<c::Function>(api_.header)) api_.functions[function->name];
    take_entries();
    mark_integer_handles();
    for (const Declared& declared : places_.parts) give_meaning(declared);
    for (const Declared& declared : places_.returns) give_return(declared);
  }

  // The methods that the overlay names, and the functions that their stubs call.
  c::Header chosen(c::Header header) {
    std::set<std::string> functions(overlay_.methods.begin(), overlay_.methods.end());
    std::set<std::string> types;
    for (const std::string& name : functions) {
      if (c::find<c::Function>(header, name) != nullptr) continue;
      complaints_.push_back({{overlay_.path, 0, 0},
                             "its \"methods\" name " + name + ", which the header does not declare",
                             "",
                             "remove it from there"});
    }
    for (const OverlayEntry& entry : overlay_.entries) {
      if (!entry.meaning) continue;
      if (const std::string frees = freed_by(*entry.meaning); !frees.empty()) functions.insert(frees);
      if (const auto* chosen = std::get_if<meaning::OutChosen>(&*entry.meaning)) {
        for (const auto& [enumerator, name] : chosen->structs) types.insert(name);
      }
    }
    return needed_by(std::move(header), functions, types);
  }

  // Those whose own entry says that they are unused: no methods, and whatever C has no other form for may be in them.
  void leave_out_unused_functions() {
    for (const OverlayEntry& entry : overlay_.entries) {
      const bool is_unused = entry.meaning && std::holds_alternative<meaning::Unused>(*entry.meaning);
      const auto* function = is_unused ? c::find<c::Function>(api_.header, entry.path) : nullptr;
      if (function == nullptr) continue;
      check_quote(entry, {PlaceKind::kFunction, declaration(*function), function->location});
      if (says_whole(entry)) refuse_says(entry, "whole", kForFields, declaration(*function));
      unused_functions_.insert(entry.path);
      std::erase_if(api_.header.symbols, [&](const c::Symbol& symbol) {
        return std::holds_alternative<c::Function>(symbol) && c::name_of(symbol) == entry.path;
      });
    }
  }

  // Only a field can end a struct behind which there could be more.
  static constexpr const char* kForFields = R"(fields; say "unused": {})";
  static bool says_whole(const OverlayEntry& entry) {
    const auto* unused = entry.meaning ? std::get_if<meaning::Unused>(&*entry.meaning) : nullptr;
    return unused != nullptr && unused->is_whole;
  }

  // ---- What the overlay says.

  void take_entries() {
    std::map<std::string, Location> seen;
    for (const OverlayEntry& entry : overlay_.entries) {
      if (unused_functions_.count(entry.path) != 0) continue;
      const auto place = places_.by_path.find(entry.path);
      if (place == places_.by_path.end()) {
        complaints_.push_back({entry.at, "this entry is for " + entry.path + ", which the header does not declare", "",
                               where_it_would_be(entry.path) + "it quotes: " + entry.quote +
                                   "\nif older versions have it, end the entry with \"until\"; else remove it"
                                   "\nif it has another name now, write an entry for that"});
        continue;
      }
      if (const auto [first, is_new] = seen.emplace(entry.path, entry.at); !is_new) {
        complaints_.push_back({entry.at, "a second entry for " + entry.path, "",
                               "the first is on line " + std::to_string(first->second.line)});
        continue;
      }
      check_quote(entry, place->second);
      if (!entry.guess.empty()) refuse_guess(entry);
      if (!suits(entry, place->second.kind)) continue;
      entries_[entry.path] = &entry;
      if (entry.function) api_.functions[entry.path] = *entry.function;
      if (entry.stream) api_.streams.push_back(*entry.stream);
    }
  }

  void refuse_guess(const OverlayEntry& entry) {
    complaints_.push_back(
        {entry.at, "the entry for " + entry.path + " is a guess" + (entry.reason.empty() ? "" : ": " + entry.reason),
         "",
         "find out, then write what it means in place of \"guess\" and \"confidence\"; proposed was\n" + entry.guess});
  }

  bool refuse_says(const OverlayEntry& entry, const std::string& key, const std::string& what,
                   const std::string& declaration) {
    complaints_.push_back({entry.at, "the entry for " + entry.path + " says \"" + key + "\", which is for " + what, "",
                           "the header has: " + declaration});
    return false;
  }

  // What an entry may say depends on what it is about.
  bool suits(const OverlayEntry& entry, PlaceKind kind) {
    const auto refuse = [&](const std::string& key, const std::string& what) {
      return refuse_says(entry, key, what, places_.by_path.at(entry.path).declaration);
    };
    if (entry.function && kind != PlaceKind::kFunction) return refuse("function", "functions");
    if (entry.stream && kind != PlaceKind::kCallback) return refuse("stream", "types of callbacks");
    if (entry.meaning && kind == PlaceKind::kFunction) {
      return refuse(entry.says, "fields, parameters, types and returned values (\"" + entry.path + ".return\")");
    }
    if (kind == PlaceKind::kPart) return true;
    if (says_whole(entry)) return refuse("whole", kForFields);
    const std::pair<bool, const char*> of_parts[] = {{entry.default_value.has_value(), "default"},
                                                     {entry.wire_default.has_value(), "wire_default"},
                                                     {!entry.remembered_as.empty(), "session"},
                                                     {!entry.group.empty(), "group"}};
    for (const auto& [is_there, key] : of_parts) {
      if (is_there) return refuse(key, "fields and parameters");
    }
    return true;
  }

  // The declaration around something that is not in it.
  std::string where_it_would_be(const std::string& path) const {
    const std::string name = path.substr(0, path.find('.'));
    if (name == path) return "";
    for (const c::Symbol& symbol : api_.header.symbols) {
      if (c::name_of(symbol) != name) continue;
      const Location at = std::visit([](const auto& any) { return any.location; }, symbol);
      return at.file + ":" + std::to_string(at.line) + " declares " + name + ", which has no such part\n";
    }
    return "";
  }

  void check_quote(const OverlayEntry& entry, const Place& place) {
    if (normalized(entry.quote) == normalized(place.declaration)) return;
    complaints_.push_back(complain(api_.header, place.at, entry.path + " is not what its overlay entry was written for",
                                   overlay_.path + ":" + std::to_string(entry.at.line) + " quotes: " + entry.quote +
                                       "\nthe header says now:  " + place.declaration +
                                       "\nif the entry still holds, write \"quote\": \"" + place.declaration + "\""));
  }

  // The header's own names of integers by which handles are passed. Whatever else is of such a type is most likely a
  // handle, too, and a number that a client makes up is none.
  void mark_integer_handles() {
    std::set<std::string> types;
    each_declared([&](const Declared& declared) {
      const auto found = entries_.find(declared.path);
      if (found == entries_.end() || !found->second->meaning || !is_handle(*found->second->meaning)) return;
      const c::Type& type = declared.type.kind == TypeKind::kPointer ? declared.type.target.front() : declared.type;
      if (is_integer(type) && c::find<c::Alias>(api_.header, type.name) != nullptr) types.insert(type.name);
    });
    each_declared([&](Declared& declared) { declared.is_integer_handle = types.count(declared.type.name) != 0; });
  }

  template <class Action>
  void each_declared(Action action) {
    std::for_each(places_.parts.begin(), places_.parts.end(), action);
    std::for_each(places_.returns.begin(), places_.returns.end(), action);
  }

  // ---- What it all means.

  void give_meaning(const Declared& declared) {
    Role role;
    const auto found = entries_.find(declared.path);
    const OverlayEntry* entry = found != entries_.end() ? found->second : nullptr;
    if (entry != nullptr) {
      role.default_value = entry->default_value;
      role.default_is_unknown = entry->default_is_unknown;
      role.wire_default = entry->wire_default;
      role.remembered_as = entry->remembered_as;
      role.documentation = entry->documentation;
      role.brief = entry->brief;
      role.group = entry->group;
    }
    if (is_inside_unused(declared)) {
      role.meaning = meaning::Unused{};
      if (entry != nullptr)
        complain_at(declared.path, declared.inside + " is unused, so " + declared.path + " is too",
                    "remove the entry on line " + std::to_string(entry->at.line) + " of " + overlay_.path);
    } else if (entry != nullptr && entry->meaning) {
      role.meaning = *entry->meaning;
    } else if (const auto meant = meaning_of_type(declared)) {
      role.meaning = *meant;
    } else {
      if (entry == nullptr || entry->guess.empty()) unanswered_.push_back(declared);
      return;
    }
    if (const std::string frees = freed_by(role.meaning); !frees.empty()) api_.functions[frees].is_method = false;
    auto* value = std::get_if<meaning::Value>(&role.meaning);
    if (value != nullptr && declared.bit_width != 0) bound_by_bits(*value, declared);
    if (value != nullptr && places_.params.count(declared.path) != 0 && !role.default_value) {
      value->presence = Presence::kRequired;  // C has no absent arguments
    }
    api_.roles[declared.path] = std::move(role);
  }

  // What the bits of a bit-field hold, where nothing narrower is said.
  static void bound_by_bits(meaning::Value& value, const Declared& declared) {
    constexpr unsigned kMost = 53;  // bits of a bound, which is a double
    const bool is_signed = declared.type.kind == TypeKind::kSigned;
    if (!is_signed && declared.type.kind != TypeKind::kUnsigned) return;
    if (value.is_flag || declared.bit_width > kMost) return;
    const double count = std::ldexp(1.0, static_cast<int>(declared.bit_width - (is_signed ? 1 : 0)));
    const double least = is_signed ? -count : 0;
    if (!value.minimum) value.minimum = least;
    if (!value.maximum) value.maximum = count - 1;
  }

  bool is_inside_unused(const Declared& declared) const {
    const auto around = api_.roles.find(declared.inside);
    return around != api_.roles.end() && std::holds_alternative<meaning::Unused>(around->second.meaning);
  }

  // What the C type alone says; nothing if that is not enough.
  std::optional<Meaning> meaning_of_type(const Declared& declared) const {
    const c::Type& type = declared.type;
    if (const auto alias = entries_.find(type.name); alias != entries_.end() && !type.name.empty()) {
      if (alias->second->stream) return meaning::StreamCallback{type.name};
      if (alias->second->meaning) return alias->second->meaning;
    }
    return plain_value(declared);
  }

  static std::optional<Meaning> plain_value(const Declared& declared) {
    if (is_scalar(declared.type.kind) && !declared.is_integer_handle) return meaning::Value{};
    if (declared.type.kind == TypeKind::kRecord && !declared.is_union) return meaning::Value{};
    return std::nullopt;
  }

  // An integer that counts something else, or has a meaning of its own, is no length of what is still open.
  void forget_bound_lengths() {
    for (Declared& declared : unanswered_) {
      const std::string parent = declared.path.substr(0, declared.path.rfind('.') + 1);
      std::erase_if(declared.integers_beside, [&](const std::string& name) {
        const auto entry = entries_.find(parent + name);
        return entry != entries_.end() ? entry->second->meaning.has_value() : counts_another(parent, name);
      });
    }
  }

  bool counts_another(const std::string& parent, const std::string& name) const {
    for (const auto& [path, entry] : entries_) {
      const auto* array = entry->meaning ? std::get_if<meaning::Array>(&*entry->meaning) : nullptr;
      const auto* counted = array != nullptr ? std::get_if<CountedBy>(&array->length) : nullptr;
      if (counted != nullptr && counted->count == name && path.substr(0, path.rfind('.') + 1) == parent) return true;
    }
    return false;
  }

  void derive_counts() {
    for (const Declared& declared : places_.parts) {
      const auto role = api_.roles.find(declared.path);
      if (role == api_.roles.end()) continue;
      const std::string parent = declared.path.substr(0, declared.path.rfind('.') + 1);
      const std::string name = declared.path.substr(parent.size());
      if (const auto* array = std::get_if<meaning::Array>(&role->second.meaning)) {
        const auto* counted = std::get_if<CountedBy>(&array->length);
        if (counted == nullptr) continue;
        mark_count(declared.path, parent + counted->count, {name, false});
        for (const ValueRef& factor : counted->times) {
          const auto* field = std::get_if<FieldRef>(&factor);
          if (field != nullptr) mark_count(declared.path, parent + field->name, {name, true});
        }
      }
      if (const auto* mask = std::get_if<meaning::CpuMask>(&role->second.meaning)) {
        mark(declared.path, parent + mask->count, meaning::CpuCount{name});
      }
      if (const auto* chosen = std::get_if<meaning::OutChosen>(&role->second.meaning)) {
        mark(declared.path, parent + chosen->size, meaning::SizeOf{name});
      }
    }
  }

  // One field may count several arrays, and be a factor of others.
  void mark_count(const std::string& by, const std::string& path, meaning::Count count) {
    const auto role = api_.roles.find(path);
    const auto* other = role != api_.roles.end() ? std::get_if<meaning::Count>(&role->second.meaning) : nullptr;
    if (other != nullptr) {
      count.is_factor = count.is_factor || other->is_factor;
      role->second.meaning = std::move(count);
    } else {
      mark(by, path, std::move(count));
    }
  }

  void mark(const std::string& by, const std::string& path, Meaning meaning) {
    const auto role = api_.roles.find(path);
    const bool is_beside = path.rfind('.') == by.rfind('.');
    if (role == api_.roles.end() || !is_beside) {
      complain_at(by, "its overlay entry says that " + path + " counts it, but there is no such field", "");
      return;
    }
    const auto entry = entries_.find(path);
    const auto [first, is_new] = derived_from_.emplace(path, by);
    if (!is_new) {
      complain_at(path, path + " is derived from both " + first->second + " and " + by, "");
    } else if (entry != entries_.end() && entry->second->meaning) {
      complain_at(path, path + " is derived from " + by + ", so its own entry says too much",
                  "remove \"" + entry->second->says + "\" from the entry on line " +
                      std::to_string(entry->second->at.line) + " of " + overlay_.path);
    } else if (std::holds_alternative<meaning::Unused>(role->second.meaning)) {
      complain_at(by, path + ", which counts it, is in something unused", "");
    }
    role->second.meaning = std::move(meaning);
  }

  void give_return(const Declared& declared) {
    Role role;
    const auto found = entries_.find(declared.path);
    const auto by_type = overlay_.returns.find(declared.declaration);
    if (found != entries_.end()) role.documentation = found->second->documentation;
    if (found != entries_.end() && found->second->meaning) {
      role.meaning = *found->second->meaning;
      if (const std::string frees = freed_by(role.meaning); !frees.empty()) api_.functions[frees].is_method = false;
    } else if (by_type != overlay_.returns.end()) {
      role.meaning = by_type->second;
    } else if (declared.type.kind == TypeKind::kVoid) {
      role.meaning = meaning::Unused{};
    } else if (const auto value = plain_value(declared)) {
      role.meaning = *value;
    } else {
      if (found == entries_.end() || found->second->guess.empty()) unanswered_.push_back(declared);
      return;
    }
    api_.roles[declared.path] = std::move(role);
  }

  void complain_at(const std::string& path, std::string message, std::string hint) {
    complaints_.push_back(complain(api_.header, places_.by_path.at(path).at, std::move(message), std::move(hint)));
  }

  void stop_if_refused() {
    if (!complaints_.empty()) throw Refusal(std::move(complaints_));
  }

  Api api_;
  const Overlay& overlay_;
  Places places_;
  std::map<std::string, const OverlayEntry*> entries_;
  std::map<std::string, std::string> derived_from_;  // a field that counts: what it counts, or the first of that
  std::set<std::string> unused_functions_;
  std::vector<Declared> unanswered_;
  std::vector<Diagnostic> complaints_;
};

}  // namespace

Api understand(c::Header header, const Overlay& overlay, const std::string& version) {
  return Understanding(std::move(header), overlay, version).result();
}

Needs needs_of(c::Header header, const Overlay& overlay) {
  return Understanding(std::move(header), overlay, "").needs();
}

}  // namespace bindgen
