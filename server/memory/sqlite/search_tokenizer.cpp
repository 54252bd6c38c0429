#include "memory/sqlite/search_tokenizer.hpp"

#include "memory/folding.hpp"

#include <array>
#include <memory>
#include <new>

namespace rkllm_mcp::memory {
namespace {

constexpr char kMark = '\x01';

// Words are cut at everything that is no letter, digit or mark; case is folded, diacritics are left to us.
Fts5Tokenizer* make_unicode(const SearchTokenizer& tokenizer) {
  std::array<const char*, 2> arguments{"remove_diacritics", "0"};
  Fts5Tokenizer* made = nullptr;
  const int code = tokenizer.unicode().xCreate(tokenizer.unicode_context(), arguments.data(),
                                               static_cast<int>(arguments.size()), &made);
  return code == SQLITE_OK ? made : nullptr;
}

// One use of the tokenizer: of a table, or of words_of().
struct Words {
  const SearchTokenizer& tokenizer;
  Fts5Tokenizer* unicode;

  explicit Words(const SearchTokenizer& made_by) : tokenizer(made_by), unicode(make_unicode(made_by)) {}
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() {
    if (unicode != nullptr) tokenizer.unicode().xDelete(unicode);
  }
};

using TokenFunction = int (*)(void*, int, const char*, int, int, int);

// What the inner tokenizer calls for each word.
struct Passing {
  void* context;
  TokenFunction token;
  bool is_query;
  bool folds;
};

int emit(const Passing& passing, int flags, const std::string& word, int start, int end) {
  return passing.token(passing.context, flags, word.data(), static_cast<int>(word.size()), start, end);
}

// No exception may pass through SQLite.
int pass_word(void* context, int /*flags*/, const char* text, int length, int start, int end) {
  const auto& passing = *static_cast<const Passing*>(context);
  try {
    const auto [with, without] = spellings_of({text, static_cast<std::size_t>(length)});
    if (passing.is_query) {
      if (!passing.folds) return emit(passing, 0, with, start, end);
      const int code = emit(passing, 0, without, start, end);
      return code != SQLITE_OK ? code : emit(passing, FTS5_TOKEN_COLOCATED, kMark + without, start, end);
    }
    const int code = emit(passing, 0, with, start, end);
    if (code != SQLITE_OK || with == without) return code;
    return emit(passing, FTS5_TOKEN_COLOCATED, kMark + without, start, end);
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

int create(void* context, const char** /*arguments*/, int /*count*/, Fts5Tokenizer** made) {
  auto words = std::unique_ptr<Words>(new (std::nothrow) Words(*static_cast<const SearchTokenizer*>(context)));
  if (!words || words->unicode == nullptr) return SQLITE_NOMEM;
  *made = reinterpret_cast<Fts5Tokenizer*>(words.release());
  return SQLITE_OK;
}

void destroy(Fts5Tokenizer* tokenizer) { delete reinterpret_cast<Words*>(tokenizer); }

int tokenize(Fts5Tokenizer* tokenizer, void* context, int flags, const char* text, int length, TokenFunction token) {
  const auto& words = *reinterpret_cast<const Words*>(tokenizer);
  Passing passing{context, token, (flags & FTS5_TOKENIZE_QUERY) != 0, words.tokenizer.folds_queries()};
  return words.tokenizer.unicode().xTokenize(words.unicode, &passing, flags, text, length, pass_word);
}

int keep_word(void* context, int /*flags*/, const char* text, int length, int /*start*/, int /*end*/) {
  try {
    static_cast<std::vector<std::string>*>(context)->emplace_back(text, static_cast<std::size_t>(length));
    return SQLITE_OK;
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

fts5_api* full_text_search_of(Connection& db) {
  fts5_api* api = nullptr;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db.raw(), "SELECT fts5(?1)", -1, &statement, nullptr) == SQLITE_OK) {
    sqlite3_bind_pointer(statement, 1, static_cast<void*>(&api), "fts5_api_ptr", nullptr);
    sqlite3_step(statement);
  }
  sqlite3_finalize(statement);
  return api;
}

}  // namespace

void SearchTokenizer::add_to(Connection& db) {
  fts5_api* const api = full_text_search_of(db);
  if (api == nullptr || api->xFindTokenizer(api, "unicode61", &unicode_context_, &unicode_) != SQLITE_OK) {
    throw StoreError(StoreError::Kind::kUnavailable, "this SQLite has no full-text search (FTS5)");
  }
  fts5_tokenizer ours{create, destroy, tokenize};
  const int code = api->xCreateTokenizer(api, kTokenizer, static_cast<void*>(this), &ours, nullptr);
  if (code != SQLITE_OK) db.fail(code);
}

std::vector<std::string> SearchTokenizer::words_of(std::string_view text) const {
  std::vector<std::string> words;
  const Words use(*this);
  if (use.unicode == nullptr) throw std::bad_alloc();
  const int code = unicode_.xTokenize(use.unicode, &words, FTS5_TOKENIZE_QUERY, text.data(),
                                      static_cast<int>(text.size()), keep_word);
  if (code == SQLITE_NOMEM) throw std::bad_alloc();
  return words;
}

}  // namespace rkllm_mcp::memory
