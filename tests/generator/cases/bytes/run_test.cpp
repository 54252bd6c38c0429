#include "expected.hpp"

#include "golden_caller.hpp"

#include <string_view>

namespace rkllm_mcp::v1_bytes {

using namespace bindgen::test;

TEST_CASE("an array of char is bytes, in either form and in both directions") {
  static constexpr std::string_view kBytes("\x00\xff", 2);
  GoldenCaller caller(kAbiSet, {{"put", symbol(+[](const Blob* blob) {
                                   if (blob->data == nullptr) return blob->size == 0 ? 0 : 1;
                                   return std::string_view(blob->data, blob->size) == kBytes ? 0 : 2;
                                 })},
                                {"put_plain", symbol(+[](const char* data, unsigned int size) {
                                   return std::string_view(data, size) == kBytes ? 0 : 3;
                                 })},
                                {"get", symbol(+[] {
                                   return Blob{kBytes.data(), kBytes.size()};
                                 })}});
  const Json done{{"status", 0}};
  const Json packed{{"base64", "AP8="}, {"dtype", "uint8"}};
  CHECK(caller.call("put", {{"blob", {{"data", {0, 255}}}}}) == done);
  CHECK(caller.call("put", {{"blob", {{"data", packed}, {"size", 2}}}}) == done);
  CHECK(caller.call("put", {{"blob", {{"data", nullptr}}}}) == done);
  CHECK(caller.call("put_plain", {{"data", packed}}) == done);
  CHECK(caller.call("get") == Json{{"data", {0, 255}}, {"size", 2}});
  CHECK_THAT(caller.complaint("put_plain", {{"data", {0, 256}}}), has_text("params.data[1]"));
  CHECK_THAT(caller.complaint("put_plain", {{"data", packed}, {"size", 3}}), has_text("params.data"));
  CHECK_THAT(caller.complaint("put_plain", {{"data", {{"base64", "AP8="}, {"dtype", "float32"}}}}), has_text("uint8"));
}

}  // namespace rkllm_mcp::v1_bytes
