// What people write for a model, which file of a repository is meant, and which proxy is used.
#include "pull/model_source.hpp"
#include "pull/hub.hpp"
#include "pull/model_file_name.hpp"
#include "pull/web_get.hpp"
#include "support/catch.hpp"

#include <map>
#include <stdexcept>

using namespace rkllm_mcp;
using rkllm_mcp::test::has_text;

namespace {

const Url kHub = parse_url("https://huggingface.co");

}  // namespace

TEST_CASE("a repository of the hub is written in several ways") {
  for (const char* const text : {"hf.co/acme/tiny", "https://hf.co/acme/tiny", "https://huggingface.co/acme/tiny",
                                 "huggingface.co/acme/tiny/", "https://huggingface.co/acme/tiny/tree/main"}) {
    INFO(text);
    const auto source = parse_model_source(text, kHub);
    CHECK(source.repository == "acme/tiny");
    CHECK(source.file.empty());
    CHECK_FALSE(source.url);
  }
  for (const char* const text :
       {"hf.co/acme/tiny:sub/a.rkllm", "https://huggingface.co/acme/tiny/blob/main/sub/a.rkllm",
        "https://hf.co/acme/tiny/resolve/main/sub/a.rkllm?download=true"}) {
    INFO(text);
    const auto source = parse_model_source(text, kHub);
    CHECK(source.repository == "acme/tiny");
    CHECK(source.file == "sub/a.rkllm");
  }
  const auto of_branch = parse_model_source("https://hf.co/acme/tiny/resolve/v1.0/a%20b.rkllm", kHub);
  CHECK(of_branch.revision == "v1.0");
  CHECK(of_branch.file == "a b.rkllm");
  CHECK(parse_model_source("hub.example:8443/acme/tiny", parse_url("https://hub.example:8443")).repository ==
        "acme/tiny");
}

TEST_CASE("the address of a file is one of a model") {
  const auto source = parse_model_source("https://example.org/models/a%20b.rkllm?key=1", kHub);
  REQUIRE(source.url);
  CHECK(source.repository.empty());
  CHECK(file_name_of(source.url->target) == "a%20b.rkllm");
}

TEST_CASE("what names no model is refused, and the complaint says what can be written") {
  for (const char* const text :
       {"", "qwen", "hf.co/", "hf.co/acme", "hf.co/acme/tiny/x", "hf.co/../tiny", "hf.co/acme/..",
        "hf.co/acme/tiny:a.gguf", "hf.co/acme/tiny:.rkllm", "https://example.org/a.gguf", "https://example.org/",
        "ftp://example.org/a.rkllm", "hf.co/acme/tiny:..", "https://example.org/x/.hidden.rkllm", "hf.co/ac me/tiny"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_model_source(text, kHub), std::invalid_argument);
  }
  CHECK_THROWS_WITH(parse_model_source("qwen", kHub), has_text("hf.co/OWNER/NAME"));
}

TEST_CASE("the file is chosen that is for this board and fits its memory") {
  const std::vector<HubFile> files{{"tiny-RK3576.rkllm", 100, {}, kHub},
                                   {"tiny-rk3588-long.rkllm", 4000, {}, kHub},
                                   {"tiny-rk3588.rkllm", 100, {}, kHub}};
  CHECK(choose_model(files, "", {"rk3588", 1000}, "a/b").name == "tiny-rk3588.rkllm");
  CHECK(choose_model(files, "", {"rk3576", 1000}, "a/b").name == "tiny-RK3576.rkllm");
  CHECK(choose_model(files, "tiny-rk3588-long.rkllm", {"rk3576", 1000}, "a/b").name == "tiny-rk3588-long.rkllm");
  CHECK_THROWS_WITH(choose_model(files, "", {"", 10'000}, "a/b"),
                    has_text("several") && has_text("tiny-rk3588-long.rkllm") && has_text("name one: hf.co/a/b:"));
  CHECK_THROWS_WITH(choose_model(files, "", {"rk3562", 1000}, "a/b"), has_text("nothing for this board (rk3562)"));
  CHECK_THROWS_WITH(choose_model(files, "other.rkllm", {}, "a/b"), has_text("no file other.rkllm; it has:"));
  CHECK_THROWS_WITH(choose_model({}, "", {}, "a/b"), has_text("no .rkllm files"));
}

TEST_CASE("the list shows which file is taken, and what speaks against the others") {
  const std::vector<HubFile> files{{"tiny-RK3576.rkllm", 100, {}, kHub},
                                   {"tiny-rk3588-long.rkllm", 4000, {}, kHub},
                                   {"tiny-rk3588.rkllm", 100, {}, kHub}};
  const BoardFacts board{"rk3588", 1000};
  CHECK(words_of_choice(files, choose_model(files, "", board, "a/b"), board, "a/b") ==
        "a/b has 3 models:\n"
        "  tiny-RK3576.rkllm, 100 bytes  (for rk3576)\n"
        "  tiny-rk3588-long.rkllm, 4000 bytes  (larger than the memory of 1000 bytes)\n"
        "* tiny-rk3588.rkllm, 100 bytes  (for this board, rk3588)\n"
        "To have another, name it: hf.co/a/b:FILE");
}

TEST_CASE("of several files for a board the largest is taken that leaves memory, and the list says so") {
  const BoardFacts board{"rk3588", 1000};
  const auto taken = [&board](const std::vector<HubFile>& files) { return choose_model(files, "", board, "a/b").name; };
  const HubFile small{"x-rk3588-small.rkllm", 300, {}, kHub};
  const HubFile large{"x-rk3588-w8a8.rkllm", 750, {}, kHub};
  const HubFile tight{"x-rk3588-huge.rkllm", 900, {}, kHub};
  const HubFile for_any{"x.rkllm", 700, {}, kHub};
  const HubFile unknown{"x-rk3588-more.rkllm", {}, {}, kHub};
  CHECK(taken({small, tight, large, for_any, unknown}) == large.name);
  CHECK(taken({tight, small, for_any}) == small.name);
  CHECK(taken({tight, for_any}) == tight.name);
  CHECK(taken({tight, unknown}) == unknown.name);
  CHECK(taken({{"x-rk3588-a.rkllm", 990, {}, kHub}, tight}) == tight.name);
  CHECK(taken({{"x-rk3588-1.1.4.rkllm", 9, {}, kHub}, {"x-rk3588-1.2.1.rkllm", 9, {}, kHub}}) ==
        "x-rk3588-1.2.1.rkllm");
  const std::vector<HubFile> files{small, tight, large};
  CHECK(words_of_choice(files, files[2], board, "a/b") ==
        "a/b has 3 models:\n"
        "  x-rk3588-small.rkllm, 300 bytes\n"
        "  x-rk3588-huge.rkllm, 900 bytes\n"
        "* x-rk3588-w8a8.rkllm, 750 bytes  (for this board, rk3588: the largest that leaves a quarter of the memory)\n"
        "To have another, name it: hf.co/a/b:FILE");
}

TEST_CASE("the list's reason for the choice is what has decided") {
  const BoardFacts board{"rk3588", 1000};
  const auto reason = [](const std::vector<HubFile>& files, const BoardFacts& of) {
    const std::string words = words_of_choice(files, choose_model(files, "", of, "a/b"), of, "a/b");
    const auto begin = words.find("(for this board, rk3588: ") + std::string("(for this board, rk3588: ").size();
    return words.substr(begin, words.find(')', begin) - begin);
  };
  const HubFile small{"x-rk3588-small.rkllm", 300, {}, kHub};
  const HubFile smaller{"x-rk3588-tiny.rkllm", 200, {}, kHub};
  const HubFile tight{"x-rk3588-huge.rkllm", 900, {}, kHub};
  const HubFile for_any{"x.rkllm", 700, {}, kHub};
  const HubFile unknown{"x-rk3588-more.rkllm", {}, {}, kHub};
  const HubFile also_unknown{"x-rk3588-most.rkllm", {}, {}, kHub};
  CHECK(reason({small, for_any}, board) == "the only one that names the chip");
  CHECK(reason({small, smaller, for_any}, board) ==
        "of those that name the chip the largest that leaves a quarter of the memory");
  CHECK(reason({tight, unknown}, board) == "one whose size is not known; the others leave little memory");
  CHECK(reason({unknown, also_unknown}, board) == "one whose size is not known");
  CHECK(reason({small, unknown}, board) == "the largest of known size that leaves a quarter of the memory");
  CHECK(reason({{"x-rk3588-a.rkllm", 990, {}, kHub}, tight}, board) == "the smallest, which leaves little memory");
  CHECK(reason({small, tight}, {"rk3588", {}}) == "the largest");
  CHECK(reason({small, unknown}, {"rk3588", {}}) == "the largest of known size");
}

TEST_CASE("where the hub tells no size, the name tells how large a model is at least") {
  CHECK(least_bytes_in("Qwen2.5-7B-Instruct-rk3588-w8a8_g128-opt-1.rkllm") == 7'000'000'000);
  CHECK(least_bytes_in("qwen3-0.6b-rk3576-W4A16.rkllm") == 300'000'000);
  CHECK(least_bytes_in("w8a8/SmolLM-135M_w8a8.rkllm") == 135'000'000);
  CHECK(least_bytes_in("x-w8a8-1.5B.rkllm") == 1'500'000'000);
  CHECK(least_bytes_in("InternLM2_1_8b_w8a8.rkllm") == 1'800'000'000);  // a point is none in some names
  CHECK(least_bytes_in("qwen_0_5B-w8a8.rkllm") == 500'000'000);
  CHECK(least_bytes_in("1_8b-w8a8.rkllm") == 1'800'000'000);
  CHECK(least_bytes_in("qwen3_8b_w8a8.rkllm") == 8'000'000'000);
  CHECK(least_bytes_in("Llama_3_2_1B-w8a8.rkllm") == 1'000'000'000);  // or it is the model's release
  for (const char* const name : {"Qwen2.5-7B-rk3588.rkllm", "x-rk3588-w8a8_v1.2.1b1.rkllm", "8x7B-w8a8.rkllm",
                                 "30A3B-w8a8.rkllm", "7B-w8a8x.rkllm", ""}) {
    INFO(name);
    CHECK_FALSE(least_bytes_in(name));
  }
  const std::vector<HubFile> files{{"x-7B-rk3588-w8a8.rkllm", {}, {}, kHub},
                                   {"x-1.5B-rk3588-w8a8.rkllm", {}, {}, kHub}};
  const BoardFacts board{"rk3588", 4'000'000'000};
  CHECK(choose_model(files, "", board, "a/b").name == files[1].name);
  CHECK(words_of_choice(files, files[1], board, "a/b") ==
        "a/b has 2 models:\n"
        "  x-7B-rk3588-w8a8.rkllm, at least 7.0 GB by its name  (larger than the memory of 4.0 GB, by its name)\n"
        "* x-1.5B-rk3588-w8a8.rkllm, at least 1.5 GB by its name  (for this board, rk3588)\n"
        "To have another, name it: hf.co/a/b:FILE");
}

TEST_CASE("what speaks against a file is known by its name and size, also where it was named") {
  const BoardFacts board{"rk3588", 1000};
  HubFile file{"x-rk3576.rkllm", {}, {}, {}};
  CHECK(why_not(file, board) == "for rk3576");
  file.name = "x-rk3588.rkllm";
  CHECK(why_not(file, board).empty());
  file.bytes = 1001;
  CHECK_THAT(why_not(file, board), has_text("larger than the memory of 1000 bytes"));
}

TEST_CASE("the chip stands in the name, however it is written") {
  CHECK(chip_in_name("Qwen3-1.7B-RK3588-w8a8.rkllm") == "rk3588");
  CHECK(chip_in_name("x_rv1126b.rkllm") == "rv1126b");
  CHECK_FALSE(chip_in_name("x.rkllm"));
}

TEST_CASE("the toolkit's release stands in the name, and is neither a date nor the model's own version") {
  CHECK(release_in("Qwen2.5-1.5B-rk3588-w8a8_1.2.1.rkllm") == Release{1, 2, 1});
  CHECK(release_in("Qwen3-1.7B-v1.2.1b1-rk3588.rkllm") == Release{1, 2, 1});
  CHECK(release_in("Qwen3-rk3588-V1.10.0") == Release{1, 10, 0});
  CHECK(release_in("1.10.0") == Release{1, 10, 0});
  CHECK(release_in("chat-v1.5.0-rk3588-w8a8_1.2.1.rkllm") == Release{1, 2, 1});
  for (const char* const name :
       {"Qwen2.5-1.5B-rk3588.rkllm", "x.rkllm", "", "1.2.3.4", "1..2", "99999999999.1.1", "1.2.", "qwen3-2025.07.10",
        "qwen3-20250710", "qwen3-1.2025.07", "granite-3.1.2-rk3588.rkllm", "Phi1.5.0.rkllm", "x-25.07.10"}) {
    INFO(name);
    CHECK_FALSE(release_in(name));
  }
}

TEST_CASE("the proxies of the environment are used, but not for hosts that are exempt") {
  std::map<std::string, std::string> environment{{"https_proxy", "http://proxy.example:3128"},
                                                 {"no_proxy", "localhost, .inside.example"}};
  const auto variable = [&environment](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
  const auto proxy = proxy_for(parse_url("https://hub.example/x"), variable);
  REQUIRE(proxy);
  CHECK(proxy->host == "proxy.example");
  CHECK(proxy->port == 3128);
  CHECK_FALSE(proxy_for(parse_url("http://hub.example/x"), variable));
  CHECK_FALSE(proxy_for(parse_url("https://a.inside.example/x"), variable));
  CHECK_FALSE(proxy_for(parse_url("https://localhost/x"), variable));
  environment["https_proxy"] = "proxy.example:8080";
  CHECK(proxy_for(parse_url("https://hub.example/x"), variable)->port == 8080);
  environment["https_proxy"] = "http://me:a%20b@proxy.example:3128";
  const auto asking = proxy_for(parse_url("https://hub.example/x"), variable);
  REQUIRE(asking);
  CHECK(asking->host == "proxy.example");
  CHECK(asking->user == "me");
  CHECK(asking->password == "a b");
  environment["https_proxy"] = "socks5://proxy.example";
  CHECK_THROWS_WITH(proxy_for(parse_url("https://hub.example/x"), variable), has_text("the proxy of https_proxy: "));
  environment = {{"ALL_PROXY", "socks5://proxy.example"}};
  CHECK_FALSE(proxy_for(parse_url("https://hub.example/x"), variable));
}
