// How a callback becomes a stream: a class of what its states mean and where in the result the parts are, and the C
// function that is given to the library.
#include "emit/method_parts.hpp"
#include "emit/parts.hpp"
#include "read/declaration.hpp"

#include <algorithm>

namespace bindgen {
namespace {

class StreamEmitter {
 public:
  StreamEmitter(CodeText& code, const std::vector<Api>& sets, const std::string& callback)
      : code_(code), sets_(sets), is_shared_(sets.size() > 1), name_(callback) {
    for (const Api& api : sets) streams_.push_back(api.stream(callback));
    for (const Stream* stream : streams_) mask_.push_back(stream != nullptr);
  }

  void emit() {
    const auto groups = groups_of([&](std::size_t one, std::size_t other) { return can_share(one, other); });
    if (groups.size() > 1) {
      code_.line("template <class Abi>");
      code_.line("struct " + name_ + "Stream;");
    }
    for (const Mask& group : groups) emit_class(group, groups.size() > 1);
    for (const Mask& group : groups_of([&](std::size_t one, std::size_t other) {
           return function_text(sets_[one]) == function_text(sets_[other]);
         })) {
      emit_function(group);
    }
  }

 private:
  // The sets with this stream, in as few groups as can share what is written for one of them.
  template <class Same>
  std::vector<Mask> groups_of(const Same& can_share) const {
    std::vector<Mask> groups;
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      if (!mask_[set]) continue;
      const auto fits = [&](const Mask& group) {
        for (std::size_t other = 0; other < set; ++other) {
          if (group[other] && !can_share(other, set)) return false;
        }
        return true;
      };
      auto group = std::find_if(groups.begin(), groups.end(), fits);
      if (group == groups.end()) group = groups.insert(group, Mask(sets_.size()));
      (*group)[set] = true;
    }
    return groups;
  }

  // Whether all states mean the same in both, and a token is read in the same way.
  bool can_share(std::size_t one, std::size_t other) const {
    const Stream& a = *streams_[one];
    const Stream& b = *streams_[other];
    for (const auto& [state, event] : a.states) {
      for (const auto& [same, meaning] : b.states) {
        if (state == same && event != meaning) return false;
      }
    }
    return a.text == b.text && a.token == b.token && type_name(one, a.result) == type_name(other, b.result) &&
           type_name(one, a.state) == type_name(other, b.state);
  }

  std::string type_name(std::size_t set, const std::string& name) const {
    return is_shared_ ? "typename Abi::" + shared_name(sets_[set], name) : name;
  }

  std::string condition(const Mask& has, const Mask& among) const { return condition_of(ranges_of(sets_, has, among)); }
  // "template <class Abi>", for these of all versions.
  void begin_template(const Mask& group) {
    if (!is_shared_) return;
    const std::string only = condition(group, mask_);
    code_.line("template <class Abi>");
    if (!only.empty()) code_.line("  requires(" + only + ")");
  }

  void emit_class(const Mask& group, bool is_one_of_many) {
    const auto newest = static_cast<std::size_t>(group.rend() - std::find(group.rbegin(), group.rend(), true)) - 1;
    const Stream& stream = *streams_[newest];
    code_.comment_on(name_, c::find<c::Callback>(sets_[newest].header, name_)->documentation.text);
    begin_template(group);
    code_.line("struct " + name_ + "Stream" + (is_one_of_many ? "<Abi>" : "") + " {");
    code_.indent();
    code_.line("using Result = " + type_name(newest, stream.result) + ";");
    code_.line("using State = " + type_name(newest, stream.state) + ";");
    emit_states(group);
    code_.line("static StreamToken token(const Result& entry) {");
    code_.line("  return stream_token(entry." + stream.text + ", entry." + stream.token + ");");
    code_.line("}");
    emit_rows(group);
    emit_replaces_token(group);
    emit_values(group);
    emit_free_rows(group);
    code_.outdent();
    code_.line("};");
  }

  void emit_states(const Mask& group) {
    code_.line("static constexpr StateRole states[] = {");
    std::vector<std::string> told;
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      if (!group[set]) continue;
      for (const auto& [state, event] : streams_[set]->states) {
        if (std::find(told.begin(), told.end(), state) != told.end()) continue;
        told.push_back(state);
        code_.line("    {" + literal(state) + ", StreamEvent::" + event_text(event) + "},");
      }
    }
    code_.line("};");
  }

  // A function of the result, whose statements differ between versions. `pieces_of` gives those of a set.
  template <class PiecesOf>
  void emit_member(const Mask& group, const std::string& begin, bool is_used, const PiecesOf& pieces_of) {
    std::vector<std::vector<Piece>> of_sets(sets_.size());
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      if (group[set]) of_sets[set] = pieces_of(set);
    }
    // Without a name where nothing is taken from it, or the compiler warns.
    code_.line(begin + (is_used ? "const Result& entry) {" : "const Result&) {"));
    code_.indent();
    emit_merged(code_, merge(of_sets), group, [&](const MergedPiece& piece) { return condition(piece.has, group); });
    code_.outdent();
    code_.line("}");
  }

  template <class Predicate>
  bool any_stream(const Mask& group, const Predicate& predicate) const {
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      if (group[set] && predicate(*streams_[set])) return true;
    }
    return false;
  }

  static Piece line_piece(const std::string& line) {
    return {line, [line](CodeText& code) { code.line(line); }};
  }

  void emit_rows(const Mask& group) {
    const bool has_rows = any_stream(group, [](const Stream& stream) { return !stream.rows.empty(); });
    emit_member(group, std::string("static void rows(ResultSink&") + (has_rows ? " sink, " : ", "), has_rows,
                [&](std::size_t set) {
                  std::vector<Piece> pieces;
                  for (const StreamRows& rows : streams_[set]->rows) pieces.push_back(lend_rows(sets_[set], rows));
                  return pieces;
                });
  }

  Piece lend_rows(const Api& api, const StreamRows& rows) const {
    const c::Record* result = c::find<c::Record>(api.header, api.stream(name_)->result);
    const NamedRecord record = record_of(api, *find_part(parts_of(api, *result, result->name), rows.field));
    const auto& array = std::get<meaning::Array>(api.role(record.path + "." + rows.values).meaning);
    const auto& counted = std::get<CountedBy>(array.length);
    const std::string columns = std::get<FieldRef>(counted.times.front()).name;
    const std::string entry = "entry." + rows.field + ".";
    const std::string aligned(17, ' ');
    const std::vector<std::string> lines = {
        "lend_rows(sink, {.field = " + literal(rows.field) + ",",
        aligned + ".values_name = " + literal(rows.values) + ",",
        aligned + ".rows_name = " + literal(counted.count) + ",",
        aligned + ".columns_name = " + literal(columns) + ",",
        aligned + ".values = " + entry + rows.values + ",",
        aligned + ".rows = static_cast<std::size_t>(" + entry + counted.count + "),",
        aligned + ".columns = static_cast<std::size_t>(" + entry + columns + ")});"};
    std::string key;
    for (const std::string& line : lines) key += line + "\n";
    return {key, [lines](CodeText& code) {
              for (const std::string& line : lines) code.line(line);
            }};
  }

  void emit_replaces_token(const Mask& group) {
    const auto replaces = [](const Stream& stream) {
      return std::any_of(stream.rows.begin(), stream.rows.end(), [](const auto& rows) { return rows.replaces_token; });
    };
    emit_member(group, "static bool replaces_token(", any_stream(group, replaces), [&](std::size_t set) {
      std::string text;
      for (const StreamRows& rows : streams_[set]->rows) {
        if (!rows.replaces_token) continue;
        text += (text.empty() ? "" : " || ") + ("entry." + rows.field) + "." + rows.values + " != nullptr";
      }
      return std::vector{line_piece("return " + (text.empty() ? "false" : text) + ";")};
    });
  }

  void emit_values(const Mask& group) {
    const bool is_used = any_stream(group, [](const Stream& stream) { return !stream.values.empty(); });
    emit_member(group, "static Json values(", is_used, [&](std::size_t set) {
      std::string values;
      for (const std::string& value : streams_[set]->values) {
        values += (values.empty() ? "{" : ", {") + literal(value) + ", encode(entry." + value + ")}";
      }
      for (const std::string& value : streams_[set]->unknown) {
        values += (values.empty() ? "{" : ", {") + literal(value) + ", nullptr}";
      }
      return std::vector{line_piece("return " + (values.empty() ? "nullptr" : "Json{" + values + "}") + ";")};
    });
  }

  // A number for each set.
  void emit_free_rows(const Mask& group) {
    std::string text;
    std::vector<int> told;
    for (std::size_t set = sets_.size(); set-- > 0;) {
      if (!group[set] || std::find(told.begin(), told.end(), streams_[set]->frees_rows) != told.end()) continue;
      const int number = streams_[set]->frees_rows;
      told.push_back(number);
      Mask has(sets_.size());
      for (std::size_t other = 0; other < sets_.size(); ++other) {
        has[other] = group[other] && streams_[other]->frees_rows == number;
      }
      const std::string only = condition(has, group);
      if (!text.empty()) text += " : ";
      text += only.empty() || count_of_answers(group) == told.size() ? std::to_string(number)
                                                                     : only + " ? " + std::to_string(number);
    }
    code_.line("static constexpr int free_rows = " + text + ";");
  }

  std::size_t count_of_answers(const Mask& group) const {
    std::vector<int> answers;
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      if (group[set]) answers.push_back(streams_[set]->frees_rows);
    }
    std::sort(answers.begin(), answers.end());
    return static_cast<std::size_t>(std::unique(answers.begin(), answers.end()) - answers.begin());
  }

  // The function, but for what makes it a template.
  std::string function_text(const Api& api) const {
    CodeText code;
    code.statement(signature_expression(api), " noexcept {");
    const auto* callback = c::find<c::Callback>(api.header, name_);
    code.indent();
    std::vector<Expression> arguments;
    for (const c::Param& param : callback->params) arguments.emplace_back(param.name);
    const std::string before = callback->returns.kind == c::TypeKind::kVoid ? "" : "return ";
    code.statement(Expression(before + "deliver<" + name_ + "Stream" + (is_shared_ ? "<Abi>" : "") + ">", arguments));
    code.outdent();
    code.line("}");
    return code.text();
  }

  Expression signature_expression(const Api& api) const {
    const auto* callback = c::find<c::Callback>(api.header, name_);
    std::vector<Expression> params;
    for (const c::Param& param : callback->params) {
      c::Param here = param;
      here.type = of_abi(api, param.type);
      params.emplace_back(declaration(here));
    }
    return {(is_shared_ ? "" : "inline ") + spelling(of_abi(api, callback->returns)) + " deliver_" + name_, params};
  }

  c::Type of_abi(const Api& api, c::Type type) const {
    if (!is_shared_) return type;
    if (!type.name.empty() && !is_known_everywhere(type.name))
      type.name = "typename Abi::" + shared_name(api, type.name);
    for (c::Type& target : type.target) target = of_abi(api, target);
    for (c::Type& param : type.params) param = of_abi(api, param);
    return type;
  }

  void emit_function(const Mask& group) {
    begin_template(group);
    const auto set = static_cast<std::size_t>(std::find(group.begin(), group.end(), true) - group.begin());
    code_.append(function_text(sets_[set]));
  }

  static std::string event_text(StreamEvent event) {
    switch (event) {
      case StreamEvent::kToken: return "kToken";
      case StreamEvent::kEnd: return "kEnd";
      case StreamEvent::kFailure: return "kFailure";
    }
    return {};
  }

  CodeText& code_;
  const std::vector<Api>& sets_;
  const bool is_shared_;
  const std::string name_;
  std::vector<const Stream*> streams_;  // for each set
  Mask mask_;                           // of those that have it
};

}  // namespace

void emit_stream(CodeText& code, const std::vector<Api>& sets, const std::string& callback) {
  StreamEmitter(code, sets, callback).emit();
}

}  // namespace bindgen
