// The decoder by itself, on structs made up for the purpose; what it does for the real ones is in bindings_test.
#include "support/catch.hpp"
#include "support/refusal.hpp"

#include <rkllm_mcp/codec.hpp>

#include <memory>
#include <span>

using namespace rkllm_mcp;

namespace made_up {

enum Colour : unsigned { kRed = 0, kGreen = 1 };
constexpr EnumName<Colour> kColourNames[] = {{kRed, "RED"}, {kGreen, "GREEN"}};
constexpr std::span<const EnumName<Colour>> names_of(Colour) { return kColourNames; }

struct Point {
  std::int16_t x;
  std::uint8_t y;
};
constexpr Point default_of(TypeTag<Point>) { return {7, 9}; }

struct Files {
  const char* source = nullptr;
  const char* target = nullptr;
};
constexpr Files default_of(TypeTag<Files>) { return {}; }

struct Shape {
  Colour colour;
  const char* name;
  Point* centre;
  float* values;
  int count;
};

constexpr HandleValue kWidth{"width", "measure it"};

template <class Codec>
void members(Codec& codec, Of<Codec, Point>& value) {
  codec.integer("x", value.x);
  codec.integer("y", value.y, {.minimum = 1});
}
template <class Codec>
void members(Codec& codec, Of<Codec, Files>& value) {
  codec.text("source", value.source, {.presence = kNullable, .file = FileUse::kRead});
  codec.text("target", value.target, {.presence = kNullable, .file = FileUse::kWritten, .file_if_absent = "usual"});
}
template <class Codec>
void members(Codec& codec, Of<Codec, Shape>& value) {
  codec.enumeration("colour", value.colour);
  codec.text("name", value.name, {.presence = kRequired});
  codec.object("centre", value.centre, kNullable);
  codec.array("values", value.values, counted_by("count", value.count, kWidth), {.presence = kNullable});
}

}  // namespace made_up

namespace {

struct Reading {
  Json json;
  HandleRecord handle;
  CallContext call{json, &handle, nullptr, ArrayEncoding::kJson, {}};
  made_up::Shape shape{};

  explicit Reading(const char* text) : json(Json::parse(text)) { handle.id = "h-1"; }
  made_up::Shape& read() {
    Decoder params(call, "draw");
    params.structure("shape", shape, kRequired);
    params.finish();
    return shape;
  }
  std::string complaint() {
    try {
      read();
    } catch (const RpcError& error) {
      return error.what();
    }
    return "no complaint";
  }
};

}  // namespace

TEST_CASE("absent fields keep their defaults, nested structs start from theirs") {
  Reading reading(R"({"shape":{"name":"n","centre":{"x":-3}}})");
  const auto& shape = reading.read();
  CHECK(shape.colour == made_up::kRed);
  CHECK(std::string(shape.name) == "n");
  CHECK(shape.centre->x == -3);
  CHECK(shape.centre->y == 9);
  CHECK(shape.values == nullptr);
}

TEST_CASE("null stands for NULL where that is allowed") {
  Reading reading(R"({"shape":{"name":"n","centre":null,"values":null}})");
  CHECK(reading.read().centre == nullptr);
  CHECK(Reading(R"({"shape":{"name":null}})").complaint() ==
        "params.shape.name: expected string, found null (it is required)");
}

TEST_CASE("enumerators are read by name and by number") {
  CHECK(Reading(R"({"shape":{"name":"n","colour":"GREEN"}})").read().colour == made_up::kGreen);
  CHECK(Reading(R"({"shape":{"name":"n","colour":1}})").read().colour == made_up::kGreen);
  CHECK(Reading(R"({"shape":{"name":"n","colour":"GREN"}})").complaint() ==
        "params.shape.colour: expected one of RED, GREEN, found \"GREN\"; did you mean \"GREEN\"?");
  CHECK(Reading(R"({"shape":{"name":"n","colour":2}})").complaint() ==
        "params.shape.colour: expected the number or name of an enumerator, found 2");
}

TEST_CASE("an unknown field is refused with its path and the nearest name") {
  CHECK(Reading(R"({"shape":{"nam":"n"}})").complaint() == "params.shape.nam: unknown field; did you mean \"name\"?");
  CHECK(
      Reading(R"({"shape":{"name":"n","centre":{"z":1}}})").complaint().find("params.shape.centre.z: unknown field") ==
      0);
  CHECK(Reading(R"({"shape":{"name":"n"},"other":1})").complaint() == "params.other: unknown field");
}

TEST_CASE("a complaint about a field whose name has U+0000 is whole") {
  CHECK(Reading(R"({"a\u0000b":1})").complaint() == R"(params.a\u0000b: unknown field)");
}

TEST_CASE("a missing field is named with its path") {
  CHECK(Reading(R"({"shape":{}})").complaint() == "params.shape.name: expected string, found nothing (it is required)");
  CHECK(Reading("{}").complaint() == "params.shape: expected object, found nothing (it is required)");
  CHECK(Reading("[]").complaint() == "params: expected object, found array");
}

TEST_CASE("integers are held to the C type and to the rule") {
  CHECK(Reading(R"({"shape":{"name":"n","centre":{"x":32768}}})").complaint() ==
        "params.shape.centre.x: expected integer from -32768 to 32767, found 32768");
  CHECK(Reading(R"({"shape":{"name":"n","centre":{"y":0}}})").complaint() ==
        "params.shape.centre.y: expected integer from 1 to 255, found 0");
}

TEST_CASE("the count of an array is derived, and checked if it is given") {
  const auto reading = [](const char* text) {
    auto made = std::make_unique<Reading>(text);
    made->handle.values["width"] = 2;
    return made;
  };
  const auto derived = reading(R"({"shape":{"name":"n","values":[1,2,3,4]}})");
  CHECK(derived->read().count == 2);
  CHECK(derived->shape.values[3] == 4.0F);
  CHECK(reading(R"({"shape":{"name":"n","values":[1,2,3,4],"count":2}})")->complaint() == "no complaint");
  CHECK(reading(R"({"shape":{"name":"n","values":[1,2,3,4],"count":3}})")->complaint() ==
        "params.shape.values: expected 3 (count) * 2 (width) values, found 4");
  CHECK(reading(R"({"shape":{"name":"n","values":[1,2,3]}})")->complaint() ==
        "params.shape.values: expected count * 2 (width) values, found 3");
  CHECK(reading(R"({"shape":{"name":"n","values":[]}})")->complaint() ==
        "params.shape.values: expected array that is not empty");
}

TEST_CASE("a value that the handle has not learnt yet is asked for in words") {
  Reading reading(R"({"shape":{"name":"n","values":[1]}})");
  CHECK(reading.complaint() == "draw was not called: width is not known yet for handle h-1; measure it");
  const RpcError error = test::error_of([&] { reading.read(); });
  CHECK(error.code() == ErrorCode::kCallFailed);
  CHECK(error.data() == Json({{"function", "draw"}, {"status", nullptr}}));
}

TEST_CASE("the paths of files are what the policy makes of them, and its refusal says where") {
  struct Policy final : FilePolicy {
    std::string path_for(const std::string& given, FileUse use) const override {
      if (given == "secret") throw FileRefused("expected another file");
      return (use == FileUse::kRead ? "/read/" : "/written/") + given;
    }
  };
  const Policy policy;
  const auto read = [](const char* text, const FilePolicy* files) {
    const Json json = Json::parse(text);
    CallContext call{json, nullptr, nullptr, ArrayEncoding::kJson, {}, {}, files};
    Decoder params(call, "copy");
    made_up::Files out;
    params.structure("files", out, kRequired);
    params.finish();
    const auto text_of = [](const char* path) { return path == nullptr ? std::string("NULL") : std::string(path); };
    return text_of(out.source) + " " + text_of(out.target);
  };
  CHECK(read(R"({"files":{"source":"a","target":"b"}})", &policy) == "/read/a /written/b");
  CHECK(read(R"({"files":{"source":null,"target":null}})", &policy) == "NULL /written/usual");
  CHECK(read(R"({"files":{}})", &policy) == "NULL /written/usual");
  CHECK(read(R"({"files":{"source":"secret"}})", nullptr) == "secret NULL");
  CHECK_THROWS_WITH(read(R"({"files":{"source":"secret"}})", &policy), "params.files.source: expected another file");
}
