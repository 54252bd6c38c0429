#include "emit/blocks.hpp"

#include "emit/parts.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace bindgen {
namespace {

constexpr char kBeforeSymbol = '\x01';
constexpr char kAfterSymbol = '\x02';

bool begins_name(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_in_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }

// Every name in C++ text but those in comments and in strings.
std::set<std::string> names_in(std::string_view text) {
  std::set<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.substr(0, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (rest.front() == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1U : 0U;
      ++at;
    } else if (rest.substr(0, 2) == "R\"") {
      const auto open = rest.find('(');
      const std::string close = ")" + std::string(rest.substr(2, open - 2)) + "\"";
      at += rest.find(close) + close.size();
    } else if (begins_name(rest.front())) {
      std::size_t end = 1;
      while (end < rest.size() && is_in_name(rest[end])) ++end;
      names.insert(std::string(rest.substr(0, end)));
      at += end;
    } else {
      ++at;
    }
  }
  return names;
}

// Everything that one set says about one declaration, in all files.
struct Told {
  std::string text;
  std::set<std::string> leans_on;  // other declarations
};

std::map<std::string, Told> told_by(const std::vector<BlockFile>& block_files) {
  std::map<std::string, Told> told;
  std::map<std::string, std::string> symbol_of;  // by name that a block defines
  for (const BlockFile& file : block_files) {
    for (const Block& block : file.blocks) {
      if (block.symbol.empty()) continue;
      told[block.symbol].text += file.name + "\n" + block.text;
      for (const std::string& name : block.names) symbol_of[name] = block.symbol;
    }
  }
  for (auto& [symbol, declaration] : told) {
    for (const std::string& name : names_in(declaration.text)) {
      const auto found = symbol_of.find(name);
      if (found != symbol_of.end() && found->second != symbol) declaration.leans_on.insert(found->second);
    }
  }
  return told;
}

// Which set owns each declaration of each set, by index.
using Owners = std::vector<std::map<std::string, std::size_t>>;

// Declarations are taken from an older set as long as the text is the same; then those are given back that lean on
// something that is not taken from the same set, until none is left.
Owners owners_of(const std::vector<std::map<std::string, Told>>& told) {
  Owners owners(told.size());
  for (std::size_t set = 0; set < told.size(); ++set) {
    for (const auto& [symbol, declaration] : told[set]) owners[set][symbol] = set;
    std::map<std::string, std::size_t> next;  // the next older set to try, by symbol
    const auto try_next = [&](const std::string& symbol, const Told& declaration) {
      std::size_t& older = next[symbol];
      for (; older < set; ++older) {
        const auto there = told[older].find(symbol);
        if (there == told[older].end() || there->second.text != declaration.text) continue;
        if (owners[older].at(symbol) == older) break;
      }
      owners[set][symbol] = older;
      ++older;
    };
    for (const auto& [symbol, declaration] : told[set]) try_next(symbol, declaration);
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [symbol, declaration] : told[set]) {
        const std::size_t owner = owners[set][symbol];
        if (owner == set) continue;
        for (const std::string& other : declaration.leans_on) {
          const auto there = owners[owner].find(other);
          if (there != owners[owner].end() && there->second == owners[set][other]) continue;
          try_next(symbol, declaration);
          changed = true;
          break;
        }
      }
    }
  }
  return owners;
}

std::string with(std::string text, char hole, const std::string& filling) {
  for (auto at = text.find(hole); at != std::string::npos; at = text.find(hole, at + filling.size())) {
    text.replace(at, 1, filling);
  }
  return text;
}

// One file of one set.
class Rendering {
 public:
  Rendering(const std::vector<Api>& sets, std::size_t set, const std::vector<BlockFile>& files, const Owners& owners)
      : sets_(sets), set_(set), files_(files), owners_(owners) {}

  // No file where the set has nothing of its own and nothing that it takes by name.
  std::optional<File> file(const BlockFile& file) const {
    if (is_empty(file)) return std::nullopt;
    std::string body;
    bool after_taken = false;
    for (const Block& block : file.blocks) {
      const std::size_t owner = owner_of(block.symbol);
      if (owner == set_) {
        body += "\n" + qualified(block.text);
        after_taken = false;
        continue;
      }
      if (!block.taken.empty() && !std::exchange(after_taken, true)) body += "\n";
      for (const std::string& line : block.taken) body += with(line, '%', set_name(sets_[owner])) + "\n";
    }
    CodeText head;
    begin_header(head, sets_[set_], file.about, with_owners(file));
    CodeText end;
    end_header(end, sets_[set_]);
    return File{header_path(sets_[set_], file.name), head.text() + body + end.text()};
  }

 private:
  std::size_t owner_of(const std::string& symbol) const { return symbol.empty() ? set_ : owners_[set_].at(symbol); }

  bool is_empty(const BlockFile& file) const {
    return std::all_of(file.blocks.begin(), file.blocks.end(),
                       [&](const Block& block) { return owner_of(block.symbol) != set_ && block.taken.empty(); });
  }

  // The files of this name of every other set that something is taken from.
  std::vector<std::string> owners_of_file(const BlockFile& file) const {
    std::set<std::size_t> owners;
    for (const Block& block : file.blocks) owners.insert(owner_of(block.symbol));
    owners.erase(set_);
    std::vector<std::string> includes;
    for (const std::size_t owner : owners) includes.push_back(set_include(sets_[owner], file.name));
    return includes;
  }

  // What stands for this #include: itself, unless it is a file of this set that is not written.
  std::vector<std::string> written(const std::string& include) const {
    for (const BlockFile& file : files_) {
      if (include == set_include(sets_[set_], file.name) && is_empty(file)) return owners_of_file(file);
    }
    return {include};
  }

  // The own #includes, with those of the owners among them, and then those of the standard library.
  std::vector<std::string> with_owners(const BlockFile& file) const {
    const std::vector<std::string> owners = owners_of_file(file);
    std::set<std::string> own(owners.begin(), owners.end());
    std::vector<std::string> standard;
    for (const std::string& include : file.includes) {
      if (include.find('/') == std::string::npos) {
        standard.push_back(include);
      } else {
        for (std::string& one : written(include)) own.insert(std::move(one));
      }
    }
    std::vector<std::string> includes(own.begin(), own.end());
    includes.insert(includes.end(), standard.begin(), standard.end());
    return includes;
  }

  std::string qualified(const std::string& text) const {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] != kBeforeSymbol) {
        result += text[at];
        continue;
      }
      const auto end = text.find(kAfterSymbol, at);
      const std::size_t owner = owner_of(text.substr(at + 1, end - at - 1));
      if (owner != set_) result += set_name(sets_[owner]) + "::";
      at = end;
    }
    return result;
  }

  const std::vector<Api>& sets_;
  const std::size_t set_;
  const std::vector<BlockFile>& files_;
  const Owners& owners_;
};

}  // namespace

void BlockWriter::finish(const std::string& symbol, std::vector<std::string> names, std::vector<std::string> taken) {
  if (code.text().empty()) return;
  file_.blocks.push_back({symbol, code.text(), std::move(names), std::move(taken)});
  code = CodeText();
}

std::string qualifier(const std::string& symbol) { return kBeforeSymbol + symbol + kAfterSymbol; }

std::vector<File> render(const std::vector<Api>& sets, const std::vector<std::vector<BlockFile>>& files_of_sets) {
  std::vector<std::map<std::string, Told>> told;
  for (const auto& of_set : files_of_sets) told.push_back(told_by(of_set));
  const Owners owners = owners_of(told);
  std::vector<File> files;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    const Rendering rendering(sets, set, files_of_sets[set], owners);
    for (const BlockFile& file : files_of_sets[set]) {
      if (auto rendered = rendering.file(file)) files.push_back(std::move(*rendered));
    }
  }
  return files;
}

}  // namespace bindgen
