// The API as plain values: what the header says (c_facts.hpp), and beside it what that means on the wire.
//
// Facts and meaning are kept apart: facts are only read; meaning is found by path. A path is "Struct.field",
// "Struct.field.inner" inside structs declared in place, "Struct.union" for an anonymous union, "function.param",
// "function.return", or just the name of a typedef.
#pragma once

#include "read/c_facts.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace bindgen {

enum class Presence { kOptional, kRequired, kNullable, kEmptyIfAbsent };

// What a factor of a length, or a bound, refers to: a field beside it, or a value known for the handle.
struct FieldRef {
  std::string name;
};
struct HandleValueRef {
  std::string name;
};
using ValueRef = std::variant<FieldRef, HandleValueRef>;

// The length of an array. The closed set of ways in which C interfaces say it.
struct CountedBy {  // `count`, a field beside it, times the others
  std::string count;
  std::vector<ValueRef> times;
};
struct Exactly {
  HandleValueRef count;
};
struct MultipleOf {
  std::string count;
};
struct SameLengthAs {
  std::string array;
};
struct Whole {};  // as many as the header declares in place
using Length = std::variant<CountedBy, Exactly, MultipleOf, SameLengthAs, Whole>;

// What a field, a parameter or a returned value means. A closed set: everything that handles meaning visits it without
// a default, so that a new idiom stops the build until each emitter knows it.
namespace meaning {

struct Value {  // a scalar, enumerator or struct, held by value
  Presence presence = Presence::kOptional;
  std::optional<double> minimum;
  std::optional<double> maximum;
  bool is_flag = false;    // an integer that means a boolean
  std::string present_if;  // a struct that is in use only if this pointer in it is set
};
enum class FileUse { kNone, kRead, kWritten };
struct Text {  // a string that ends with NUL: where a pointer points, or in an array in place
  Presence presence = Presence::kRequired;
  unsigned min_length = 0;
  bool is_json = false;
  std::string freed_by;             // a returned one: the function that frees it
  FileUse file = FileUse::kNone;    // what the function does with the file that the text names
  std::string file_if_absent;       // the file that the function writes if the text is not given
  std::vector<std::string> one_of;  // the texts that mean something to the function; empty: any
};
struct Object {  // a pointer to one struct
  Presence presence = Presence::kRequired;
  std::string starts_from;  // the function that gives the values of absent fields
  std::string freed_by;     // the function that frees a returned struct, or what a call has left in a changed one
  bool is_changed = false;  // the function writes into it, so it is part of the result, too
};
struct Batch {  // a pointer to as many structs as the handle value says
  HandleValueRef count;
};
struct Array {  // a pointer to scalars, structs, texts or bytes; or such an array in place
  Length length;
  Presence presence = Presence::kRequired;
  std::optional<std::int64_t> minimum;
  std::optional<HandleValueRef> below;
  std::string together_with;  // the parameter that is given with this one, or not at all
  std::string freed_by;       // of a changed one: the function that frees what it was left
  bool is_changed = false;    // the function writes into it, so it is part of the result, too
  bool is_told_only = false;  // a field: what the library leaves there, never what a client gives
};
struct Count {  // derived from the length of an array
  std::string array;
  bool is_factor = false;  // must be given: another count is derived with it
};
struct TaggedUnion {
  std::string tag;
  std::vector<std::pair<std::string, std::string>> members;  // member, enumerator of the tag
};
struct CpuMask {
  std::string count;
};
struct CpuCount {  // derived from a CpuMask
  std::string mask;
};
struct UsesHandle {};
struct CreatesHandle {};
struct DestroysHandle {};
struct OutArray {  // filled in by the function
  HandleValueRef count;
};
struct OutValue {};    // one scalar, enumerator or struct that the function leaves where a parameter points
struct OutRoom {       // as many scalars or bytes, or a text of as many bytes, as a parameter beside it says
  std::string room;    // empty: as many as the header declares
  std::string filled;  // of which the function fills in as many as this out parameter, or "return", says; empty: all
};
struct InOut {  // an integer that the function is given where a parameter points, and that it replaces
  std::optional<double> minimum;
  std::optional<double> maximum;
};
struct OutChosen {  // a struct that the function fills in; which one, an enumerator beside it says
  std::string tag;
  std::string size;                                          // the parameter that is told how large it is
  std::vector<std::pair<std::string, std::string>> structs;  // enumerator, struct
};
struct SizeOf {  // how large the struct of an OutChosen is
  std::string chosen;
};
struct Callbacks {};     // a pointer to a struct of callbacks, which this side provides
struct StreamCallback {  // a callback that delivers the results of a run
  std::string name;      // of its type
};
struct StreamUserdata {};  // carries the receiver of those results
struct Unused {            // not on the wire; stays zero or NULL
  bool is_whole = false;   // the array that ends the struct has just the declared elements, whatever a number says
};
struct Status {};   // returned: 0 is success
struct Predicate {  // returned: one value for yes, one for no
  std::string name;
  int yes = 1;
  int no = 0;
};

}  // namespace meaning

using Meaning =
    std::variant<meaning::Value, meaning::Text, meaning::Object, meaning::Batch, meaning::Array, meaning::Count,
                 meaning::TaggedUnion, meaning::CpuMask, meaning::CpuCount, meaning::UsesHandle, meaning::CreatesHandle,
                 meaning::DestroysHandle, meaning::OutArray, meaning::OutValue, meaning::OutRoom, meaning::InOut,
                 meaning::OutChosen, meaning::SizeOf, meaning::Callbacks, meaning::StreamCallback,
                 meaning::StreamUserdata, meaning::Unused, meaning::Status, meaning::Predicate>;

using Constant = std::variant<bool, std::int64_t, double, std::string>;  // a string names an enumerator

// Everything about one field, parameter or returned value.
struct Role {
  Meaning meaning;
  std::optional<Constant> default_value;  // what absent means; else zero
  bool default_is_unknown = false;        // absent means neither default_value nor zero, but what the runtime chooses
  std::optional<Constant> wire_default;   // instead of default_value, in calls that start from a function's values
  std::string remembered_as;              // handle value that a creating call sets from it
  std::string documentation;              // for the wire, where that of the header speaks to C programmers
  std::optional<std::string> brief;       // the same in few words, for lists of tools
  std::string group;                      // the object that the field stands in on the wire; empty: that of its struct
};

enum class StreamEvent { kToken, kEnd, kFailure };

struct StreamRows {
  std::string field;   // of the result; a struct
  std::string values;  // of that struct; the array, counted by rows * columns
  bool replaces_token = false;
};

// How a result callback becomes a stream.
struct Stream {
  std::string callback;  // its type's name
  std::string result;    // the struct that it delivers
  std::string state;     // the enum that says what a call is about
  std::vector<std::pair<std::string, StreamEvent>> states;
  std::string text;  // fields of the result
  std::string token;
  std::vector<StreamRows> rows;
  std::vector<std::string> values;
  std::vector<std::string> unknown;  // values that newer versions send with the end of a run, and this one does not
  int frees_rows = 0;  // what the callback returns to have the rows it was given freed; 0: there is no such answer
};

struct Precondition {
  HandleValueRef value;
  std::int64_t equals = 0;
  std::string why;
};

// What is said about a function as a whole.
struct FunctionRole {
  bool is_method = true;  // else it is only called by the stubs of others
  bool is_listed = true;  // else lists of tools leave it out: another one does the same
  std::string title;
  bool read_only = false;
  bool destructive = false;
  bool idempotent = false;
  bool immediate = false;
  bool aborts = false;
  bool streams_by_default = false;
  std::optional<Precondition> needs;
  std::string running_probe;  // the predicate that tells whether a run that goes on after the
                              // return still does
  std::string documentation;
};

struct HandleValue {
  std::string name;
  std::string learn;  // how it becomes known
};

// Something that this version has not, but another one has.
struct Elsewhere {
  std::string name;      // on the wire
  std::string versions;  // "1.3.0": that one and later; "<= 1.2.3": that one and earlier
};

struct Api {
  std::string version;        // "1.3.0"
  std::string cpp_namespace;  // of the generated code
  std::string include_root;   // of the support headers, as in #include <root/x.hpp>
  std::string overlay_sha256;
  c::Header header;
  std::map<std::string, Role> roles;  // by path; every path that is reachable from the wire
  std::map<std::string, FunctionRole> functions;
  std::vector<Stream> streams;
  std::vector<HandleValue> handle_values;
  std::vector<std::string> stands_for;         // every version with this interface, oldest first
  std::map<std::string, std::string> groups;   // objects that only the wire has: their documentation
  std::map<std::string, std::string> renamed;  // older name of a struct: the name it has now
  // What other versions have, filled in when all are known: by path of the record, group or function that it is in.
  std::map<std::string, std::vector<Elsewhere>> elsewhere;
  std::vector<Elsewhere> names_elsewhere;

  const Role& role(const std::string& path) const { return roles.at(path); }
  const Stream* stream(const std::string& callback) const {
    for (const Stream& stream : streams) {
      if (stream.callback == callback) return &stream;
    }
    return nullptr;
  }
};

// The path of a field inside `parent`.
inline std::string path_of(const std::string& parent, const c::Field& field) {
  if (field.name.empty() && field.inline_record.empty()) return parent + ".(unnamed bits)";
  return parent + "." + (field.name.empty() ? (field.inline_record.front().is_union ? "union" : "struct") : field.name);
}

// Visits a variant with one lambda per alternative; no alternative can be forgotten.
template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

template <class Variant, class... Functions>
decltype(auto) match(const Variant& variant, Functions... functions) {
  return std::visit(Overloaded{functions...}, variant);
}

}  // namespace bindgen
