// A C header of any size, and the overlay that answers for it: enumerators, macros, structs and functions as
// rkllm.h has them, over and over under other names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

struct MadeUpHeader {
  std::string header;
  std::string overlay;
};

// The text with every $ replaced.
inline std::string with_name(std::string_view text, const std::string& name) {
  std::string result;
  for (const char character : text) {
    if (character == '$')
      result += name;
    else
      result += character;
  }
  return result;
}

// The least that has `bytes` of header.
inline MadeUpHeader make_up_header(std::size_t bytes) {
  constexpr std::string_view kDeclarations = R"(
/** The largest number of these. */
#define $_most 100

/** How it is done. */
typedef enum {
  $_fast = 0, /**< Soon. */
  $_slow = 1, /**< With care. */
} $_mode;

/** What it is done with. */
typedef struct {
  int32_t count;    /**< How many there are, of those that are counted. */
  float ratio;      /**< How much of them, from 0 to 1. */
  bool is_first;    /**< True: nothing has been done before. */
  const char* path; /**< The file that it is read from. */
  $_mode mode;      /**< How. */
} $_param;

/**
 * Does it.
 *
 * @param number How often.
 * @param param With what.
 * @return 0 on success.
 */
int $_do(int32_t number, $_param* param);
)";
  constexpr std::string_view kAnswers = R"(
    {"for": "$_param.path", "quote": "const char* path", "text": {}},
    {"for": "$_do.param", "quote": "$_param* param", "object": {}})";

  MadeUpHeader made{"#include <stdbool.h>\n#include <stdint.h>\n", ""};
  for (int i = 0; made.header.size() < bytes; ++i) {
    const std::string name = "made_up_" + std::to_string(i);
    made.header += with_name(kDeclarations, name);
    made.overlay += (i == 0 ? "" : ",") + with_name(kAnswers, name);
  }
  made.overlay = R"({
  "output": {"namespace": "made_up", "include": "made_up"},
  "returns": {"int": {"status": {}}},
  "entries": [)" +
                 made.overlay + "]\n}\n";
  return made;
}
