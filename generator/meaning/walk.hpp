// The parts of records and functions in the order in which the wire sees them, with their paths.
#pragma once

#include "meaning/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bindgen {

// A field or a parameter.
struct Part {
  std::string path;
  std::string name;       // empty for an anonymous union
  const c::Type* type;    // never null
  const c::Field* field;  // null for parameters
  Location location;
  std::string documentation;  // for the wire: the overlay's, else the header's
  std::string brief;          // the same in few words, if the overlay has them
  bool is_deprecated = false;
  std::uint64_t extent = 0;  // of a parameter: see c::Param
};
// The C type of an array. For a parameter that is given as a whole this is the declared array, not the pointer that is
// passed.
c::Type array_type(const Part& part, const meaning::Array& array);

// The fields of a record. Members of an anonymous struct or union follow it, as if they stood in the record itself,
// which for C they do.
std::vector<Part> parts_of(const Api& api, const c::Record& record, const std::string& path);
std::vector<Part> parts_of(const Api& api, const c::Function& function);

// Every struct, those declared in place included, with its path: inner ones before the outer one, as C++ needs them.
struct NamedRecord {
  std::string path;      // "Struct" or "Struct.field"
  std::string cpp_name;  // "Struct" or "Struct_field"
  const c::Record* record;
};
std::vector<NamedRecord> all_records(const Api& api);
// The name in generated code of the struct type of a field; `path` is the path of the field.
std::string cpp_name_of(const c::Type& type, const std::string& path);

// Whether a client gives this as a parameter or a field.
bool is_on_wire(const Meaning& meaning);
// Whether it is a handle that a function uses, makes or ends.
bool is_handle(const Meaning& meaning);
// Whether a function leaves something where this parameter points, so that it is part of the result.
bool is_left(const Meaning& meaning);
// The function that frees what a pointer leads to after that was written into the answer; empty if there is none.
std::string freed_by(const Meaning& meaning);
// The path of a record, or of something in it, under the name that its struct has now.
std::string present_path(const Api& api, const std::string& path);

// The order in which fields are read: as they stand, but for a tag behind its union, which must be known before it.
std::vector<Part> tags_first(const Api& api, std::vector<Part> parts);

// The part of `parts` with this name; null if there is none.
const Part* find_part(const std::vector<Part>& parts, const std::string& name);

// The union whose tag decides whether this part is given; null if there is none.
const meaning::TaggedUnion* union_of(const Api& api, const Part& part, const std::vector<Part>& parts);

// Documentation of a function for the wire.
std::string documentation_of(const Api& api, const c::Function& function);

// The functions that clients can call, in the order of the header.
std::vector<const c::Function*> methods_of(const Api& api);

// Whether a function makes a handle, which it returns or leaves where a parameter points.
bool makes_handle(const Api& api, const c::Function& function);
// The first function that does; null if none does.
const c::Function* creating_function(const Api& api);

// The streams that the userdata of this function may be for: those of the callbacks that it is given itself, else those
// that the function that makes handles is given. None if it takes no userdata.
std::vector<const Stream*> streams_of(const Api& api, const c::Function& function);

}  // namespace bindgen
