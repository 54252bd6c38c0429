// Lists of models, in the words of those whose clients read them.
#include "chat/http/model_pages.hpp"

#include "support/catch.hpp"

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

TEST_CASE("where Ollama has strings and numbers there is no null, whatever is not known") {
  ModelDescription unknown;
  unknown.name = "something";
  const Json row = ollama_tags({unknown})["models"][0];
  CHECK(row["digest"] == "");
  CHECK(row["modified_at"] == "0001-01-01T00:00:00Z");
  CHECK(row["size"] == 0);
  unknown.state = ModelState::kLoaded;
  const Json running = ollama_running({unknown})["models"][0];
  CHECK(running["digest"] == "");
  CHECK(running["size"] == 0);
  for (const Json& page : {row, running, ollama_show(unknown)}) {
    for (const char* const name : {"format", "family", "parameter_size", "quantization_level"}) {
      INFO(name);
      CHECK(page["details"][name].is_string());
    }
  }
}

TEST_CASE("a profile takes no tools of its clients, and does not say that it does") {
  ModelDescription model;
  model.path = "/models/Qwen3-0.6B.rkllm";
  CHECK(ollama_show(model)["capabilities"] == Json{"completion", "tools", "thinking"});
  model.is_profile = true;
  CHECK(ollama_show(model)["capabilities"] == Json{"completion", "thinking"});
}

TEST_CASE("what is known of a model is listed") {
  ModelDescription model;
  model.name = "small";
  model.path = "/models/Qwen3-0.6B.rkllm";
  model.bytes = 5;
  model.modified_s = 0;
  model.sha256 = "ab";
  model.context = 4096;
  const Json row = ollama_tags({model})["models"][0];
  CHECK(row["digest"] == "ab");
  CHECK(row["modified_at"].get<std::string>().starts_with("1970-01-01T00:00:00"));
  CHECK(row["size"] == 5);
  CHECK(row["details"]["family"] == "qwen3");
  const Json shown = ollama_show(model);
  CHECK(shown["model_info"]["qwen3.context_length"] == 4096);
}
