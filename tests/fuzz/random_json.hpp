// Documents that are nearly right, and some that are nothing of the kind. The seed is fixed, so a failure comes again.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <random>

namespace rkllm_mcp::test {

class RandomJson {
 public:
  // Like the schema in most places, and anything in some.
  Json like(const Json& schema) { return like(schema, schema); }
  // The sample with some places changed or left out.
  Json near(const Json& sample);
  Json anything(int depth);

  bool one_in(std::size_t n) { return number_below(n) == 0; }
  Json pick(const Json& choices) { return choices.at(number_below(choices.size())); }

 private:
  Json like(const Json& schema, const Json& root);
  Json object_like(const Json& schema, const Json& root);
  void obey(const Json& rule, const Json& schema, const Json& root, Json& object);
  std::size_t number_below(std::size_t end) { return engine_() % end; }

  std::mt19937 engine_{20240229};
};

}  // namespace rkllm_mcp::test
