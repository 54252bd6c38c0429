// What a header still needs, as entries that can be pasted into the overlay.
#include "refusal.hpp"
#include "support/catch.hpp"
#include "temporary.hpp"

#include "meaning/understand.hpp"
#include "read/header.hpp"

using namespace bindgen;
using rkllm_mcp::test::has_text;

namespace {

constexpr const char* kText = R"(
typedef struct { float* values; int n_values; const char* name; int plain; } Series;
typedef struct thing* thing_t;
int add(thing_t thing, Series* series);
const char* name_of(thing_t thing);
)";

std::string suggestions(const std::string& header, const Overlay& overlay) {
  const auto folder = test::scratch("suggest");
  return suggest_entries(needs_of(read_header(test::file(folder, "x.h", header)), overlay).unanswered);
}

}  // namespace

TEST_CASE(
    "every declaration that nothing answers gets an entry, with confidence and reason, in the order of the header") {
  CHECK(
      suggestions(kText, {}) ==
      R"-({"for":"Series.values","quote":"float* values","guess":{"array":{"counted_by":"n_values"}},"confidence":"guess","reason":"not const: the function may write there, as many as it likes"},
{"for":"Series.name","quote":"const char* name","guess":{"array":{"counted_by":"n_values"}},"confidence":"guess","reason":"characters beside n_values: bytes with a length, or a text (\"text\") that ends with NUL"},
{"for":"add.thing","quote":"thing_t thing","guess":{"handle":{"role":"uses"}},"confidence":"guess","reason":"a pointer to something opaque; whether the function ends it is not said"},
{"for":"add.series","quote":"Series* series","guess":{"out":{}},"confidence":"guess","reason":"not const: filled in by the function (\"out\"), given to it (\"object\"), or both (an object that is \"changed\")"},
{"for":"name_of.thing","quote":"thing_t thing","guess":{"handle":{"role":"uses"}},"confidence":"guess","reason":"a pointer to something opaque; whether the function ends it is not said"},
{"for":"name_of.return","quote":"const char*","text":{},"confidence":"likely","reason":"const characters, and no integer beside them that could be their length"}
)-");
}

TEST_CASE("what could be read or written out of bounds is only ever a guess") {
  const char* const kUnsafe = R"(
typedef unsigned uint32_t;
typedef struct { int x; } Point;
struct opaque;
int draw(const Point* points, int n);
int draw_before(unsigned count, const Point* points);
int fill(Point* point);
int get(int* value);
int sum(const int* values, int n_values, int rows);
int all(const char** names);
int names_of(const char** names, int n);
int take(void* data);
int store(const char* bytes, unsigned length);
int format(char* out);
int done(struct opaque* it);
int delete_it(struct opaque* it);
struct opaque* made(void);
char* text_of(int n);
const char* bytes_of(int n, int* length);
Point* point_of(int n);
int call(int (*back)(int));
typedef struct { char name[64]; double d; } Named;
int many(Point** points);
int four(const Point fixed[4]);
int several(const Point* items);
int encrypt(const char secret[16]);
int put(const char* blob);
int unnamed(const char* text, int);
struct Wide { const char* note; struct { uint32_t length; } meta; };
struct Deep { struct { const char* note; } in; uint32_t length; };
struct Flat { struct { const char* note; }; uint32_t length; };
int picture(const char* note, float width, float height);
typedef struct { int n; } Size;
typedef struct { Size size; } Sized;
int sized(const char* note, Size size);
int sized_points(const Point* point, const Sized* size);
int print(const char* payload);
struct Dimensions { const char* note; uint32_t sizes[2]; };
typedef struct { uint32_t* size; } Pointing;
int pointed(const char* note, Pointing* at);
int deep(const char* note, uint32_t** size);
int range(const char* begin, const char* end);
int range_of(const char* text, const char* text_end);
typedef struct { const char* name; const char* name_end; } Slice;
typedef struct { bool is_on; } Item;
int all_items(const Item* first, const Item* last);
int cipher(const char* key, const char* iv);
typedef struct { bool is_on; char padding[4]; bool reserved[3]; } Padded;
typedef struct { bool is_on; bool more[]; } Open;
int opened(const Open* open);
typedef struct { bool is_on; struct { bool is_off; Item more[1]; } tail; } OldOpen;
int old_opened(const OldOpen* open);
int lines(const Item line[]);
typedef union { bool is_on; double level; } Either;
int either(const Either* which);
)";
  const auto folder = test::scratch("suggest_unsafe");
  const Needs needs = needs_of(read_header(test::file(folder, "x.h", kUnsafe)), {});
  CHECK(needs.unanswered.size() >= 20);
  for (const Declared& declared : needs.unanswered) {
    const std::string entry = suggest_entry(declared);
    INFO(entry);
    CHECK(entry.find(R"("guess":{)") != std::string::npos);
    CHECK(entry.find(R"("confidence":"guess","reason":")") != std::string::npos);
  }
}

TEST_CASE("of a parameter that is declared as so many elements, the whole array is proposed, as a guess") {
  const auto folder = test::scratch("suggest_whole");
  const std::string header =
      "typedef struct { int x; } P;\n"
      "int f(const float m[16], const char key[4], const P all[2], const int r[2][3], const char names[3][8], int "
      "n);\n";
  const Needs needs = needs_of(read_header(test::file(folder, "x.h", header)), {});
  REQUIRE(needs.unanswered.size() == 5);
  for (const Declared& declared : needs.unanswered) {
    CHECK_THAT(suggest_entry(declared), has_text(R"("guess":{"array":{"whole":true}})") && has_text("declared as "));
  }
}

TEST_CASE("a proposal that is no guess has nothing beside it that could be a length, or only such as is bound") {
  const auto entries = [](const std::string& header, const std::string& answered) {
    const auto folder = test::scratch("suggest_likely");
    const Overlay overlay = read_overlay(test::file(folder, "o.json", test::overlay(answered)));
    return suggest_entries(needs_of(read_header(test::file(folder, "x.h", header)), overlay).unanswered);
  };
  const std::string point = "typedef struct { int x; } P;\n";
  CHECK(entries(point + "int f(const P* p);", "").find(R"("object":{},"confidence":"likely")") != std::string::npos);
  CHECK(entries("int f(const char* path, bool fast);", "").find(R"("text":{},"confidence":"likely")") !=
        std::string::npos);
  CHECK(entries("int set(const char* name, const char* value);", "").find("guess") == std::string::npos);
  // An enumerator or a character may say how much is read, and a struct that is written into how much is returned.
  for (const char* use :
       {"typedef enum { k128 = 16, k256 = 32 } L;\nint f(const char* words, L n);", "int f(const char* words, char n);",
        "int f(const char* format);", "typedef struct { unsigned long len; } I;\nconst char* f(I* info);"}) {
    INFO(use);
    CHECK(entries(use, "").find("likely") == std::string::npos);
  }
  // A number beside the struct that a text is in counts as well, wherever the struct is used.
  for (const char* use : {"int f(const S* s, int n);", "typedef struct { S s; int n; } A;\nint f(const A* a);",
                          "typedef struct { const S* s; } A;\nint f(const A* a, float x);"}) {
    CHECK(entries(std::string("typedef struct { const char* p; } S;\n") + use, "")
              .find(R"("for":"S.p","quote":"const char* p","guess")") != std::string::npos);
  }
  CHECK(entries("typedef struct { const char* p; } S;\nint f(const S* s);", "").find("guess") == std::string::npos);
  const std::string both = point + "int f(const P* p, const int* values, int n);";
  CHECK(entries(both, "").find("likely") == std::string::npos);
  CHECK(entries(both, R"({"for":"f.values","quote":"const int* values","array":{"counted_by":"n"}})")
            .find(R"("object":{},"confidence":"likely")") != std::string::npos);
}

TEST_CASE("a union ends openly whichever of its members does, not only where the last one does") {
  const auto proposed = [](const std::string& members) {
    return suggestions("typedef struct { char c; char more[1]; } Open;\ntypedef union { " + members +
                           " } U;\ntypedef struct { char c; U u; } Around;\nint f(const Around* a);",
                       {});
  };
  const std::string open = "a struct that ends in an array of which nothing says how long it is";
  CHECK(proposed("Open open; char plain;").find(open) != std::string::npos);
  CHECK(proposed("char plain; Open open;").find(open) != std::string::npos);
  CHECK(proposed("char plain; char other;").find(open) == std::string::npos);
}

TEST_CASE("a name says what its words say, and not what is only a part of one") {
  const auto says = [](const std::string& function) {
    const std::string text = suggestions("struct thing;\nint " + function + "(struct thing* it);", {});
    return text.find(R"("role":"destroys")") != std::string::npos ? "destroys" : "uses";
  };
  for (const char* ends : {"free_it", "it_free", "itFree", "ITFree", "end", "free2", "endIt", "XMLClose"}) {
    INFO(ends);
    CHECK(says(ends) == std::string("destroys"));
  }
  for (const char* other : {"send", "freeze", "append", "endless", "disclose", "sendAll", "preexit", "render_it"}) {
    INFO(other);
    CHECK(says(other) == std::string("uses"));
  }
  CHECK(suggestions("int f(void* factory, void (*back)(void*));", {}).find("userdata") == std::string::npos);
}

TEST_CASE("a guess is refused where it stands, until it has been edited") {
  const std::string header = "int f(int* value);";
  const std::string guess = suggestions(header, {});
  const std::string text = test::refusal(header, test::overlay("\n" + guess));
  CHECK(text.find("x.overlay.json:2:2: error: the entry for f.value is a guess: not const: the function may leave "
                  "a value there") == 0);
  CHECK(text.find("nothing says what") == std::string::npos);
  CHECK(test::refusal(header, test::overlay(R"({"for":"f.value","quote":"int* value","unused":{},)"
                                            R"("confidence":"guess"})"))
            .find("is a guess") != std::string::npos);
  CHECK(test::refusal(header, test::overlay(R"({"for":"f.value","quote":"int* value","unused":{},)"
                                            R"("confidence":"likely","reason":"I looked"})")) == "accepted");
  const auto folder = test::scratch("suggest_guess");
  const Overlay overlay = read_overlay(test::file(folder, "o.json", test::overlay(guess)));
  const Needs needs = needs_of(read_header(test::file(folder, "x.h", header)), overlay);
  CHECK(needs.unanswered.empty());  // it is there, but it is in the way
  CHECK(needs.in_the_way.size() == 1);
}

TEST_CASE("what the overlay answers is not asked again") {
  const auto folder = test::scratch("suggest_overlay");
  const Overlay overlay = read_overlay(
      test::file(folder, "o.json", test::overlay(R"({"for":"Series.name","quote":"const char* name","text":{}},
                       {"for":"Series.values","quote":"float* values","array":{"counted_by":"n_values"}})")));
  const std::string text = suggestions(kText, overlay);
  CHECK(text.find("Series.") == std::string::npos);
  CHECK(text.find("add.series") != std::string::npos);
}

TEST_CASE("the entries that are suggested are JSON that the overlay's schema accepts") {
  const auto folder = test::scratch("suggest_accepted");
  std::string entries = suggestions(kText, {});
  CHECK_NOTHROW(read_overlay(test::file(folder, "o.json", test::overlay(entries))));
}

TEST_CASE("the overlay of the newest version leaves nothing of it open") {
  const Needs needs = needs_of(read_header(test::kHeader), at_version(read_overlay(test::kOverlay), ""));
  CHECK(needs.unanswered.empty());
  CHECK(needs.in_the_way.empty());
}

TEST_CASE("C that has no wire form is told with its line, whatever the overlay says") {
  const auto folder = test::scratch("suggest_impossible");
  const Needs needs =
      needs_of(read_header(test::file(folder, "x.h", "int scan(int n, ...);\n\n\nint print(int n, ...);\n")), {});
  REQUIRE(needs.in_the_way.size() == 2);
  CHECK(needs.in_the_way[0].at.line == 1);
  CHECK(needs.in_the_way[0].message == "scan takes variable arguments, which have no wire form");
  CHECK(needs.in_the_way[1].at.line == 4);
  CHECK(needs.in_the_way[1].message == "print takes variable arguments, which have no wire form");
}

TEST_CASE("plain characters and texts in place are asked about with what they could be") {
  const std::string asked = suggestions(
      "typedef struct { char mode; char bits : 3; const char* names[4]; char* left[2]; int* numbers[2];\n"
      "  const char* grid[2][2]; char texts[2][3][8]; } S;\n"
      "char f(S s);\n",
      {});
  CHECK_THAT(
      asked,
      has_text(R"({"for":"S.mode","quote":"char mode","guess":{"value":{}},"confidence":"guess","reason":)"
               R"("plain char, signed on some machines and not on others: a \"value\" is its byte, from 0 to 255"})") &&
          has_text(R"("for":"S.bits","quote":"char bits : 3","guess":{"unused":{}})") &&
          has_text(R"("for":"S.names","quote":"const char* names[4]","guess":{"array":{"whole":true}})") &&
          has_text(R"("for":"S.left","quote":"char* left[2]","guess":{"unused":{}})") &&
          has_text(R"("for":"S.grid","quote":"const char* grid[2][2]","guess":{"unused":{}})") &&
          has_text(R"("for":"S.texts","quote":"char texts[2][3][8]","guess":{"array":{"whole":true}})") &&
          has_text(R"("for":"S.numbers","quote":"int* numbers[2]","guess":{"unused":{}})") &&
          has_text(R"("for":"f.return","quote":"char","guess":{"value":{}})"));
}

TEST_CASE("what is made of a struct without a name is asked to be given one") {
  const std::string asked =
      suggestions("typedef struct { struct { int a; } rows[2]; struct { int b; }* p; } S;\nint f(const S* s);\n", {});
  CHECK_THAT(asked, has_text(R"("for":"S.rows")") && has_text(R"("for":"S.p")") && !has_text("\"handle\"") &&
                        !has_text("\"whole\"") && has_text("made of a struct without a name"));
}

TEST_CASE("no handle is proposed for a field, which can be none") {
  const std::string asked =
      suggestions("struct o;\ntypedef struct { struct o* it; struct o** all; void** any; } S;\nint f(S s);\n", {});
  CHECK_THAT(asked, has_text(R"("for":"S.it","quote":"o* it","guess":{"unused":{}})") &&
                        has_text(R"("for":"S.all","quote":"o** all","guess":{"unused":{}})") &&
                        has_text(R"("for":"S.any","quote":"void** any","guess":{"unused":{}})"));
}
