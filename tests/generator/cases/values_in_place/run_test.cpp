#include "expected.hpp"

#include "golden_caller.hpp"

#include <cmath>
#include <cstring>

namespace bindgen::test::values_in_place {

namespace {

rkllm_mcp::v1_values_in_place::Palette seen;

}  // namespace

TEST_CASE("arrays in place of texts, doubles, bools and enumerators go to the function and come back") {
  namespace made = rkllm_mcp::v1_values_in_place;
  GoldenCaller caller(made::kAbiSet, {{"paint", symbol(+[](const made::Palette* palette) {
                                         seen = *palette;
                                         return 0;
                                       })},
                                      {"mix", symbol(+[](made::Palette* palette) {
                                         *palette = seen;
                                         return 0;
                                       })},
                                      {"next_mark", symbol(+[](char mark) { return mark; })}});
  const Json palette{{"names", {"sky", "seventh"}},
                     {"weights", {0.1, 1e300, -2}},
                     {"used", {true, false}},
                     {"colours", {"kGreen", 0, 5}},
                     {"grid", {{"kRed", 5}, {0, "kGreen"}}}};
  REQUIRE(caller.call("paint", {{"palette", palette}}) == Json{{"status", 0}});
  CHECK(std::string(seen.names[1]) == "seventh");
  CHECK(seen.weights[1] == 1e300);
  CHECK((seen.used[0] && !seen.used[1]));
  CHECK(seen.n_colours == 3);
  CHECK(seen.colours[2] == made::kGreen);
  CHECK(seen.grid[1][0] == made::kRed);

  seen.colours[1] = static_cast<made::Colour>(7);
  seen.weights[2] = std::nan("");
  std::memset(seen.names[0], 'x', sizeof seen.names[0]);
  const Json mixed = caller.call("mix").at("palette");
  CHECK(mixed.at("names") == Json({"xxxxxxxx", "seventh"}));
  CHECK(mixed.at("weights") == Json({0.1, 1e300, nullptr}));
  CHECK(mixed.at("used") == Json({true, false}));
  CHECK(mixed.at("colours") == Json({"kGreen", 7, "kGreen"}));
  CHECK(mixed.at("grid") == Json::array({Json::array({"kRed", "kGreen"}), Json::array({"kRed", "kGreen"})}));
}

TEST_CASE("what does not fit into an array in place, or is of another type, is refused with its place") {
  namespace made = rkllm_mcp::v1_values_in_place;
  GoldenCaller caller(made::kAbiSet, {{"paint", symbol(+[](const made::Palette*) { return 0; })},
                                      {"mix", symbol(+[](made::Palette*) { return 0; })},
                                      {"next_mark", symbol(+[](char mark) { return mark; })}});
  const auto complaint = [&](const char* name, Json value) {
    Json palette{{"names", {"a", "b"}}, {"weights", {1, 2, 3}}, {"used", {true, false}}, {"colours", {"kRed"}}};
    palette[name] = std::move(value);
    return caller.complaint("paint", {{"palette", palette}});
  };
  CHECK(complaint("names", {"a", "b"}) == "accepted");
  CHECK_THAT(complaint("names", {"a", "12345678"}),
             has_text("params.palette.names[1]: expected string of at most 7 bytes, found 8"));
  CHECK_THAT(complaint("names", Json::array({"a"})), has_text("params.palette.names: expected 2 values, found 1"));
  CHECK_THAT(complaint("names", {"a", 1}), has_text("params.palette.names[1]: expected string, found 1"));
  CHECK_THAT(complaint("weights", {1, 2, "3"}), has_text("params.palette.weights[2]: expected number"));
  CHECK_THAT(complaint("used", {true, 1}), has_text("params.palette.used[1]: expected boolean"));
  CHECK_THAT(complaint("colours", Json::array({"kBlue"})),
             has_text("params.palette.colours[0]: expected one of kRed, kGreen"));
  CHECK_THAT(complaint("colours", {0, 0, 0, 0, 0}), has_text("expected at most 4 values, found 5"));
  CHECK_THAT(complaint("grid", {{0, 0}, {0, 3}}), has_text("params.palette.grid[1][1]: expected the number or name"));
}

TEST_CASE("a plain char is its byte, whatever its sign on this machine") {
  namespace made = rkllm_mcp::v1_values_in_place;
  GoldenCaller caller(made::kAbiSet, {{"paint", symbol(+[](const made::Palette* palette) {
                                         seen = *palette;
                                         return 0;
                                       })},
                                      {"mix", symbol(+[](made::Palette* palette) {
                                         palette->mark = '\xF0';
                                         palette->shared = 1;
                                         return 0;
                                       })},
                                      {"next_mark", symbol(+[](char mark) { return static_cast<char>(mark + 1); })}});
  CHECK(caller.call("next_mark", {{"mark", 127}}) == Json{{"value", 128}});
  CHECK(caller.call("next_mark", {{"mark", 254}}) == Json{{"value", 255}});
  CHECK_THAT(caller.complaint("next_mark", {{"mark", -1}}), has_text("params.mark: expected integer from 0 to 255"));
  CHECK_THAT(caller.complaint("next_mark", {{"mark", 256}}), has_text("params.mark: expected integer from 0 to 255"));
  const Json mixed = caller.call("mix").at("palette");
  CHECK(mixed.at("mark") == 0xF0);
  CHECK(mixed.at("shared") == 1);
  Json palette{{"names", {"a", "b"}}, {"weights", {1, 2, 3}}, {"used", {true, false}}, {"colours", {"kRed"}}};
  REQUIRE(caller.call("paint", {{"palette", palette}}) == Json{{"status", 0}});
  CHECK(seen.mark == '*');
  palette["mark"] = 200;
  palette["shared"] = true;
  REQUIRE(caller.call("paint", {{"palette", palette}}) == Json{{"status", 0}});
  CHECK(seen.mark == '\xC8');
  CHECK(seen.shared == 1);
  palette["mark"] = 31;
  CHECK_THAT(caller.complaint("paint", {{"palette", palette}}),
             has_text("params.palette.mark: expected integer from 32 to 255"));
}

TEST_CASE("an array in place of pointers at texts is read and told") {
  namespace made = rkllm_mcp::v1_values_in_place;
  static std::string titles;
  static int notes = -1;
  GoldenCaller caller(made::kAbiSet, {{"paint", symbol(+[](const made::Palette* palette) {
                                         titles.clear();
                                         for (const char* title : palette->titles) {
                                           titles += title != nullptr ? title : "-";
                                         }
                                         notes = palette->n_notes;
                                         return palette->notes[2] == nullptr ? 0 : 1;
                                       })},
                                      {"mix", symbol(+[](made::Palette* palette) {
                                         palette->titles[1] = "second";
                                         palette->notes[0] = "one";
                                         palette->n_notes = 9;
                                         return 0;
                                       })},
                                      {"next_mark", symbol(+[](char mark) { return mark; })}});
  Json palette{{"names", {"a", "b"}}, {"weights", {1, 2, 3}}, {"used", {true, false}}, {"colours", {"kRed"}}};
  CHECK(caller.call("paint", {{"palette", palette}}) == Json{{"status", 0}});
  CHECK(titles == "--");
  CHECK(notes == 0);
  palette["titles"] = {"sky", "Himmel"};
  palette["notes"] = {"x", "y"};
  CHECK(caller.call("paint", {{"palette", palette}}) == Json{{"status", 0}});
  CHECK(titles == "skyHimmel");
  CHECK(notes == 2);
  const Json mixed = caller.call("mix").at("palette");
  CHECK(mixed.at("titles") == Json({nullptr, "second"}));
  CHECK(mixed.at("notes") == Json({"one", nullptr, nullptr}));  // never more than there are
  // A place that is empty goes back as it came.
  palette["titles"] = mixed.at("titles");
  CHECK(caller.call("paint", {{"palette", palette}}) == Json{{"status", 0}});
  CHECK(titles == "-second");

  const auto complaint = [&](const char* name, Json value) {
    Json other = palette;
    other[name] = std::move(value);
    return caller.complaint("paint", {{"palette", other}});
  };
  CHECK_THAT(complaint("titles", Json::array({"one"})), has_text("params.palette.titles: expected 2 values, found 1"));
  CHECK_THAT(complaint("titles", {"one", 5}), has_text("params.palette.titles[1]: expected string"));
  CHECK_THAT(complaint("notes", {"one", nullptr}), has_text("params.palette.notes[1]: expected string"));
  CHECK_THAT(complaint("notes", {"1", "2", "3", "4"}),
             has_text("params.palette.notes: expected at most 3 values, found 4"));
}

}  // namespace bindgen::test::values_in_place
