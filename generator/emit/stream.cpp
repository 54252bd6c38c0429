#include "emit/stream.hpp"

#include "emit/parts.hpp"
#include "emit/wire_schema_parts.hpp"
#include "read/declaration.hpp"

#include <utility>

namespace bindgen {
namespace {

class StreamEmitter {
 public:
  StreamEmitter(BlockWriter& writer, const Api& api) : writer_(writer), code_(writer.code), api_(api) {}

  void emit(const Stream& stream) {
    const c::Callback* callback = c::find<c::Callback>(api_.header, stream.callback);
    const c::Record* result = c::find<c::Record>(api_.header, stream.result);
    const auto parts = parts_of(api_, *result, result->name);
    code_.comment_on(stream.callback, callback->documentation.text);
    code_.line("struct " + stream.callback + "Stream {");
    code_.indent();
    code_.line("using Result = " + stream.result + ";");
    code_.line("using State = " + stream.state + ";");
    code_.line("static constexpr StateRole<State> states[] = {");
    code_.indent();
    code_.indent();
    for (const auto& [state, event] : stream.states) {
      code_.line("{" + state + ", " + literal(state) + ", StreamEvent::" + event_text(event) + "},");
    }
    code_.outdent();
    code_.outdent();
    code_.line("};");
    code_.line("static void token(ResultSink& sink, std::size_t batch, const Result& entry) {");
    code_.line("  sink.on_token(batch, text_or_nothing(entry." + stream.text + "), entry." + stream.token + ");");
    code_.line("}");
    emit_rows(stream, parts);
    std::string values;
    for (const std::string& value : stream.values) {
      values += (values.empty() ? "{" : ", {") + literal(value) + ", encode(entry." + value + ")}";
    }
    for (const std::string& value : stream.unknown) {
      values += (values.empty() ? "{" : ", {") + literal(value) + ", nullptr}";
    }
    code_.line("static Json values(" + result_param(!stream.values.empty()) + ") { return " +
               (values.empty() ? "nullptr" : "Json{" + values + "}") + "; }");
    code_.line("static constexpr int free_rows = " + std::to_string(stream.frees_rows) + ";");
    code_.outdent();
    code_.line("};");
    std::vector<Expression> params;
    for (const c::Param& param : callback->params) params.emplace_back(declaration(param));
    code_.statement({"inline " + spelling(callback->returns) + " deliver_" + stream.callback, params}, " noexcept {");
    code_.indent();
    std::vector<Expression> arguments;
    for (const c::Param& param : callback->params) arguments.emplace_back(param.name);
    const std::string before = callback->returns.kind == c::TypeKind::kVoid ? "" : "return ";
    code_.statement(Expression(before + "deliver<" + stream.callback + "Stream>", std::move(arguments)));
    code_.outdent();
    code_.line("}");
    const std::string deliver = "deliver_" + stream.callback;
    writer_.finish(stream.callback, {deliver, stream.callback + "Stream"}, {"using %::" + deliver + ";"});
  }

 private:
  void emit_rows(const Stream& stream, const std::vector<Part>& parts) {
    const bool has_rows = !stream.rows.empty();
    code_.line(std::string("static void rows(ResultSink&") + (has_rows ? " sink" : "") + ", " + result_param(has_rows) +
               ") {");
    code_.indent();
    std::string replaces;
    for (const StreamRows& rows : stream.rows) {
      const NamedRecord record = record_of(api_, *find_part(parts, rows.field));
      const auto& array = std::get<meaning::Array>(api_.role(record.path + "." + rows.values).meaning);
      const auto& counted = std::get<CountedBy>(array.length);
      const std::string columns = std::get<FieldRef>(counted.times.front()).name;
      const std::string entry = "entry." + rows.field + ".";
      code_.line("lend_rows(sink, {.field = " + literal(rows.field) + ",");
      const std::string aligned(17, ' ');
      code_.line(aligned + ".values_name = " + literal(rows.values) + ",");
      code_.line(aligned + ".rows_name = " + literal(counted.count) + ",");
      code_.line(aligned + ".columns_name = " + literal(columns) + ",");
      code_.line(aligned + ".values = " + entry + rows.values + ",");
      code_.line(aligned + ".rows = static_cast<std::size_t>(" + entry + counted.count + "),");
      code_.line(aligned + ".columns = static_cast<std::size_t>(" + entry + columns + ")});");
      if (rows.replaces_token) replaces += (replaces.empty() ? "" : " || ") + entry + rows.values + " != nullptr";
    }
    code_.outdent();
    code_.line("}");
    code_.line("static bool replaces_token(" + result_param(!replaces.empty()) + ") { return " +
               (replaces.empty() ? "false" : replaces) + "; }");
  }

  // Without a name where nothing is taken from it, or the compiler warns.
  static std::string result_param(bool is_used) { return is_used ? "const Result& entry" : "const Result&"; }

  static std::string event_text(StreamEvent event) {
    switch (event) {
      case StreamEvent::kToken: return "kToken";
      case StreamEvent::kEnd: return "kEnd";
      case StreamEvent::kFailure: return "kFailure";
    }
    return {};
  }

  BlockWriter& writer_;
  CodeText& code_;
  const Api& api_;
};

}  // namespace

void emit_stream(BlockWriter& writer, const Api& api, const Stream& stream) { StreamEmitter(writer, api).emit(stream); }

}  // namespace bindgen
