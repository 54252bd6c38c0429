#include "check/rules.hpp"

#include "emit/parts.hpp"

#include <set>

namespace bindgen {
namespace {

// Complains of the second use of a name.
class Names {
 public:
  explicit Names(Inspection& inspection) : inspection_(inspection) {}

  void add(const std::string& name, const Location& at, const std::string& where) {
    if (!names_.insert(name).second)
      inspection_.complain(at, where + " would have two members " + name + "; call one otherwise");
  }

 private:
  Inspection& inspection_;
  std::set<std::string> names_;
};

// What a returned value is told as.
std::set<std::string> names_of_return(const Api& api, const c::Function& function) {
  const Meaning& meaning = api.role(function.name + ".return").meaning;
  if (std::holds_alternative<meaning::Status>(meaning)) return {"status"};
  if (std::holds_alternative<meaning::CreatesHandle>(meaning)) return {"handle"};
  if (std::holds_alternative<meaning::Text>(meaning) || std::holds_alternative<meaning::Object>(meaning))
    return {"value"};
  if (!std::holds_alternative<meaning::Value>(meaning)) return {};
  const auto* record = c::find<c::Record>(api.header, function.returns.name);
  if (function.returns.kind != c::TypeKind::kRecord || record == nullptr) return {"value"};
  std::set<std::string> names;
  for (const Part& part : parts_of(api, *record, record->name)) names.insert(part.name);
  return names;
}

void inspect_result(Inspection& inspection, const c::Function& function) {
  const Api& api = inspection.api;
  const std::string where = "the result of " + function.name;
  Names names(inspection);
  for (const std::string& name : names_of_return(api, function)) names.add(name, function.location, where);
  if (const auto* predicate = std::get_if<meaning::Predicate>(&api.role(function.name + ".return").meaning)) {
    names.add("status", function.location, where);
    names.add(predicate->name, function.location, where);
  }
  for (const Part& part : parts_of(api, function)) {
    const Meaning& meaning = api.role(part.path).meaning;
    if (std::holds_alternative<meaning::CreatesHandle>(meaning) || is_left(meaning))
      names.add(part.name, part.location, where);
  }
}

void inspect_stream(Inspection& inspection, const Stream& stream) {
  const Location& at = c::find<c::Callback>(inspection.api.header, stream.callback)->location;
  const std::string where = "the result of the stream of " + stream.callback;
  Names names(inspection);
  for (const char* name : {"status", "text", "state", "aborted", "token_ids", "texts"}) names.add(name, at, where);
  for (const std::string& name : stream.values) names.add(name, at, where);
  for (const std::string& name : stream.unknown) names.add(name, at, where);
  for (const StreamRows& rows : stream.rows) names.add(rows.field, at, where);
}

// The parameters of a run, beside which stand those of its stream.
void inspect_params(Inspection& inspection, const c::Function& function) {
  Names names(inspection);
  for (const char* name : {"include", "encoding", "progress_message"}) names.add(name, function.location, "");
  for (const Part& part : parts_of(inspection.api, function)) {
    if (is_on_wire(inspection.api.role(part.path).meaning))
      names.add(part.name, part.location, "the parameters of " + function.name);
  }
}

// A group stands beside the fields that are in none.
void inspect_groups(Inspection& inspection, const NamedRecord& record) {
  std::set<std::string> groups;
  const auto parts = parts_of(inspection.api, *record.record, record.path);
  for (const Part& part : parts) {
    const std::string& group = inspection.api.role(part.path).group;
    if (!group.empty()) groups.insert(group);
  }
  for (const Part& part : parts) {
    inspection.require(groups.count(part.name) == 0 || !inspection.api.role(part.path).group.empty(), part,
                       "a group beside it has the same name");
  }
}

}  // namespace

// A JSON object has each name once; a second member would replace the first.
void wire_names_are_different(Inspection& inspection) {
  const Api& api = inspection.api;
  for (const c::Function* function : methods_of(api)) {
    if (stream_of(api, *function) == nullptr) {
      inspect_result(inspection, *function);
    } else {
      inspect_params(inspection, *function);
    }
  }
  for (const Stream& stream : api.streams) inspect_stream(inspection, stream);
  for (const NamedRecord& record : all_records(api)) inspect_groups(inspection, record);
}

}  // namespace bindgen
