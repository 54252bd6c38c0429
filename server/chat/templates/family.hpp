// A family of models: how its conversations are written, and how its answers are read. All of it is data, one JSON file
// for each family in this folder, since the families differ in words and order and in little else.
//
// Texts have holes: "${content}". A file says only what differs from the family that it is `like`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::chat {

// How a family marks what it thinks.
struct ThinkingForm {
  std::string open{};        // "<think>"; empty: the family does not think
  std::string close{};       // "</think>"
  std::string history{};     // ${thinking}: before the content of an assistant's message; empty: never written again
  std::string on{};          // behind the beginning of the answer, where it thinks
  std::string off{};         // behind the beginning of the answer, where it must not think; empty: it cannot be told
  bool on_by_itself = true;  // it thinks if nobody says anything
};

// Where the definitions of tools stand.
enum class ToolPosition { kInSystem, kOwnTurn, kInFirstUser };

// How calls are written in an answer.
enum class CallSyntax {
  kTagged,  // open, JSON {name, arguments} or an array of them, close
  kBare,    // the answer is JSON {name, arguments}, or several of them
  kNamed,   // open, a kind, separator, the name, a line end, JSON of the arguments in a code fence, close
};

struct ToolForm {
  ToolPosition position = ToolPosition::kInSystem;
  std::string definitions{};    // ${tools}
  std::string before_system{};  // wherever the definitions stand
  std::string after_system{};   // between the system text and the definitions
  bool bare_functions = false;  // {"name",...} instead of {"type":"function","function":{"name",...}}
  unsigned indent = 0;          // of each definition's JSON; 0: one line
  std::string between_tools{};

  // How calls of the past are written, behind the assistant's content.
  std::string calls{};          // ${calls}
  std::string after_content{};  // between the content, if there is some, and the first call
  std::string call{};           // ${name} (as JSON), ${plain_name}, ${arguments}
  std::string between_calls{};

  // How results are written. All results in a row make one turn.
  std::string results{};  // ${results}; empty: as a user's message
  std::string result{};   // ${content} or ${content_json}, ${name}
  std::string between_results{};

  // Beginnings of an answer that must be a call.
  std::string forced{};        // to any tool; empty: cannot be forced
  std::string forced_named{};  // ${name} (as JSON), ${plain_name}

  CallSyntax syntax = CallSyntax::kTagged;
  std::string open{};
  std::string close{};
  std::string separator{};      // kNamed
  std::string arguments_key{};  // "arguments" or "parameters"; both are understood
};

struct Family {
  std::string name;
  std::string title;
  std::vector<std::string> model_names{};  // patterns, "qwen3*instruct2507", over names without case and separators

  // What a tokenizer may take for more than text: made harmless in what others have written, left out of answers.
  std::vector<std::string> special_tokens{};
  std::vector<std::pair<std::string, std::string>> special_brackets{};  // {"<|","|>"}: so does any word between these
  // The special tokens that come in answers where the model shows them, and mean nothing there: above all the one that
  // ends an answer.
  std::vector<std::string> tokens_in_answers{};
  bool calls_are_special = false;  // marked by special tokens: the model has to show those (skip_special_token=false)

  bool trim_content = false;              // space around what is said, results of tools excepted
  bool trim_system = true;                // with trim_content: of system text, too
  std::string default_system{};           // where a conversation has no system text
  std::string system{};                   // ${content}; empty: the family has no such role
  std::string system_before_user{};       // ${content}: then it goes before the next user's content
  std::string user{};                     // ${content}
  std::string assistant{};                // ${content}
  std::string assistant_after_results{};  // ${content}, behind results of tools; empty: like `assistant`
  std::string answer{};                   // the beginning of an answer
  bool no_answer_after_results = false;   // behind results of tools nothing marks it
  ThinkingForm thinking{};
  ToolForm tools{};
};

// Reads all families of a set of files: pairs of a name and its JSON text. Throws std::runtime_error that names the
// file and what is wrong with it: unknown members and holes, too, since a misspelt one would be a wrong prompt for
// ever.
std::vector<Family> read_families(const std::vector<std::pair<std::string_view, std::string_view>>& files);

// `text` with its holes filled. A hole that is not among `values` stays as it is.
std::string filled(std::string_view text, const std::vector<std::pair<std::string_view, std::string_view>>& values);

// The template files of this folder, compiled in: the name of the family and JSON text, for each.
std::vector<std::pair<std::string_view, std::string_view>> template_files();

// Sorted by name; they live as long as the program.
std::span<const Family> built_in_families();

// By its own name ("qwen3"), as presets give it; null if there is none.
const Family* find_family(std::span<const Family> families, std::string_view name);

// By a model file's name, e.g. "Qwen2.5-1.5B-Instruct_W8A8_RK3588.rkllm": the family whose pattern says most about it.
// Case and separators do not matter. Null if no pattern fits: then only the model's own template is known to be right.
const Family* family_of_file(std::span<const Family> families, std::string_view file_name);

// The built-in family of a model: the one that `template_name` names (models.NAME.template), else the one that its
// file's name tells. Null: that is not known, or there is none of that name.
const Family* family_of_model(std::string_view template_name, std::string_view path);

}  // namespace rkllm_mcp::chat
